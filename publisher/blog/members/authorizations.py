"""Authorization codes: an author's consent to a program, until the program fetches its token.

As OAuth 2.0 and IndieAuth require, a code works once, for ten minutes, for one program and redirect
address, and only with the secret (PKCE) whose hash the program sent at the beginning.
"""

import base64
import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from publisher.base.encryption import hash_token
from publisher.base.errors import InvalidInput
from publisher.storage.tables.credentials import AuthorizationCode

CODE_LIFE = timedelta(minutes=10)
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")


@dataclass(frozen=True, slots=True)
class Request:
    """A program's request for consent: `challenge` is the SHA-256 of its secret, base64url."""

    client_id: str
    redirect_uri: str
    scope: str
    challenge: str

    def __post_init__(self) -> None:
        """InvalidInput unless the challenge is a SHA-256 in base64url."""
        if not _CHALLENGE.fullmatch(self.challenge):
            raise InvalidInput("code_challenge: a SHA-256 in base64url is needed (PKCE, S256)")


def grant(session: Session, author_id: int, wanted: Request, now: datetime) -> str:
    """A new code for the author's consent to `wanted`; only its hash is stored."""
    session.execute(delete(AuthorizationCode).where(AuthorizationCode.expires_at <= now))
    code = secrets.token_urlsafe(32)
    session.add(
        AuthorizationCode(
            code_hash=hash_token(code),
            author_id=author_id,
            client_id=wanted.client_id,
            redirect_uri=wanted.redirect_uri,
            scope=wanted.scope,
            challenge=wanted.challenge,
            expires_at=now + CODE_LIFE,
        )
    )
    return code


def redeem(
    session: Session, code: str, client_id: str, redirect_uri: str, verifier: str, now: datetime
) -> AuthorizationCode | None:
    """The consent of a code; None if anything does not match. The code is used up either way."""
    row = session.scalar(
        select(AuthorizationCode).where(AuthorizationCode.code_hash == hash_token(code))
    )
    if row is None:
        return None
    session.delete(row)
    session.flush()
    same = (row.client_id, row.redirect_uri) == (client_id, redirect_uri)
    usable = row.expires_at > now and row.author.disabled_at is None
    return row if same and usable and _fits(verifier, row.challenge) else None


def _fits(verifier: str, challenge: str) -> bool:
    if not _VERIFIER.fullmatch(verifier):
        return False
    digest = hashlib.sha256(verifier.encode()).digest()
    found = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    return hmac.compare_digest(found, challenge)
