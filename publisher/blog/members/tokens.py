"""API tokens: let a program act for an author, within a scope; only the token's hash is kept.

A label names the program, and an end date is optional. `used_at`, the last use, shows whether a
token is still needed; it is written at most once an hour.
"""

import secrets
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from publisher.base.encryption import hash_token
from publisher.base.errors import FieldErrors, InvalidInput, NotFound
from publisher.base.text import clean
from publisher.blog.members import permissions
from publisher.blog.members.authors import MADE_LAST
from publisher.installation import recall, remember
from publisher.part import all_parts, every_hooked
from publisher.storage.tables.credentials import ApiToken, Author

# What a token may be for, and in words.
SCOPES = {
    "create": "publish posts",
    "update": "change your posts",
    "delete": "delete your posts and bring them back",
    "media": "upload pictures and sound",
    **{scope: words for part in all_parts().values() for scope, words in part.scopes.items()},
}
MAX_LABEL = 80
USE_NOTED_EVERY = timedelta(hours=1)


def create(
    session: Session,
    author: Author,
    scopes: Iterable[str],
    now: datetime,
    label: str = "",
    until: datetime | None = None,
) -> str:
    """A new token for `author`, valid until `until`; only its hash is kept.

    Raises InvalidInput for an unknown scope, no scope, and an `until` that is past; FieldErrors for
    a label that is too long.
    """
    scope = " ".join(checked_scopes(scopes))
    line = " ".join(clean(label).split())
    if len(line) > MAX_LABEL:
        raise FieldErrors({"label": f"{len(line):,} characters; at most {MAX_LABEL} fit"})
    if until is not None and until <= now:
        raise InvalidInput("a token must expire in the future")
    token = secrets.token_urlsafe(32)
    session.add(
        ApiToken(
            token_hash=hash_token(token),
            author_id=author.id,
            scope=scope,
            label=line,
            created_at=now,
            expires_at=until,
        )
    )
    session.flush()
    return token


def drop_twin(session: Session, token: str, attempt: str) -> None:
    """Delete what the author's last request made if it had the same name and asked for the same: it
    was a double click, or its answer was lost, so nobody has seen that token."""
    row = session.scalars(select(ApiToken).where(ApiToken.token_hash == hash_token(token))).one()
    place, name = f"{MADE_LAST}{row.author_id}", hash_token(attempt)
    earlier, _, number = (recall(session, place) or "").partition(" ")
    remember(session, place, f"{name} {row.id}")
    if attempt and earlier == name:
        session.execute(
            delete(ApiToken).where(
                ApiToken.id == int(number),
                ApiToken.author_id == row.author_id,
                ApiToken.scope == row.scope,
                ApiToken.label == row.label,
                ApiToken.used_at.is_(None),
            )
        )


def verify(session: Session, token: str, now: datetime) -> ApiToken | None:
    """The row of `token`, with its author, if it may be used at `now`; else None."""
    row = session.scalar(select(ApiToken).where(ApiToken.token_hash == hash_token(token)))
    if row is None or row.author.disabled_at is not None or has_ended(row, now):
        return None
    return row


def has_ended(token: ApiToken, now: datetime) -> bool:
    """Whether a token has expired."""
    return token.expires_at is not None and token.expires_at <= now


def use_is_news(token: ApiToken, now: datetime) -> bool:
    """Whether `note_use` would change the row."""
    return token.used_at is None or token.used_at <= now - USE_NOTED_EVERY


def note_use(session: Session, token: ApiToken, now: datetime) -> None:
    """Store when a token was last used."""
    session.execute(update(ApiToken).where(ApiToken.id == token.id).values(used_at=now))


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
    """End every token of an author at once, and what parts give out that is as good; returns how
    many tokens there were."""
    for end in every_hooked("end_tokens"):
        end(session, author)
    mine = session.scalars(select(ApiToken.id).where(ApiToken.author_id == author.id)).all()
    session.execute(delete(ApiToken).where(ApiToken.id.in_(mine)))
    return len(mine)


def end_other_logins(session: Session, author: Author) -> int:
    """End all ways in besides the password: tokens, whose number is returned, and those of parts,
    on or off."""
    for end in every_hooked("end_logins"):
        end(session, author)
    return revoke_all(session, author)


def checked_scopes(scopes: Iterable[str]) -> list[str]:
    """`scopes`, once each and in the order of SCOPES; InvalidInput names an unknown one."""
    wanted = set(scopes)
    if unknown := sorted(wanted - set(SCOPES)):
        raise InvalidInput(f"no scope is called {unknown[0][:40]!r} (known: {', '.join(SCOPES)})")
    if not wanted:
        raise InvalidInput(f"a token needs a scope (one or more of {', '.join(SCOPES)})")
    return [scope for scope in SCOPES if scope in wanted]
