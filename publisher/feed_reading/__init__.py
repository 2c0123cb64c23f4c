"""A library that reads strangers' feeds, and pages that announce them, as plain values.

It knows `base` alone: no database, no blog, no river.
"""
