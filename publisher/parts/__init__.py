"""Parts: what the blog can do without, a folder each; see `publisher/part.py`."""
