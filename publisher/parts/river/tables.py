"""The river's tables: hosts, feeds, items, visits."""

from datetime import datetime
from typing import Any, Literal

from sqlalchemy import (
    JSON,
    BigInteger,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Text,
    false,
)
from sqlalchemy.orm import Mapped, MappedColumn, mapped_column

from publisher.feed_reading import RULES
from publisher.storage.columns import Base, EncryptedText
from publisher.storage.tables.credentials import Author

FeedState = Literal["active", "gone", "paused", "merged"]
"""`gone`: its server said so (410); `merged`: another subscription asks for the same address."""

# 64 bits everywhere, and still SQLite's own row number there.
_BigKey = BigInteger().with_variant(Integer, "sqlite")


def _feed_id(**options: Any) -> MappedColumn[int]:
    return mapped_column(ForeignKey("river_feeds.id", ondelete="CASCADE"), **options)


def _author_id() -> MappedColumn[int]:
    return mapped_column(ForeignKey(Author.id, ondelete="CASCADE"), primary_key=True)


def _item_id(**options: Any) -> MappedColumn[int]:
    item = ForeignKey("river_items.id", ondelete="CASCADE")
    return mapped_column(_BigKey, item, primary_key=True, **options)


class RiverHost(Base):
    """A unit of work: the hosts of one registrable domain, polled by one owner at a time.

    `free_at` orders the queue: the first moment at which this row may be claimed. While it is
    claimed, that is the end of the lease; null takes it out of the queue. `owner` names the claim.
    `rested_at` is the end of the pause after the last request, `not_before` the end of a pause that
    the server asked for. `strikes` counts requests to slow down; good answers reduce it.
    """

    __tablename__ = "river_hosts"
    name: Mapped[str] = mapped_column(primary_key=True)
    free_at: Mapped[datetime | None] = mapped_column(index=True)
    owner: Mapped[str | None]
    rested_at: Mapped[datetime | None]
    not_before: Mapped[datetime | None]
    delay_seconds: Mapped[float] = mapped_column(default=0.0)
    strikes: Mapped[int] = mapped_column(default=0)


class RiverMachine(Base):
    """An IP address that a process is polling, where several machines share a database.

    On a single machine, locked files do the same (`river.fetching.machines`).
    """

    __tablename__ = "river_machines"
    address: Mapped[str] = mapped_column(primary_key=True)
    owner: Mapped[str]
    leased_until: Mapped[datetime]


class RiverFeed(Base):
    """A subscription; a merged one refers to `merged_into`.

    `url` is what is polled; `added_url` is what was subscribed to. `etag` and `last_modified` are
    verbatim from one answer of `validators_url`. `memory` belongs to the poll policy;
    `reasons` explain `next_poll_at`, `remarks` say how the feed was read (`polls.feed_remarks`).
    `window` holds 16 bytes per item of the last document. `rules` is the number of the rules by
    which its items were read (`feed_reading.RULES`; 0: those of version 1.0.0).
    `title` is shown; it is the feed's own, `feed_title`, unless a person has `renamed` it.
    `public`: its owner shows it in the blogroll.
    `offered_url` is the target of a permanent redirect that is not trusted yet. `leads_to` is
    another host, at which redirects of `url` end: a poll claims it as well.
    `is_list`: it is a list of feeds (OPML); `list_id` is the list that a feed came with (no
    foreign key: SQLite cannot add one to an existing table).
    """

    __tablename__ = "river_feeds"
    id: Mapped[int] = mapped_column(primary_key=True)
    url: Mapped[str] = mapped_column(unique=True)
    added_url: Mapped[str]
    host: Mapped[str]
    leads_to: Mapped[str | None]
    title: Mapped[str] = mapped_column(default="")
    feed_title: Mapped[str] = mapped_column(default="", server_default="")
    renamed: Mapped[bool] = mapped_column(default=False, server_default=false())
    site_url: Mapped[str] = mapped_column(default="")
    folder: Mapped[str] = mapped_column(default="")
    policy: Mapped[str] = mapped_column(default="")
    state: Mapped[FeedState] = mapped_column(String, default="active")
    public: Mapped[bool] = mapped_column(default=False, server_default=false())
    merged_into: Mapped[int | None] = mapped_column(ForeignKey("river_feeds.id"))
    is_list: Mapped[bool] = mapped_column(default=False, server_default=false())
    list_id: Mapped[int | None] = mapped_column(index=True)
    added_at: Mapped[datetime]
    next_poll_at: Mapped[datetime | None]
    last_polled_at: Mapped[datetime | None]
    last_success_at: Mapped[datetime | None]
    last_new_at: Mapped[datetime | None]
    asked_at: Mapped[datetime | None]
    gone_at: Mapped[datetime | None]
    status: Mapped[int] = mapped_column(default=0)
    problem: Mapped[str] = mapped_column(default="")
    detail: Mapped[str] = mapped_column(Text, default="")
    failures: Mapped[int] = mapped_column(default=0)
    limited: Mapped[int] = mapped_column(default=0)
    etag: Mapped[str | None]
    last_modified: Mapped[str | None]
    validators_url: Mapped[str | None]
    content_hash: Mapped[bytes] = mapped_column(LargeBinary, default=b"")
    window: Mapped[bytes] = mapped_column(LargeBinary, default=b"")
    rules: Mapped[int] = mapped_column(default=RULES, server_default="0")
    memory: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    reasons: Mapped[list[str]] = mapped_column(JSON, default=list)
    remarks: Mapped[list[Any]] = mapped_column(JSON, default=list, server_default="[]")
    offered_url: Mapped[str | None]
    offered_at: Mapped[datetime | None]
    offers: Mapped[int] = mapped_column(default=0)
    username: Mapped[str] = mapped_column(default="")
    password: Mapped[str] = mapped_column(EncryptedText, default="")
    auth_scheme: Mapped[str] = mapped_column(default="")
    __table_args__ = (Index("ix_river_feeds_due", "host", "state", "next_poll_at"),)


