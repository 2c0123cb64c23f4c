"""The mirrors of a site: adding, listing, removing, and asking for a poll of the origin."""

import re
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from publisher.base.encryption import hash_token
from publisher.base.errors import Conflict, InvalidInput, NotFound
from publisher.river.fetching.host_names import work_unit_of
from publisher.storage.tables.mirror import Mirror, path_of
from publisher.storage.tables.publishing import DocumentVersion, Snapshot

# At least between two polls, however many pings come: with a secret, and from anybody.
LEAST_GAP, OPEN_GAP = timedelta(seconds=10), timedelta(seconds=60)
RESERVED = {"ping"}
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")


def add(session: Session, url: str, name: str, zone: str, now: datetime) -> tuple[Mirror, str]:
    """A new mirror of the feed at a checked address, and the token to ping it with.

    name: "" for one made from the host. Conflict when the name or the feed is taken.
    """
    name = name or _name_of(session, url)
    if not _NAME.fullmatch(name) or name in RESERVED:
        raise InvalidInput(
            f"{name[:60]!r} cannot name a mirror: use a-z, 0-9 and - inside, up to 40"
        )
    if session.get(Mirror, name) is not None:
        raise Conflict(f"there is a mirror called {name}")
    if known := session.scalar(select(Mirror).where(Mirror.url == url)):
        raise Conflict(f"this feed is mirrored already, as {known.name}")
    token = secrets.token_urlsafe(24)
    mirror = Mirror(
        name=name, url=url, timezone=zone, token_hash=hash_token(token), added_at=now,
        next_poll_at=now, hub_key=secrets.token_urlsafe(16), hub_secret=secrets.token_urlsafe(32),
    )  # fmt: skip
    session.add(mirror)
    session.flush()
    return mirror, token


def named(session: Session, name: str) -> Mirror:
    """One mirror; NotFound when there is none."""
    found = session.get(Mirror, name)
    if found is None:
        raise NotFound(f"there is no mirror called {name[:60]}")
    return found


def everyone(session: Session) -> Sequence[Mirror]:
    """All mirrors, by name."""
    return session.scalars(select(Mirror).order_by(Mirror.name)).all()


def remove(session: Session, name: str) -> None:
    """Stop serving a mirror, and forget what was learned."""
    session.delete(named(session, name))
    if (shown := session.get(Snapshot, path_of(name))) is not None:
        session.delete(shown)
    session.execute(delete(DocumentVersion).where(DocumentVersion.name == path_of(name)))


def ask(mirror: Mirror, by: str, now: datetime, gap: timedelta = LEAST_GAP) -> None:
    """Have the origin polled as soon as possible: at once, or `gap` after the last poll."""
    rested = mirror.last_polled_at + gap if mirror.last_polled_at else now
    mirror.asked_at, mirror.asked_by = max(now, rested), by[:100]


def told_of(session: Session, address: str) -> list[Mirror]:
    """The mirrors that a ping about `address` (a blog's or a feed's) is meant for: the feed with
    this address, else all feeds of its host below it."""
    mirrors = everyone(session)
    exact = [mirror for mirror in mirrors if mirror.url == address]
    try:
        asked = urlsplit(address)
    except ValueError:
        return exact
    return exact or [
        mirror
        for mirror in mirrors
        if urlsplit(mirror.url).hostname == asked.hostname
        and f"{urlsplit(mirror.url).path}/".startswith(f"{asked.path.rstrip('/')}/")
    ]


def due_at(mirror: Mirror) -> datetime | None:
    """When the origin is to be polled next."""
    return mirror.next_poll_at if mirror.asked_at is None else mirror.asked_at


def _name_of(session: Session, url: str) -> str:
    """A free name from the host: `a-example` for https://www.a.example/feed/."""
    host = (urlsplit(url).hostname or "").removeprefix("www.")
    base = re.sub(r"[^a-z0-9]+", "-", host.lower()).strip("-")[:36].strip("-")
    base = base if base and base not in RESERVED else work_unit_of(url).replace(".", "-")
    names = {mirror.name for mirror in everyone(session)}
    return next(
        name
        for name in (base, *(f"{base}-{number}" for number in range(2, len(names) + 3)))
        if name not in names
    )
