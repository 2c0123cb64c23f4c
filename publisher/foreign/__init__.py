"""Feeds that other programs write: advice for their owners, a stamp for files, a mirror for sites.

`dynamic_ttl` decides their ttl; the river's modules fetch and parse them. A feed of another site is
changed in its head only, with all other bytes kept, or not at all.
"""
