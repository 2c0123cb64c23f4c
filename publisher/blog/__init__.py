"""What an author can do: write, publish, revise, delete, schedule, import, export.

Use-cases take a session and `now`, return values, and know nothing of HTTP. Whatever changes what
readers see records the update in the same transaction (`activity.py`).
"""
