"""The documents that readers poll: rendered from plain values, kept as snapshots, served as bytes.

Same values, same bytes: nothing here reads a clock, the database's posts or the web framework.
"""
