"""What every room stands on: clock, dates, errors, environment, logs, requests, plain text.

Nothing here knows what a blog or a feed is, and nothing here imports another room.
"""
