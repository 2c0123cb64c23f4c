"""A seal for secrets that have to be read again: passwords of feeds, under the instance's key.

Encrypt-then-MAC from the standard library: SHAKE-256, keyed and with a fresh nonce, makes the
stream that the text is mixed with, HMAC-SHA256 guards nonce and text. A database or a backup by
itself then tells nothing; with the key beside it (`secret_key`, not in backups) it does.

The library for this would be `cryptography`, which is larger than all that a blog needs otherwise;
for some short texts that never leave the machine these two primitives do.
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
    """Seals and opens under one key, which is asked for when it is first needed."""

    def __init__(self, key: Callable[[], str]) -> None:
        self._key = key

    @cached_property
    def _keys(self) -> tuple[bytes, bytes]:
        root = self._key().encode()
        made = [hmac.digest(root, f"publisher seal: {use}".encode(), "sha256") for use in "em"]
        return made[0], made[1]

    def close(self, secret: str) -> str:
        """`secret`, readable only with the key; what is sealed already stays as it is."""
        if not secret or is_sealed(secret):
            return secret
        nonce, plain = secrets.token_bytes(_NONCE), secret.encode() + b"\x01"
        plain += bytes(-len(plain) % _BLOCK)
        body = nonce + self._mixed(nonce, plain)
        sealed = body + hmac.digest(self._keys[1], body, "sha256")
        return PREFIX + base64.urlsafe_b64encode(sealed).decode()

    def open(self, text: str) -> str:
        """The secret in a sealed text; the text as it is when the key is another one.

        What was never sealed is the secret itself.
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
        plain = self._mixed(body[:_NONCE], body[_NONCE:])
        return plain.rstrip(b"\0").removesuffix(b"\x01").decode()

    def _mixed(self, nonce: bytes, text: bytes) -> bytes:
        stream = hashlib.shake_256(self._keys[0] + nonce).digest(len(text))
        return bytes(a ^ b for a, b in zip(text, stream, strict=True))
