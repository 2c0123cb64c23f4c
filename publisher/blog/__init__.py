"""The blog: posts and all that an author does with them, people, media, tags, search.

Use-cases take a session and `now`, return values, and know nothing of HTTP. Whatever changes what
readers see records the update in the same transaction (`activity.py`).
"""
