"""Encryption of stored secrets that must be readable again (feed passwords) by the instance's key.

Encrypt-then-MAC from the standard library: SHAKE-256 over a key and a fresh nonce makes the key
stream that is XORed with the text, HMAC-SHA256 authenticates nonce and ciphertext. A stolen
database or backup reveals nothing without the key (`secret_key`, which is not in backups).

The library for this would be `cryptography`, which is larger than all that a blog needs otherwise;
for some short texts that never leave the machine these two primitives suffice.
"""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Callable
from functools import cached_property

PREFIX = "sealed:1:"
_NONCE, _TAG, _BLOCK = 16, 32, 32  # bytes; texts are padded to whole blocks


def is_sealed(text: str) -> bool:
    """Whether this is a sealed text and not the secret itself."""
    return text.startswith(PREFIX)


class Seal:
    """Encrypts and decrypts with one key, which is loaded when it is first needed."""

    def __init__(self, key: Callable[[], str]) -> None:
        self._key = key

    @cached_property
    def _keys(self) -> tuple[bytes, bytes]:
        root = self._key().encode()
        made = [hmac.digest(root, f"publisher seal: {use}".encode(), "sha256") for use in "em"]
        return made[0], made[1]

    def close(self, secret: str) -> str:
        """Encrypt `secret`; a text that is sealed already is returned unchanged."""
        if not secret or is_sealed(secret):
            return secret
        nonce, plain = secrets.token_bytes(_NONCE), secret.encode() + b"\x01"
        plain += bytes(-len(plain) % _BLOCK)
        body = nonce + self._xored(nonce, plain)
        sealed = body + hmac.digest(self._keys[1], body, "sha256")
        return PREFIX + base64.urlsafe_b64encode(sealed).decode()

    def open(self, text: str) -> str:
        """Decrypt a sealed text; returned unchanged if it was sealed with another key.

        A text that was never sealed is the secret itself.
        """
        if not is_sealed(text):
            return text
        try:
            sealed = base64.urlsafe_b64decode(text.removeprefix(PREFIX))
        except ValueError:
            return text
        body, tag = sealed[:-_TAG], sealed[-_TAG:]
        if not hmac.compare_digest(tag, hmac.digest(self._keys[1], body, "sha256")):
            return text
        plain = self._xored(body[:_NONCE], body[_NONCE:])
        return plain.rstrip(b"\0").removesuffix(b"\x01").decode()

    def _xored(self, nonce: bytes, text: bytes) -> bytes:
        stream = hashlib.shake_256(self._keys[0] + nonce).digest(len(text))
        return bytes(a ^ b for a, b in zip(text, stream, strict=True))
