"""The readers' tables: polls as they were counted, and the sums per reader, day and hour.

The columns of `reader_feeds` and `reader_days` are declared once, as dataclasses; the tables are
made of their fields.
"""

from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
)
from sqlalchemy.orm import Mapped, mapped_column

from publisher.dynamic_ttl.core.replay.when_to_publish import EITHER
from publisher.storage.columns import Base
from publisher.storage.tables.blog import Post
from publisher.storage.tables.publishing import Delivery

_TYPES: dict[object, type[Any]] = {
    int: Integer, float: Double, float | None: Double, bool: Boolean, str: Text, list[Any]: JSON,
}  # fmt: skip

_LARGE = ("bytes", "_seconds", "origin")


def _columns(kind: type[Any]) -> list["Column[Any]"]:
    """A column for each field of a dataclass; 64 bits for sums of bytes and seconds, and hashes."""
    return [
        Column(
            part.name,
            BigInteger if part.name.endswith(_LARGE) else _TYPES[part.type],
            nullable=part.type == float | None,
            server_default=part.metadata.get("server_default"),
        )
        for part in fields(kind)
    ]


class ReaderKey(Base):
    """The key that hashes addresses during one week (number of weeks since 1970)."""

    __tablename__ = "reader_keys"
    week: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    key: Mapped[bytes] = mapped_column(LargeBinary)


class PollFlush(Base):
    """Polls that a worker has counted and that are not in the tables below yet."""

    __tablename__ = "poll_flushes"
    id: Mapped[int] = mapped_column(primary_key=True)
    payload: Mapped[bytes] = mapped_column(LargeBinary)


class FoldPart(Base):
    """Rows of the four tables below that a fold has computed and that are to be written."""

    __tablename__ = "fold_parts"
    id: Mapped[int] = mapped_column(primary_key=True)
    payload: Mapped[bytes] = mapped_column(LargeBinary)


class ReaderClient(Base):
    """A reader: a random number, and what its User-Agent header says.

    `subscribers` is the number in that header, cut at a limit (`subscribers_capped`). `mirror` is
    the name of the mirrored feed that it reads; "" for a reader of the blog.
    `first_at` and `last_at` are seconds since 1970.
    """

    __tablename__ = "reader_clients"
    client: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    agent: Mapped[str] = mapped_column(Text)
    name: Mapped[str]
    version: Mapped[str]
    mirror: Mapped[str] = mapped_column(default="")
    subscribers: Mapped[int]
    subscribers_capped: Mapped[bool]
    first_at: Mapped[float] = mapped_column(index=True)
    last_at: Mapped[float]


class ReaderOrigin(Base):
    """Where a reader was seen: a keyed hash of address and agent, under the key of one week.

    Several readers may share an origin (an office), and a reader may have several (a phone).
    """

    __tablename__ = "reader_origins"
    origin: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    client: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    last_at: Mapped[float] = mapped_column(index=True)
    __table_args__ = (Index("ix_reader_origins_client", "client"),)


@dataclass(slots=True)
class ReaderFeed:
    """One reader's last answer for one document: the next poll is compared with it.

    `told_minutes` is the ttl element, `max_age` the header's seconds at that minute; `seen_at`:
    Last-Modified of the version that it holds; `full_at`: when it last got a body;
    `asked_back_at`: the moment that a 429 asked it to wait for. Moments are seconds since 1970.

    `tag` is the ETag that it was given last, `tag_before` the one before; `returned`: whether it
    ever sent one back; `rhythm`: its own interval in seconds, 0 while it follows the ttl, below 0
    after one late visit; `given`: copies that went out to the same origin and that no later poll
    named, as lists of (moment, ttl, max-age, Last-Modified, ETag): another reader may hold them.
    `foreign`: its first request already had an ETag, so how many hold it was never counted;
    `origin`: where it got its last body or 304; `follows`: what it came by last where the ttl
    element and the header differed, one of `when_to_publish.EITHER`, `ELEMENT`, `HEADERS`.
    """

    last_at: float
    told_minutes: int
    max_age: int
    seen_at: float
    full_at: float
    asked_back_at: float | None = None
    tag: str = ""
    tag_before: str = ""
    returned: bool = False
    foreign: bool = False
    rhythm: float = 0.0
    given: list[Any] = field(default_factory=list)
    origin: int = 0
    follows: int = field(default=EITHER, metadata={"server_default": "0"})


reader_feeds = Table(
    "reader_feeds",
    Base.metadata,
    Column("client", BigInteger, primary_key=True, autoincrement=False),
    Column("document", String, primary_key=True),
    *_columns(ReaderFeed),
    Index("ix_reader_feeds_tag", "tag"),
)


