"""The readers' tables: polls as they were counted, and the sums per reader, day and hour."""

from datetime import datetime

from sqlalchemy import (
    JSON,
    BigInteger,
    ForeignKey,
    LargeBinary,
    Text,
)
from sqlalchemy.orm import Mapped, mapped_column

from publisher.storage.columns import Base


class ReaderKey(Base):
    """The key that hashes addresses during one week (number of weeks since 1970)."""

    __tablename__ = "reader_keys"
    week: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    key: Mapped[bytes] = mapped_column(LargeBinary)


class PollBatch(Base):
    """Polls that a worker has counted and nobody has folded into the tables below yet."""

    __tablename__ = "poll_batches"
    id: Mapped[int] = mapped_column(primary_key=True)
    payload: Mapped[bytes] = mapped_column(LargeBinary)


class ReaderClient(Base):
    """A reader: `client` is a keyed hash of address and agent; the address itself is not kept.

    `subscribers` is what its agent announces, cut at a limit (`subscribers_capped`).
    `first_at` and `last_at` are seconds since 1970.
    """

    __tablename__ = "reader_clients"
    client: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    agent: Mapped[str] = mapped_column(Text)
    name: Mapped[str]
    version: Mapped[str]
    subscribers: Mapped[int]
    subscribers_capped: Mapped[bool]
    first_at: Mapped[float] = mapped_column(index=True)
    last_at: Mapped[float]


class ReaderFeed(Base):
    """What one reader was told by one document, and when: the base of its next interval.

    `seen_at`: Last-Modified of the version that it holds; `full_at`: when it last got a body;
    `asked_back_at`: the moment that a 429 told it to wait for. Seconds since 1970.
    """

    __tablename__ = "reader_feeds"
    client: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    document: Mapped[str] = mapped_column(primary_key=True)
    last_at: Mapped[float]
    told_minutes: Mapped[int]
    seen_at: Mapped[float]
    full_at: Mapped[float]
    asked_back_at: Mapped[float | None]


class ReaderDay(Base):
    """One reader's sums as they stood at the end of a day (days since 1970, UTC) with polls.

    They run on from day to day, so that any span of days is one subtraction. `told`: the intervals
    by class of the ttl before them, as "class:intervals:on time:early:seconds ...". `spans` alone
    is of the day itself: how often which interval followed which ttl, as "ttl:seconds:count ..."
    with rounded seconds. Client 0 is everybody beyond the limit.
    """

    __tablename__ = "reader_days"
    client: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    day: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    requests: Mapped[int] = mapped_column(default=0)
    full: Mapped[int] = mapped_column(default=0)
    not_modified: Mapped[int] = mapped_column(default=0)
    refused: Mapped[int] = mapped_column(default=0)
    refused_obeyed: Mapped[int] = mapped_column(default=0)
    bytes: Mapped[int] = mapped_column(BigInteger, default=0)
    first: Mapped[int] = mapped_column(default=0)
    conditional: Mapped[int] = mapped_column(default=0)
    stale: Mapped[int] = mapped_column(default=0)
    invented: Mapped[int] = mapped_column(default=0)
    gzip: Mapped[int] = mapped_column(default=0)
    ttl_only: Mapped[int] = mapped_column(default=0)
    ttl_only_bytes: Mapped[int] = mapped_column(BigInteger, default=0)
    saved_by_304_bytes: Mapped[int] = mapped_column(BigInteger, default=0)
    saved_by_gzip_bytes: Mapped[int] = mapped_column(BigInteger, default=0)
    intervals: Mapped[int] = mapped_column(default=0)
    interval_seconds: Mapped[int] = mapped_column(BigInteger, default=0)
    on_time: Mapped[int] = mapped_column(default=0)
    early: Mapped[int] = mapped_column(default=0)
    fast: Mapped[int] = mapped_column(default=0)
    told: Mapped[str] = mapped_column(Text, default="")
    spans: Mapped[str] = mapped_column(Text, default="")
    __table_args__ = ({"sqlite_with_rowid": False},)


class PollHour(Base):
    """All polls of one hour (hours since 1970, UTC)."""

    __tablename__ = "poll_hours"
    hour: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    requests: Mapped[int]
    not_modified: Mapped[int]
    bytes: Mapped[int] = mapped_column(BigInteger)


class PostReach(Base):
    """How soon readers had a post: `delays` counts them by rounded seconds, as JSON."""

    __tablename__ = "post_reach"
    post_id: Mapped[int] = mapped_column(
        ForeignKey("posts.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    published_at: Mapped[datetime] = mapped_column(index=True)
    readers: Mapped[int]
    delays: Mapped[dict[str, int]] = mapped_column(JSON)
