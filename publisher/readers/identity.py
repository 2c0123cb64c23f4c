"""The origin of a poll: a keyed hash of IP address and User-Agent; a key lives two weeks.

Each week has a random key. An origin gets a hash under this week's key and one under last week's,
so that its rows can be moved to the new one; older keys are destroyed, so that no address can be
linked to older counts. `telling_apart` finds the readers of an origin.
"""

import hashlib
import secrets
from datetime import datetime
from functools import lru_cache
from ipaddress import IPv6Address

from sqlalchemy import delete
from sqlalchemy.orm import Session

from publisher.readers.agents import parse_agent
from publisher.storage.database import Database
from publisher.storage.tables.mirror import mirror_at
from publisher.storage.tables.readers import ReaderKey

WEEK_SECONDS = 7 * 86_400
NOBODY = 0  # origin and reader of all polls beyond the limits


def week_of(now: datetime) -> int:
    """The number of the week that `now` lies in."""
    return int(now.timestamp() // WEEK_SECONDS)


def origins(keys: tuple[bytes, bytes], address: str, agent: str, path: str) -> tuple[int, int]:
    """An origin's number under this week's and last week's key: 63 bits; `NOBODY` for no origin.

    The address of a service that reads for many, and of a search engine, is ignored; of an IPv6
    address only the network counts, as devices change the rest for privacy.
    Polls of another blog's feed, of a mirror, have origins of their own.
    """
    if not address and not agent:
        return NOBODY, NOBODY
    program, mirror = parse_agent(agent), mirror_at(path)
    place = "" if program.one_program else _network(address)
    parts = [place, program.without_claim, *([mirror] if mirror else [])]
    text = "\0".join(parts).encode("utf-8", "replace")
    present, past = keys
    return _number(text, present), _number(text, past)


def _number(text: bytes, key: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(text, key=key, digest_size=8).digest()) >> 1 or 1


@lru_cache(maxsize=4096)
def _network(address: str) -> str:
    """An IPv6 address without its lower half; IPv4, and what is no address, as it is."""
    if ":" not in address:
        return address
    try:
        found = IPv6Address(address)
    except ValueError:
        return address
    return str(found.ipv4_mapped or IPv6Address(int(found) >> 64 << 64))


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
    """Destroy keys older than last week's."""
    session.execute(delete(ReaderKey).where(ReaderKey.week < week_of(now) - 1))


def _load(session: Session, week: int) -> dict[int, bytes]:
    # By the driver itself, in a third of the time: each flush asks.
    statement = f"SELECT week, key FROM reader_keys WHERE week IN ({week:d}, {week - 1:d})"  # noqa: S608  # nosec B608 - two numbers
    return {row[0]: row[1] for row in session.connection().exec_driver_sql(statement)}