@dataclass(slots=True)
class ReaderCounts:
    """Sums over one reader's polls, as they stood at the end of a day.

    `heads`: requests with HEAD. `first`: polls without one before. `stale`: whole documents for a
    validator of an older version, `ttl_only`: those of them with the same content, `invented`: for
    a validator that we never sent. `early`, `on_time`: intervals compared with the ttl before them;
    `fast`: with the smallest ttl; `unsure`: polls that another reader at the address may have made.
    """

    requests: int = 0
    heads: int = 0
    full: int = 0
    not_modified: int = 0
    refused: int = 0
    refused_obeyed: int = 0
    bytes: int = 0
    first: int = 0
    conditional: int = 0
    stale: int = 0
    invented: int = 0
    gzip: int = 0
    ttl_only: int = 0
    ttl_only_bytes: int = 0
    saved_by_304_bytes: int = 0
    saved_by_gzip_bytes: int = 0
    intervals: int = 0
    interval_seconds: int = 0
    on_time: int = 0
    early: int = 0
    fast: int = 0
    unsure: int = 0


# The sums are cumulative from day to day (days since 1970, UTC), so that any span of days is one
# subtraction. `told`: the intervals by class of the ttl before them, as "class:intervals:on time:
# early:seconds ...". Only `spans` is of the day alone: how often each interval followed each ttl,
# as "ttl:seconds:count ..." with rounded seconds. Client 0 is all readers beyond the limit.
reader_days = Table(
    "reader_days",
    Base.metadata,
    Column("client", BigInteger, primary_key=True, autoincrement=False),
    Column("day", Integer, primary_key=True, autoincrement=False),
    *_columns(ReaderCounts),
    Column("told", Text, nullable=False),
    Column("spans", Text, nullable=False),
    sqlite_with_rowid=False,
)


class PollHour(Base):
    """All polls of one hour (hours since 1970, UTC)."""

    __tablename__ = "poll_hours"
    hour: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    requests: Mapped[int]
    not_modified: Mapped[int]
    bytes: Mapped[int] = mapped_column(BigInteger)


class PollSource(Base):
    """All polls of one day (days since 1970, UTC) by where they were counted.

    `source`: `site`, `proxy` (passed on by a trusted proxy), or the kind of log they stood in.
    """

    __tablename__ = "poll_sources"
    day: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    source: Mapped[str] = mapped_column(primary_key=True)
    requests: Mapped[int]
    not_modified: Mapped[int]
    conditional: Mapped[int]
    bytes: Mapped[int] = mapped_column(BigInteger)


class LogPosition(Base):
    """How far an access log was counted: bytes and lines.

    The file is known by the hash of its first `head_bytes`; `name` is where it was seen last,
    `changed_at` when it had been written to then.
    """

    __tablename__ = "log_positions"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    head_bytes: Mapped[int]
    head: Mapped[str]
    offset: Mapped[int] = mapped_column(BigInteger)
    lines: Mapped[int] = mapped_column(BigInteger)
    changed_at: Mapped[datetime]


class LogRequest(Base):
    """A request of a log whose lines may come twice: a hash of its own number, and the day (days
    since 1970, UTC) on which it was counted."""

    __tablename__ = "log_requests"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    day: Mapped[int] = mapped_column(index=True)


class Reach(Base):
    """How soon people had one update of a post, which came at `at`; kind: publish or edit.

    `programs`: by name of the program, how many people had it after so many (rounded) seconds, as
    JSON. A name of "": of programs whose names were not kept.
    """

    __tablename__ = "update_reach"
    post_id: Mapped[int] = mapped_column(
        ForeignKey(Post.id, ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    at: Mapped[datetime] = mapped_column(primary_key=True, index=True)
    kind: Mapped[str]
    programs: Mapped[dict[str, dict[str, int]]] = mapped_column(JSON)


class ProgramDay(Base):
    """All polls of one program on one day (days since 1970, UTC)."""

    __tablename__ = "program_days"
    day: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(primary_key=True)
    requests: Mapped[int]
    not_modified: Mapped[int]
    bytes: Mapped[int] = mapped_column(BigInteger)


class PushArrival(Base):
    """The polls within a minute of a ping: `delays` counts them by seconds, as JSON.

    `hub`: those of them that came from a hub or a cloud.
    """

    __tablename__ = "push_arrivals"
    delivery_id: Mapped[int] = mapped_column(
        ForeignKey(Delivery.id, ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    hub: Mapped[int]
    delays: Mapped[dict[str, int]] = mapped_column(JSON)
