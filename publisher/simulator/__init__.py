"""Replays real and synthetic update histories through the live rules and measures polls and delays.

It has no rules of its own: the ttl decision and the poll policies are the function objects of
`core`, compiled if numba is installed. It imports `core`, numeric libraries and a few modules of
`base` only; the caller passes in the blog's own log.
"""
