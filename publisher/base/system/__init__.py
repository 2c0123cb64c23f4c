"""The machine below: processes that are confined or watched, files that appear whole, logs."""
