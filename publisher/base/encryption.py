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

from publisher.base.errors import InvalidInput

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

PREFIX = "encrypted:"
_BEFORE_1_0 = "sealed:1:"
MISSING = (
    "a feed's password is stored encrypted, which needs a package that is not installed: "
    "python -m pip install cryptography, where Publisher is installed"
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
    return text.startswith((PREFIX, _BEFORE_1_0))


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
        if text.startswith(_BEFORE_1_0):
            return _decrypt_before_1_0(text, self._key().encode())
        if not text.startswith(PREFIX) or not installed():
            return text
        from cryptography.fernet import InvalidToken

        try:
            return self._fernet.decrypt(text.removeprefix(PREFIX)).decode()
        except InvalidToken:
            return text


def _decrypt_before_1_0(text: str, root: bytes) -> str:
    """The secret in what versions before 1.0 stored: nonce, text XOR SHAKE-256, HMAC-SHA256.

    Read only: `serve` encrypts it anew (`river.following.subscriptions`).
    """
    key, tag_key = (hmac.digest(root, f"publisher seal: {use}".encode(), "sha256") for use in "em")
    try:
        stored = base64.urlsafe_b64decode(text.removeprefix(_BEFORE_1_0))
    except ValueError:
        return text
    nonce, body, tag = stored[:16], stored[16:-32], stored[-32:]
    if not hmac.compare_digest(tag, hmac.digest(tag_key, nonce + body, "sha256")):
        return text
    stream = hashlib.shake_256(key + nonce).digest(len(body))
    plain = bytes(a ^ b for a, b in zip(body, stream, strict=True))
    return plain.rstrip(b"\0").removesuffix(b"\x01").decode()
