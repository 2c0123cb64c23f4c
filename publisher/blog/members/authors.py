"""Authors: their names, passwords (argon2) and sessions (revocable)."""

import re
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from publisher.base.encryption import hash_token
from publisher.base.errors import Conflict, FieldErrors, Forbidden, NotFound
from publisher.base.text import clean
from publisher.blog.members import permissions, throttle
from publisher.storage import content_serial
from publisher.storage.tables.credentials import Author, LoginSession, Role

if TYPE_CHECKING:
    from argon2 import PasswordHasher

MIN_PASSWORD, MAX_PASSWORD = 10, 1_000
MAX_NAME = 80  # characters of the name that readers see
SESSION_LIFE = timedelta(days=30)


def add(
    session: Session, name: str, password: str, role: Role | None, now: datetime, display: str = ""
) -> Author:
    """Add an author. The first one is always admin; later ones have the role author by default.

    Raises FieldErrors for unusable names or password, Conflict when the name is taken.
    """
    problems, shown = {}, " ".join(clean(display).split()) or name
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,39}", name):
        problems["name"] = (
            "use 1 to 40 lower-case letters (a-z), digits, dots, hyphens or underscores"
        )
    if len(shown) > MAX_NAME:
        problems["display_name"] = f"{len(shown):,} characters; at most {MAX_NAME} fit"
    if problem := _password_problem(password):
        problems["password"] = problem
    if problems:
        raise FieldErrors(problems)
    first = session.scalar(select(Author.id).limit(1)) is None
    if not first and session.scalar(select(Author.id).where(Author.name == name)):
        raise Conflict(f"there is already an author called {name}")
    author = Author(
        name=name,
        display_name=shown,
        role="admin" if first else role or "author",
        password_hash=_hasher().hash(password),
        created_at=now,
    )
    session.add(author)
    content_serial.grow(session)  # with several authors, pages name who wrote each post
    session.flush()
    return author


def named(session: Session, name: str) -> Author:
    """The author called `name`; NotFound when there is none."""
    author = session.scalar(select(Author).where(Author.name == name))
    if author is None:
        raise NotFound(f"there is no author called {name[:60]!r}")
    return author


def oldest_admin(session: Session) -> Author | None:
    """The author of posts for which none is named; None on a site without people."""
    return session.scalar(select(Author).where(permissions.admins()).order_by(Author.id).limit(1))


def everyone(session: Session) -> Sequence[Author]:
    """All authors, oldest first."""
    return session.scalars(select(Author).order_by(Author.id)).all()


def set_password(session: Session, author: Author, password: str) -> None:
    """Give an author a new password and end all sessions of that author."""
    if problem := _password_problem(password):
        raise FieldErrors({"password": problem})
    author.password_hash = _hasher().hash(password)
    session.execute(delete(LoginSession).where(LoginSession.author_id == author.id))
    throttle.forget(session, author)


def authenticate(session: Session, name: str, password: str) -> Author:
    """The author with this name and password.

    Raises Forbidden with the same message, after the same amount of work, if either is wrong.
    """
    from argon2.exceptions import Argon2Error, InvalidHashError

    author = session.scalar(select(Author).where(Author.name == name))
    usable = author is not None and author.disabled_at is None
    try:
        _hasher().verify(author.password_hash if author and usable else _unknown_hash(), password)
    except (Argon2Error, InvalidHashError) as error:
        raise Forbidden("name or password is wrong") from error
    if author is None or not usable:
        raise Forbidden("name or password is wrong")
    return author


def open_session(session: Session, author: Author, agent: str, now: datetime) -> str:
    """Open a session for an author; returns the token for the cookie, only its hash is stored."""
    session.execute(delete(LoginSession).where(LoginSession.expires_at <= now))
    token = secrets.token_urlsafe(32)
    session.add(
        LoginSession(
            token_hash=hash_token(token),
            author_id=author.id,
            created_at=now,
            expires_at=now + SESSION_LIFE,
            agent=agent[:200],
        )
    )
    return token


def author_of(session: Session, token: str, now: datetime) -> Author | None:
    """The author whose session `token` is; None when it has ended."""
    row = session.scalar(select(LoginSession).where(LoginSession.token_hash == hash_token(token)))
    if row is None or row.expires_at <= now or row.author.disabled_at is not None:
        return None
    return row.author


def close_session(session: Session, token: str) -> None:
    """End the session of `token`."""
    session.execute(delete(LoginSession).where(LoginSession.token_hash == hash_token(token)))


def _password_problem(password: str) -> str:
    if not MIN_PASSWORD <= len(password) <= MAX_PASSWORD:
        return f"{MIN_PASSWORD} to {MAX_PASSWORD} characters are needed"
    return ""


@cache
def _hasher() -> "PasswordHasher":
    """The password hasher, imported on first use: most commands do not need argon2."""
    from argon2 import PasswordHasher

    return PasswordHasher()


@cache
def _unknown_hash() -> str:
    """The hash of a random password: checking an unknown name must take the same time."""
    return _hasher().hash(secrets.token_urlsafe(16))
