"""Authors: names, profiles, roles, passwords, sessions (revocable), being disabled.

Hashing a password takes a third of a second: `hashed`, `authenticate` and `confirm` belong before a
write transaction, and what relies on them inside begins with `still_same`.
"""

import re
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from publisher.base.encryption import hash_token
from publisher.base.errors import Conflict, FieldErrors, Forbidden, NotFound, must_exist
from publisher.base.text import clean
from publisher.blog.members import passwords, permissions, throttle
from publisher.storage import database
from publisher.storage.tables.blog import Media, Meta, Post, Revision, UnsavedText
from publisher.storage.tables.credentials import ROLES, Author, LoginSession, Role

MIN_PASSWORD, MAX_PASSWORD = 10, 1_000
_UNUSABLE = f"{MIN_PASSWORD} to {MAX_PASSWORD} characters are needed"
MAX_NAME = 80  # characters of the name that readers see
SESSION_LIFE = timedelta(days=30)
FORMER = "former_author:"  # before a former login name, in Meta: its author's number
MADE_LAST = "token_made:"  # before an author's number: see `tokens.drop_twin`


def add(
    session: Session,
    name: str,
    password: passwords.Hash,
    role: Role | None,
    now: datetime,
    display: str = "",
) -> Author:
    """Add an author. The first one is always admin; later ones have the role author by default.

    Raises FieldErrors for unusable names or password, Conflict when the name is taken.
    """
    problems, shown, name = {}, " ".join(clean(display).split()) or name, login_name(name)
    if problem := name_problem(name):
        problems["name"] = problem
    if len(shown) > MAX_NAME:
        problems["display_name"] = f"{len(shown):,} characters; at most {MAX_NAME} fit"
    if not password:
        problems["password"] = _UNUSABLE
    if problems:
        raise FieldErrors(problems)
    first = session.scalar(select(Author.id).limit(1)) is None
    if not first and session.scalar(select(Author.id).where(Author.name == name)):
        raise Conflict(f"there is already an author called {name}")
    author = Author(
        name=name,
        display_name=shown,
        role="admin" if first else role or "author",
        password_hash=password,
        created_at=now,
    )
    session.add(author)
    database.content_changed(session)  # with several authors, pages name who wrote each post
    session.flush()
    return author


def login_name(typed: str) -> str:
    """A login name as it is kept: lower-case, a hyphen for spaces ("Mara Lind": mara-lind)."""
    return "-".join(clean(typed).lower().split())


def name_problem(name: str) -> str:
    """Why a login name cannot be used; "" if it can."""
    if re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,39}", name):
        return ""
    return "use 1 to 40 letters (a-z), digits, dots, hyphens or underscores"


def named(session: Session, name: str) -> Author:
    """The author called `name`; NotFound when there is none."""
    return must_exist(
        session.scalar(select(Author).where(Author.name == name)),
        f"there is no author called {name[:60]!r}",
    )


def formerly(session: Session, name: str) -> Author:
    """The author who was once called `name`, or has the posts of that one; NotFound for nobody."""
    row = session.get(Meta, f"{FORMER}{name}")
    return must_exist(
        session.get(Author, int(row.value)) if row else None, "there is no such author"
    )


def _keep_former_name(session: Session, name: str, author: Author) -> None:
    session.merge(Meta(name=f"{FORMER}{name}", value=str(author.id)))


def oldest_admin(session: Session) -> Author | None:
    """The author of posts for which none is named; None on a site without people."""
    return session.scalar(select(Author).where(permissions.admins()).order_by(Author.id).limit(1))


def everyone(session: Session) -> Sequence[Author]:
    """All authors, oldest first."""
    return session.scalars(select(Author).order_by(Author.id)).all()


def hashed(password: str) -> passwords.Hash:
    """What to store of a password; "" if its length cannot be used."""
    usable = MIN_PASSWORD <= len(password) <= MAX_PASSWORD
    return passwords.make(password) if usable else passwords.Hash("")


def set_password(
    session: Session, author: Author, password: passwords.Hash, field: str = "password"
) -> None:
    """Give an author a new password and end all sessions of that author.

    Raises FieldErrors, of `field`, when it is unusable.
    """
    if not password:
        raise FieldErrors({field: _UNUSABLE})
    author.password_hash = password
    session.execute(delete(LoginSession).where(LoginSession.author_id == author.id))
    throttle.forget(session, author)


def authenticate(session: Session, name: str, password: str) -> Author:
    """The author with this name and password.

    Raises Forbidden with the same message, after the same amount of work, if either is wrong.
    """
    author = session.scalar(select(Author).where(Author.name == login_name(name)))
    usable = author is not None and author.disabled_at is None
    old = _old_hash(session)
    good = passwords.matches(author.password_hash if author and usable else "", password, old)
    if author is None or not good:
        problems = filter(None, ("name or password is wrong", passwords.trouble(old)))
        raise Forbidden("; ".join(problems))
    return author


