"""The hash under which random tokens (logins, API tokens, one-time links) are stored."""

import hashlib


def hash_token(secret: str) -> str:
    """The SHA-256 of a random token, in hex: enough to check it, useless to a thief."""
    return hashlib.sha256(secret.encode()).hexdigest()
