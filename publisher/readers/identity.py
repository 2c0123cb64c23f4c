"""Where a poll comes from: a keyed hash of address and agent, under a key that lives two weeks.

Each week has its random key. An origin gets a hash under this week's key and one under last
week's, so that its row can be handed over; older keys are destroyed, and with them the way from
an address to what was counted before. Which readers come from an origin says `telling_apart`.
"""

import hashlib
import secrets
from datetime import datetime
from functools import lru_cache
from ipaddress import ip_address

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from publisher.readers.agents import Agent
from publisher.storage.database import Database
from publisher.storage.tables.readers import ReaderKey

WEEK_SECONDS = 7 * 86_400
NOBODY = 0  # origin and reader of all polls beyond the limits


def week_of(now: datetime) -> int:
    """The number of the week that `now` lies in."""
    return int(now.timestamp() // WEEK_SECONDS)


def origin_id(key: bytes, address: str, agent: Agent, mirror: str = "") -> int:
    """An origin's number under a key: 63 bits, never `NOBODY`.

    A service that reads for many, and a search engine, come from one place whatever the address;
    of an IPv6 address the network counts, as the rest of it is changed for privacy.
    Who fetches the feed of another blog, the one of `mirror`, is a reader of that blog alone.
    """
    place = "" if agent.one_program else _network(address)
    parts = [place, agent.without_claim, *([mirror] if mirror else [])]
    text = "\0".join(parts).encode("utf-8", "replace")
    digest = hashlib.blake2b(text, key=key, digest_size=8).digest()
    return int.from_bytes(digest) >> 1 or 1


@lru_cache(maxsize=4096)
def _network(address: str) -> str:
    """An IPv6 address without its lower half; IPv4, and what is no address, as it is."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if found.version == 4:
        return address
    return str(found.ipv4_mapped or ip_address(int(found) >> 64 << 64))


def keys(database: Database, now: datetime) -> tuple[bytes, bytes]:
    """The keys of this week and of the week before; made where they are missing."""
    week = week_of(now)
    with database.read() as session:
        found = _load(session, week)
    if len(found) < 2:
        with database.write() as session:
            found = _load(session, week)
            for missing in {week, week - 1} - found.keys():
                found[missing] = secrets.token_bytes(32)
                session.add(ReaderKey(week=missing, key=found[missing]))
            forget_old(session, now)
    return found[week], found[week - 1]


def forget_old(session: Session, now: datetime) -> None:
    """Destroy the keys that no overlap needs any more."""
    session.execute(delete(ReaderKey).where(ReaderKey.week < week_of(now) - 1))


def _load(session: Session, week: int) -> dict[int, bytes]:
    rows = session.execute(
        select(ReaderKey.week, ReaderKey.key).where(ReaderKey.week.in_([week, week - 1]))
    )
    return {row.week: row.key for row in rows}
