"""The rules, pure: no I/O, no clock, no database, no web framework, no randomness of their own.

Everything here takes what it needs as arguments, `now` included. The live program and the
simulator call the very same function objects.
"""