def password_trouble(session: Session) -> str:
    """What to do where passwords of people who can log in cannot be checked; "" if all can."""
    return passwords.trouble(_old_hash(session))


def still_same(session: Session, checked: Author) -> Author:
    """The row of an author whose password was checked in an earlier transaction.

    Raises Forbidden if the password was changed or the author was disabled or removed since.
    """
    row = session.get(Author, checked.id)
    if row is None or row.disabled_at or row.password_hash != checked.password_hash:
        raise Forbidden("the password was changed just now, so try again")
    return row


def _old_hash(session: Session) -> str:
    """A password hash by Argon2 of somebody who can log in; "" when there is none."""
    old = Author.password_hash.startswith(passwords.ARGON2), Author.disabled_at.is_(None)
    return session.scalar(select(Author.password_hash).where(*old).limit(1)) or ""


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


MAX_BIO = 5_000
LAST_ADMIN = "this is the only admin: make another author an admin first"


def describe(
    session: Session, author: Author, display_name: str, bio: str, login: str | None = None
) -> None:
    """Set the name that readers see, the biography (Markdown), and the login name if given."""
    name = author.name if login is None else login_name(login)
    line, text = " ".join(clean(display_name).split()), clean(bio).strip()
    problems = {}
    if not 1 <= len(line) <= MAX_NAME:
        problems["display_name"] = f"1 to {MAX_NAME} characters are needed"
    if len(text) > MAX_BIO:
        problems["bio"] = f"{len(text):,} characters; at most {MAX_BIO:,} fit"
    if problem := name_problem(name):
        problems["login"] = problem
    elif name != author.name and session.scalar(select(Author.id).where(Author.name == name)):
        problems["login"] = f"there is already an author called {name}"
    elif (row := session.get(Meta, f"{FORMER}{name}")) and row.value != str(author.id):
        problems["login"] = f"somebody else was once called {name}; links lead from there to them"
    if problems:
        raise FieldErrors(problems)
    if name != author.name:
        _keep_former_name(session, author.name, author)
    author.name, author.display_name, author.bio = name, line, text
    database.content_changed(session)
    session.flush()


def set_role(session: Session, author: Author, role: str) -> None:
    """Make somebody admin or author; FieldErrors when no admin would remain."""
    role = role_called(role)
    if role != "admin":
        _check_admin_remains(session, author)
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
    _check_admin_remains(session, author)
    author.disabled_at = now
    session.execute(delete(LoginSession).where(LoginSession.author_id == author.id))
    session.flush()


def enable(session: Session, author: Author) -> None:
    """Let a disabled author log in again."""
    author.disabled_at = None
    session.flush()


def remove(session: Session, author: Author, heir: Author) -> None:
    """Delete an author for good; posts, files and unsaved texts go to `heir`.

    FieldErrors when no admin would remain, or when the heir cannot have them.
    """
    _check_admin_remains(session, author, "heir")
    if heir.id == author.id or heir.disabled_at is not None:
        raise FieldErrors({"heir": "choose somebody else who can log in"})
    for table in (Post, Revision, UnsavedText, Media):
        session.execute(update(table).where(table.author_id == author.id).values(author_id=heir.id))
    session.execute(
        update(Meta)
        .where(Meta.name.startswith(FORMER), Meta.value == str(author.id))
        .values(value=str(heir.id))
    )
    _keep_former_name(session, author.name, heir)
    session.execute(delete(Meta).where(Meta.name == f"{MADE_LAST}{author.id}"))
    session.delete(author)
    database.content_changed(session)
    session.flush()


def made_password() -> str:
    """A random password, to be given to somebody."""
    return secrets.token_urlsafe(12)


def confirm(session: Session, author: Author, password: str, field: str) -> None:
    """FieldErrors, of `field`, unless `password` is that of somebody who is logged in."""
    try:
        authenticate(session, author.name, password)
    except Forbidden as error:
        problem = passwords.trouble(author.password_hash) or "this is not your current password"
        raise FieldErrors({field: problem}) from error


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


def _check_admin_remains(session: Session, author: Author, field: str = "role") -> None:
    """FieldErrors, of `field`, when `author` is the last admin who can log in."""
    other_admins = select(func.count(Author.id)).where(
        permissions.admins(), Author.disabled_at.is_(None), Author.id != author.id
    )
    may_log_in = permissions.is_admin(author) and author.disabled_at is None
    if may_log_in and not session.scalar(other_admins):
        raise FieldErrors({field: LAST_ADMIN})
