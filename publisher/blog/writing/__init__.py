"""Writing: a post's content, how it is saved, scheduled, published and revised."""
