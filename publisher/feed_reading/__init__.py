"""A library that reads strangers' feeds, and pages that announce them, as plain values.

It knows `base` alone: no database, no blog, no river.
"""

RULES = 1
"""The number of the rules of reading: raised when they read the same bytes otherwise, so that
what was stored by the former rules is read anew."""
