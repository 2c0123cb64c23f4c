"""The blog: posts and all that an author does with them, people, media, tags, search.

Use-cases take a session and `now`, return values, and know nothing of HTTP. A change that readers
see is recorded in the update log in the same transaction (`update_log.py`).
"""
