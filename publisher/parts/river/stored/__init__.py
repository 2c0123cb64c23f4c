"""The rows of feeds, hosts and items, and which item of a document is which row."""
