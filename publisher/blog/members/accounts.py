"""Accounts of authors: profile, role, password, logins, being disabled."""

import secrets
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from publisher.base.encryption import hash_token
from publisher.base.errors import FieldErrors, Forbidden, NotFound
from publisher.base.text import clean
from publisher.blog.members import authors, permissions
from publisher.storage import content_serial
from publisher.storage.tables.credentials import ROLES, Author, LoginSession, Role

MAX_BIO = 5_000
LAST_ADMIN = "this is the only admin: make another author an admin first"


def describe(session: Session, author: Author, display_name: str, bio: str) -> None:
    """Set the name that readers see and the biography (Markdown)."""
    line, text = " ".join(clean(display_name).split()), clean(bio).strip()
    problems = {}
    if not 1 <= len(line) <= authors.MAX_NAME:
        problems["display_name"] = f"1 to {authors.MAX_NAME} characters are needed"
    if len(text) > MAX_BIO:
        problems["bio"] = f"{len(text):,} characters; at most {MAX_BIO:,} fit"
    if problems:
        raise FieldErrors(problems)
    author.display_name, author.bio = line, text
    content_serial.grow(session)
    session.flush()


def set_role(session: Session, author: Author, role: str) -> None:
    """Make somebody admin or author; FieldErrors when no admin would remain."""
    role = role_called(role)
    if role != "admin" and _is_last_admin(session, author):
        raise FieldErrors({"role": LAST_ADMIN})
    author.role = role
    session.flush()


def role_called(name: str) -> Role:
    """The role with this name; FieldErrors when there is none."""
    for role in ROLES:
        if role == name:
            return role
    raise FieldErrors({"role": f"must be one of {', '.join(ROLES)}"})


def disable(session: Session, author: Author, now: datetime) -> None:
    """Disable an author: sessions end, logins and tokens are refused; the posts stay."""
    if _is_last_admin(session, author):
        raise FieldErrors({"role": LAST_ADMIN})
    author.disabled_at = now
    session.execute(delete(LoginSession).where(LoginSession.author_id == author.id))
    session.flush()


def enable(session: Session, author: Author) -> None:
    """Let a disabled author log in again."""
    author.disabled_at = None
    session.flush()


def made_password() -> str:
    """A random password, to be given to somebody."""
    return secrets.token_urlsafe(12)


def reset_password(session: Session, author: Author) -> str:
    """Give an author a new random password, ending their sessions; returns it, only its hash is
    kept."""
    password = made_password()
    authors.set_password(session, author, password)
    return password


def change_password(session: Session, author: Author, old: str, new: str) -> None:
    """Replace one's own password, which ends all sessions.

    Raises FieldErrors when the old one is wrong or the new one is unusable.
    """
    try:
        authors.authenticate(session, author.name, old)
    except Forbidden as error:
        raise FieldErrors({"old_password": "this is not your current password"}) from error
    try:
        authors.set_password(session, author, new)
    except FieldErrors as error:
        raise FieldErrors({"new_password": error.fields["password"]}) from error


def sessions_of(session: Session, author: Author, now: datetime) -> Sequence[LoginSession]:
    """The logins (browsers) of an author that have not expired, newest first."""
    return session.scalars(
        select(LoginSession)
        .where(LoginSession.author_id == author.id, LoginSession.expires_at > now)
        .order_by(LoginSession.id.desc())
    ).all()


def end_session(session: Session, author: Author, session_id: int) -> None:
    """Log one browser of `author` out; NotFound when the session is another author's or ended."""
    row = session.get(LoginSession, session_id)
    if row is None or not permissions.owns(author, row.author_id):
        raise NotFound("there is no such session")
    session.delete(row)


def end_other_sessions(session: Session, author: Author, token: str) -> None:
    """Log `author` out everywhere but in the browser that holds `token`."""
    session.execute(
        delete(LoginSession).where(
            LoginSession.author_id == author.id, LoginSession.token_hash != hash_token(token)
        )
    )


def _is_last_admin(session: Session, author: Author) -> bool:
    others = select(func.count(Author.id)).where(
        permissions.admins(), Author.disabled_at.is_(None), Author.id != author.id
    )
    return (
        permissions.is_admin(author) and author.disabled_at is None and not session.scalar(others)
    )
