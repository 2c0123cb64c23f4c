"""Logging in, one's own account, and the accounts of other authors."""
