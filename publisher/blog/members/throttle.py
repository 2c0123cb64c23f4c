"""Rate limit for log-in attempts, by author's name and by network address.

An attempt is counted as failed before its password is checked, and uncounted if the password was
right: parallel attempts in several workers thus cannot exceed the limit. After `FREE_TRIES`
failures within `WINDOW` an address is refused until the oldest failure is forgotten. A name is only
slowed down, because strangers can fail on purpose: one attempt in 10 s, then 20, 40, and at worst
one a minute. An address from which the author has logged in before has a limit of its own.

Names and addresses are not stored: `Purse.subject` is a keyed hash of them.
"""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from sqlalchemy import delete, or_, select
from sqlalchemy.orm import Session

from publisher.base.errors import TooMany
from publisher.base.net import network_of
from publisher.storage.tables.credentials import Author, LoginAddress, LoginFailure

WINDOW = timedelta(minutes=15)
FREE_TRIES = 5
FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=10), timedelta(minutes=1)
KNOWN_FOR = timedelta(days=180)
KNOWN_ADDRESSES = 20  # of one author


@dataclass(frozen=True)
class Purse:
    """One counter of failed attempts: its key, a keyed hash, and whether it `slows` attempts down
    instead of refusing them."""

    subject: str
    slows: bool


@dataclass(frozen=True)
class Visitor:
    """One attempt: the name as typed, the network address, and the instance's key."""

    key: str
    name: str
    address: str

    def purse(self, kind: str, slows: bool = True) -> Purse:
        """The counter by `address`, by `known` (name and address together), else by name."""
        place = network_of(self.address)
        value = {"address": place, "known": f"{place} {self.name}"}.get(kind, self.name)
        text = f"{kind}:{value}".encode("utf-8", "replace")
        return Purse(hmac.new(self.key.encode(), text, hashlib.sha256).hexdigest(), slows)

    @property
    def familiar(self) -> Purse:
        """The counter of this name from this address, for an author who has logged in from it."""
        return self.purse("known")


def purses(session: Session, visitor: Visitor, now: datetime) -> list[Purse]:
    """The counters of an attempt by `visitor`."""
    row = session.get(LoginAddress, visitor.familiar.subject)
    if row is not None and row.used_at > now - KNOWN_FOR:
        return [visitor.familiar]
    return [visitor.purse("name"), visitor.purse("address", slows=False)]


def reserve(session: Session, purses: Sequence[Purse], now: datetime) -> list[int]:
    """Count an attempt as failed before it is made; `release` uncounts it if it succeeds.

    In a write transaction. Raises TooMany, counting nothing, when one of `purses` has to wait.
    """
    # After the clock was set back, failures lie in the future and would lock people out till then.
    forgotten = or_(LoginFailure.failed_at <= now - WINDOW, LoginFailure.failed_at > now + WINDOW)
    session.execute(delete(LoginFailure).where(forgotten))
    for purse in purses:
        if (wait := _wait(session, purse, now)) > timedelta(0):
            seconds = ceil(wait.total_seconds())
            duration = f"{seconds} s" if seconds <= 60 else f"{-(-seconds // 60)} min"
            raise TooMany(f"too many failed logins; try again in {duration}", seconds)
    rows = [LoginFailure(subject=purse.subject, failed_at=now) for purse in purses]
    session.add_all(rows)
    session.flush()
    return [row.id for row in rows]


def _wait(session: Session, purse: Purse, now: datetime) -> timedelta:
    """How long the next attempt has to wait; zero or less means not at all."""
    failures = session.scalars(
        select(LoginFailure.failed_at)
        .where(LoginFailure.subject == purse.subject)
        .order_by(LoginFailure.failed_at)
    ).all()
    if len(failures) < FREE_TRIES:
        return timedelta(0)
    if not purse.slows:
        return failures[0] + WINDOW - now
    pause = FIRST_PAUSE * (1 << min(len(failures) - FREE_TRIES, 10))
    return failures[-1] + min(pause, LONGEST_PAUSE) - now


def release(session: Session, reserved: Sequence[int]) -> None:
    """Uncount an attempt that succeeded."""
    session.execute(delete(LoginFailure).where(LoginFailure.id.in_(reserved)))


def know(session: Session, visitor: Visitor, author: Author, now: datetime) -> None:
    """Note that `author` logged in from this address, and forget its failures for this name."""
    mine = LoginAddress.author_id == author.id
    subject = visitor.familiar.subject
    session.merge(LoginAddress(subject=subject, author_id=author.id, used_at=now))
    session.flush()
    newest = select(LoginAddress.subject).where(mine).order_by(LoginAddress.used_at.desc())
    newest_subjects = session.scalars(newest.limit(KNOWN_ADDRESSES)).all()
    session.execute(delete(LoginAddress).where(mine, LoginAddress.subject.not_in(newest_subjects)))
    session.execute(delete(LoginFailure).where(LoginFailure.subject == subject))


def forget(session: Session, author: Author) -> None:
    """Forget all known addresses of an author: one may belong to who knew the old password."""
    session.execute(delete(LoginAddress).where(LoginAddress.author_id == author.id))