class RiverList(Base):
    """The last version of a subscribed list: `folders` by the feeds' addresses in it."""

    __tablename__ = "river_lists"
    feed_id: Mapped[int] = _feed_id(primary_key=True)
    folders: Mapped[dict[str, str]] = mapped_column(JSON)


class RiverItem(Base):
    """An entry of a feed. `html` is cleaned; a pruned item keeps only what identifies it.

    `shown_at` orders the river: the feed's date, if it is plausible, else when it was first seen.
    `details` are its other fields: categories, image, duration_seconds, episode.
    """

    __tablename__ = "river_items"
    id: Mapped[int] = mapped_column(_BigKey, primary_key=True)
    feed_id: Mapped[int] = _feed_id()
    key: Mapped[bytes] = mapped_column(LargeBinary)
    fingerprint: Mapped[bytes] = mapped_column(LargeBinary)
    url: Mapped[str] = mapped_column(Text)
    title: Mapped[str] = mapped_column(Text)
    html: Mapped[str] = mapped_column(Text)
    author: Mapped[str]
    enclosures: Mapped[list[Any]] = mapped_column(JSON)
    details: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict, server_default="{}")
    published_at: Mapped[datetime | None]
    seen_at: Mapped[datetime]
    changed_at: Mapped[datetime | None]
    shown_at: Mapped[datetime]
    pruned: Mapped[bool] = mapped_column(default=False)
    __table_args__ = (
        Index("ix_river_items_key", "feed_id", "key", unique=True),
        Index("ix_river_items_fingerprint", "feed_id", "fingerprint"),
        Index("ix_river_items_listing", "pruned", "shown_at", "id"),
        Index("ix_river_items_feed", "feed_id", "pruned", "shown_at", "id"),
    )


class RiverVisit(Base):
    """One poll. `told_seconds` is how long its answer asked us to wait before the next one.

    `requests` counts all HTTP requests: redirects and second tries with a password too.
    """

    __tablename__ = "river_visits"
    id: Mapped[int] = mapped_column(_BigKey, primary_key=True)
    feed_id: Mapped[int] = _feed_id()
    at: Mapped[datetime]
    status: Mapped[int]
    conditional: Mapped[bool]
    size_bytes: Mapped[int]
    new_items: Mapped[int]
    content_hash: Mapped[bytes] = mapped_column(LargeBinary)
    told_seconds: Mapped[int | None]
    problem: Mapped[str]
    requests: Mapped[int] = mapped_column(default=1, server_default="1")
    __table_args__ = (
        Index("ix_river_visits_feed", "feed_id", "at"),
        Index("ix_river_visits_at", "at"),
    )


class RiverGap(Base):
    """Items that a feed showed between two polls and that were missed; `items` is an estimate."""

    __tablename__ = "river_gaps"
    id: Mapped[int] = mapped_column(primary_key=True)
    feed_id: Mapped[int] = _feed_id(index=True)
    begins_at: Mapped[datetime]
    ends_at: Mapped[datetime]
    items: Mapped[int | None]


class RiverMove(Base):
    """A feed took a new address; `undone_at` when a person sent it back."""

    __tablename__ = "river_moves"
    id: Mapped[int] = mapped_column(primary_key=True)
    feed_id: Mapped[int] = _feed_id(index=True)
    at: Mapped[datetime]
    from_url: Mapped[str]
    to_url: Mapped[str]
    undone_at: Mapped[datetime | None]


class RiverRead(Base):
    """An author's mark on an item that differs from their `RiverReader.read_until`."""

    __tablename__ = "river_reads"
    author_id: Mapped[int] = _author_id()
    item_id: Mapped[int] = _item_id()
    read: Mapped[bool]


class RiverStar(Base):
    """An item that an author keeps: it is not pruned."""

    __tablename__ = "river_stars"
    author_id: Mapped[int] = _author_id()
    item_id: Mapped[int] = _item_id(index=True)
    starred_at: Mapped[datetime]


class RiverReader(Base):
    """How far an author has read: every item up to this one counts as read.

    `undo` is what the last "mark all as read" changed (see `reading_list.undo_mark_all`).
    """

    __tablename__ = "river_readers"
    author_id: Mapped[int] = _author_id()
    read_until: Mapped[int] = mapped_column(BigInteger)
    undo: Mapped[dict[str, Any] | None] = mapped_column(JSON)


class RiverCrawl(Base):
    """An address that another program crawls: tens of thousands of visits a second.

    Hence plain numbers: epochs are seconds since 1970, `state` is the estimator's, as
    packed doubles.
    """

    __tablename__ = "river_crawls"
    digest: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    url: Mapped[str] = mapped_column(Text)
    visits: Mapped[int]
    last_visit_epoch: Mapped[float]
    last_hash: Mapped[str] = mapped_column(Text)
    estimated_frequency_seconds: Mapped[int | None]
    state: Mapped[bytes] = mapped_column(LargeBinary)


class RiverCrawlVisit(Base):
    """One visit of another program's crawler, in its group; `extra` is JSON as text."""

    __tablename__ = "river_crawl_visits"
    id: Mapped[int] = mapped_column(_BigKey, primary_key=True)
    digest: Mapped[bytes] = mapped_column(LargeBinary)
    group: Mapped[int]
    epoch: Mapped[float]
    hash: Mapped[str] = mapped_column(Text)
    extra: Mapped[str | None] = mapped_column(Text)
    __table_args__ = (Index("ix_river_crawl_visits_digest", "digest", "epoch"),)
