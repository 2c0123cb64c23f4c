"""Feeds that other programs write: advice for their owners, a stamp for files, their history.

`dynamic_ttl` decides their ttl. A file is changed in its head only, with all other bytes kept, or
not at all. Knows no blog and no database.
"""
