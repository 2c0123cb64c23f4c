"""Passkeys: logging in with a key that a device keeps, instead of a password."""
