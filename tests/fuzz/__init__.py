"""Fuzzing: bytes that strangers could send, given to everything that reads such bytes.

`make fuzz FUZZ_SECONDS=60` (also `FUZZ_ONLY=markdown`, `FUZZ_SEED=7`) runs as long as asked; the
suite runs a bounded number with a fixed seed.
"""
