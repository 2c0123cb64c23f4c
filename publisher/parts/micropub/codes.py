"""Authorization codes: an author's consent to a program, until the program fetches its token.

As OAuth 2.0 and IndieAuth require, a code works once, for ten minutes, for one program and redirect
address, and only with the secret (PKCE) whose hash the program sent at the beginning.
"""

import base64
import hashlib
import hmac
import re
import secrets
from datetime import datetime, timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from publisher.base.encryption import hash_token
from publisher.base.errors import InvalidInput
from publisher.parts.micropub.tables import AuthorizationCode
from publisher.storage.tables.credentials import Author

CODE_LIFE = timedelta(minutes=10)
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")


def requested(client_id: str, redirect_uri: str, scope: str, challenge: str) -> AuthorizationCode:
    """What a program asks for, before somebody agrees; InvalidInput unless the challenge, made from
    its secret, is a SHA-256 in base64url."""
    if not _CHALLENGE.fullmatch(challenge):
        raise InvalidInput("code_challenge: a SHA-256 in base64url is needed (PKCE, S256)")
    return AuthorizationCode(
        client_id=client_id, redirect_uri=redirect_uri, scope=scope, challenge=challenge
    )


def grant(session: Session, author_id: int, wanted: AuthorizationCode, now: datetime) -> str:
    """A new code for the author's consent to `wanted`; only its hash is stored."""
    session.execute(delete(AuthorizationCode).where(AuthorizationCode.expires_at <= now))
    code = secrets.token_urlsafe(32)
    wanted.code_hash, wanted.author_id = hash_token(code), author_id
    wanted.expires_at = now + CODE_LIFE
    session.add(wanted)
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
    encoded = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    return hmac.compare_digest(encoded, challenge)


def remove_all(session: Session, author: Author) -> None:
    """Delete an author's codes: each is as good as a token."""
    session.execute(delete(AuthorizationCode).where(AuthorizationCode.author_id == author.id))
