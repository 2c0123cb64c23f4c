"""Replays real and made-up update histories through the live rules and counts what readers got.

The rule of this folder: no rule of its own. The ttl decision and the poll policies are those of
`core`, as the same function objects, compiled when numba is there. Imports `core` and numeric
libraries only (and the leaves `errors` and `dates`); who calls it hands in the blog's own log.
"""
