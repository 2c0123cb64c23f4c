"""API tokens: let a program act for an author, within a scope; only the token's hash is kept.

Using a token writes nothing, so a query by an API stays a read.
"""

import secrets
from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from publisher.base.errors import InvalidInput, NotFound
from publisher.base.hashing import hash_token
from publisher.blog import permissions
from publisher.storage.tables.blog import ApiToken, Author

SCOPES = ("create", "update", "delete", "media")


def create(session: Session, author: Author, scopes: Iterable[str], now: datetime) -> str:
    """A new token for `author`: shown this once, kept as a hash.

    Raises InvalidInput for a scope that does not exist, and for none at all.
    """
    scope = " ".join(checked_scopes(scopes))
    token = secrets.token_urlsafe(32)
    session.add(
        ApiToken(token_hash=hash_token(token), author_id=author.id, scope=scope, created_at=now)
    )
    session.flush()
    return token


def verify(session: Session, token: str) -> ApiToken | None:
    """The row of a token that may be used now, with its author; None for any other text."""
    row = session.scalar(select(ApiToken).where(ApiToken.token_hash == hash_token(token)))
    if row is None or row.author.disabled_at is not None:
        return None
    return row


def allows(token: ApiToken, scope: str) -> bool:
    """Whether a token was made for `scope`."""
    return scope in token.scope.split()


def listed(session: Session, author: Author | None = None) -> Sequence[ApiToken]:
    """The tokens of one author, or of all, oldest first."""
    query = select(ApiToken).order_by(ApiToken.id)
    if author is not None:
        query = query.where(ApiToken.author_id == author.id)
    return session.scalars(query).all()


def revoke(session: Session, token_id: int, author: Author | None = None) -> None:
    """End a token at once; where `author` is given, only one of theirs.

    Raises NotFound when there is no such token.
    """
    row = session.get(ApiToken, token_id)
    if row is None or (author is not None and not permissions.owns(author, row.author_id)):
        raise NotFound(f"there is no token {token_id}")
    session.execute(delete(ApiToken).where(ApiToken.id == token_id))


def revoke_all(session: Session, author: Author) -> int:
    """End every token of an author at once; returns how many."""
    mine = session.scalars(select(ApiToken.id).where(ApiToken.author_id == author.id)).all()
    session.execute(delete(ApiToken).where(ApiToken.id.in_(mine)))
    return len(mine)


def checked_scopes(scopes: Iterable[str]) -> list[str]:
    """`scopes`, once each and in the order of SCOPES; InvalidInput names an unknown one."""
    wanted = set(scopes)
    if unknown := sorted(wanted - set(SCOPES)):
        raise InvalidInput(f"no scope is called {unknown[0][:40]!r} (known: {', '.join(SCOPES)})")
    if not wanted:
        raise InvalidInput(f"a token needs a scope (one or more of {', '.join(SCOPES)})")
    return [scope for scope in SCOPES if scope in wanted]
