"""The throttle on logging in: how many passwords are looked at, for a name and from an address.

Each try is counted as failed before the password is looked at and taken back when it was right, so
that of many at once, over all workers, no more than the limit are looked at. After `FREE_TRIES`
failures within `WINDOW` an address is refused until the oldest is forgotten; a name is only slowed
down, because it is not its owner who fails: one try in 10 s, then 20, 40, and never less than one a
minute. An address that has logged in to a name before counts by itself, whatever strangers do.

A reader would get wrong that neither names nor addresses are kept: `Purse.subject` is a keyed hash.
"""

import hashlib
import hmac
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, or_, select
from sqlalchemy.orm import Session

from publisher.base.errors import TooMany
from publisher.storage.tables.credentials import Author, LoginAddress, LoginFailure

WINDOW = timedelta(minutes=15)
FREE_TRIES = 5
FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=10), timedelta(minutes=1)
KNOWN_FOR = timedelta(days=180)
KNOWN_ADDRESSES = 20  # of one author
IPV6_NETWORK = 64  # what one household has of addresses


@dataclass(frozen=True)
class Purse:
    """What tries are counted against: a keyed hash; `slows` down instead of refusing."""

    subject: str
    slows: bool


@dataclass(frozen=True)
class Visitor:
    """Who tries: the name as typed, the address it comes from, and the instance's key."""

    key: str
    name: str
    address: str

    def purse(self, kind: str, slows: bool = True) -> Purse:
        """What tries of this kind count against: `address`, `known` (both), else the name."""
        place = network(self.address)
        value = {"address": place, "known": f"{place} {self.name}"}.get(kind, self.name)
        text = f"{kind}:{value}".encode("utf-8", "replace")
        return Purse(hmac.new(self.key.encode(), text, hashlib.sha256).hexdigest(), slows)

    @property
    def known(self) -> Purse:
        """This name from this address, where it has logged in before."""
        return self.purse("known")


def network(address: str) -> str:
    """The address, or the network that a household has of IPv6: its addresses cost nothing."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if found.version == 6 and found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    if found.version == 6:
        return str(ipaddress.ip_network((int(found), IPV6_NETWORK), strict=False))
    return address


def purses(session: Session, visitor: Visitor, now: datetime) -> list[Purse]:
    """What a try of `visitor` counts against."""
    row = session.get(LoginAddress, visitor.known.subject)
    if row is not None and row.used_at > now - KNOWN_FOR:
        return [visitor.known]
    return [visitor.purse("name"), visitor.purse("address", slows=False)]


def reserve(session: Session, purses: Sequence[Purse], now: datetime) -> list[int]:
    """Count a try as failed before it is made; `release` takes it back when it succeeds.

    In a write transaction. Raises TooMany, counting nothing, when one of `purses` has to wait.
    """
    # A clock that was put back leaves failures of tomorrow: they would lock people out till then.
    forgotten = or_(LoginFailure.failed_at <= now - WINDOW, LoginFailure.failed_at > now + WINDOW)
    session.execute(delete(LoginFailure).where(forgotten))
    for purse in purses:
        if (wait := _wait(session, purse, now)) > timedelta(0):
            seconds = int(wait.total_seconds()) + 1
            said = f"{seconds} s" if seconds <= 60 else f"{-(-seconds // 60)} min"
            raise TooMany(f"too many failed logins; try again in {said}", seconds)
    rows = [LoginFailure(subject=purse.subject, failed_at=now) for purse in purses]
    session.add_all(rows)
    session.flush()
    return [row.id for row in rows]


def _wait(session: Session, purse: Purse, now: datetime) -> timedelta:
    """How long the next try of a purse has to wait; nothing or less: it may be made."""
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
    """The try succeeded: it counts against nobody."""
    session.execute(delete(LoginFailure).where(LoginFailure.id.in_(reserved)))


def know(session: Session, visitor: Visitor, author: Author, now: datetime) -> None:
    """`author` logged in from here: this address keeps its way in, with all tries before it."""
    mine = LoginAddress.author_id == author.id
    subject = visitor.known.subject
    session.merge(LoginAddress(subject=subject, author_id=author.id, used_at=now))
    session.flush()
    newest = select(LoginAddress.subject).where(mine).order_by(LoginAddress.used_at.desc())
    kept = session.scalars(newest.limit(KNOWN_ADDRESSES)).all()
    session.execute(delete(LoginAddress).where(mine, LoginAddress.subject.not_in(kept)))
    session.execute(delete(LoginFailure).where(LoginFailure.subject == subject))


def forget(session: Session, author: Author) -> None:
    """Forget all trusted addresses: one may be of somebody who knew the old password."""
    session.execute(delete(LoginAddress).where(LoginAddress.author_id == author.id))
