"""Stored secrets: tokens by their hash; what must be readable again (feed passwords) encrypted.

By the instance's key, with Fernet of the package `cryptography` (AES-128-CBC and HMAC-SHA256),
which comes with the extra `river`. A stolen database or backup reveals nothing without the key
(`secret_key`, which is not in backups).
"""

import base64
import hashlib
import hmac
from collections.abc import Callable
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING

from publisher.base.errors import InvalidInput, to_install

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

PREFIX = "encrypted:"
MISSING = (
    "a feed's password is stored encrypted, which needs a package that is not installed: "
    + to_install("cryptography")
)


def installed() -> bool:
    """Whether the package is installed."""
    return find_spec("cryptography") is not None


def check_installed() -> None:
    """Raise InvalidInput, which says what to do, where the package is not installed."""
    if not installed():
        raise InvalidInput(MISSING)


def is_encrypted(text: str) -> bool:
    """Whether this is an encrypted text and not the secret itself."""
    return text.startswith(PREFIX)


def hash_token(secret: str) -> str:
    """The SHA-256 of a random token (a login, an API token, a one-time link), in hex: enough to
    check it, useless to a thief."""
    return hashlib.sha256(secret.encode()).hexdigest()


class Cipher:
    """Encrypts and decrypts with one key, which is loaded when it is first needed."""

    def __init__(self, key: Callable[[], str]) -> None:
        self._key = key

    @cached_property
    def _fernet(self) -> "Fernet":
        from cryptography.fernet import Fernet

        key = hmac.digest(self._key().encode(), b"publisher stored secrets", "sha256")
        return Fernet(base64.urlsafe_b64encode(key))

    def encrypt(self, secret: str) -> str:
        """Encrypt `secret`; "" and what is encrypted already are returned unchanged."""
        if not secret or is_encrypted(secret):
            return secret
        return PREFIX + self._fernet.encrypt(secret.encode()).decode()

    def decrypt(self, text: str) -> str:
        """The secret; `text` itself if it is not encrypted, or cannot be decrypted here.

        That is so after another key, and without the package.
        """
        if not text.startswith(PREFIX) or not installed():
            return text
        from cryptography.fernet import InvalidToken

        try:
            return self._fernet.decrypt(text.removeprefix(PREFIX)).decode()
        except InvalidToken:
            return text
