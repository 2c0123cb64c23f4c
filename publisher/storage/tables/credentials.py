"""The tables of those who may log in: authors, their sessions and tokens."""

from datetime import datetime
from typing import Literal, get_args

from sqlalchemy import ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from publisher.storage.columns import Base

Role = Literal["admin", "author"]
ROLES: tuple[Role, ...] = get_args(Role)


class Author(Base):
    """A person who can log in; what a role may do is said in `blog/members/permissions.py`."""

    __tablename__ = "authors"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    display_name: Mapped[str]
    bio: Mapped[str] = mapped_column(Text, default="")
    role: Mapped[Role] = mapped_column(String)
    password_hash: Mapped[str]
    created_at: Mapped[datetime]
    disabled_at: Mapped[datetime | None]


class LoginSession(Base):
    """One logged-in browser; deleting the row logs it out. Only the token's hash is kept."""

    __tablename__ = "login_sessions"
    id: Mapped[int] = mapped_column(primary_key=True)
    token_hash: Mapped[str] = mapped_column(unique=True)
    author_id: Mapped[int] = mapped_column(ForeignKey(Author.id, ondelete="CASCADE"), index=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    agent: Mapped[str] = mapped_column(default="")
    author: Mapped[Author] = relationship(lazy="joined")


class LoginFailure(Base):
    """One failed login, for throttling: `subject` is a keyed hash of a name or an address."""

    __tablename__ = "login_failures"
    id: Mapped[int] = mapped_column(primary_key=True)
    subject: Mapped[str]
    failed_at: Mapped[datetime]
    __table_args__ = (Index("ix_login_failures_subject", "subject", "failed_at"),)


class LoginAddress(Base):
    """A name and an address that it logged in from: `subject` is a keyed hash of both."""

    __tablename__ = "login_addresses"
    subject: Mapped[str] = mapped_column(primary_key=True)
    author_id: Mapped[int] = mapped_column(ForeignKey(Author.id, ondelete="CASCADE"), index=True)
    used_at: Mapped[datetime]


class ApiToken(Base):
    """Lets a program act for an author; only the token's hash is kept.

    `used_at` is the last use, to the hour; `expires_at` the end, if it has one.
    """

    __tablename__ = "api_tokens"
    id: Mapped[int] = mapped_column(primary_key=True)
    token_hash: Mapped[str] = mapped_column(unique=True)
    author_id: Mapped[int] = mapped_column(ForeignKey(Author.id, ondelete="CASCADE"), index=True)
    scope: Mapped[str]
    label: Mapped[str] = mapped_column(default="")
    created_at: Mapped[datetime]
    used_at: Mapped[datetime | None]
    expires_at: Mapped[datetime | None]
    author: Mapped[Author] = relationship(lazy="joined")
