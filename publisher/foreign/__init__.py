"""Feeds that are written elsewhere: what they should say, a stamp for files, a mirror for sites.

The rule of this room: the decision is `dynamic_ttl`'s, the reading and the manners are the river's.
A feed of another site is changed in its head only, byte for byte, or not at all.
"""
