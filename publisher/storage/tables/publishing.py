"""The tables of publishing: documents that are served, their versions, messages to send."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Index, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from publisher.storage.columns import Base


class Snapshot(Base):
    """A rendered document: the bytes that every worker serves, and the decision behind them.

    `serial` grows with each build; `decided_at` is the moment g that the decision belongs to;
    `content_hash` covers the content without the ttl; `content_changed_at` is lastBuildDate;
    `second_shared`: two different builds share the second of `last_modified`; `item_history` is
    `feeds.deltas.History`.
    """

    __tablename__ = "snapshots"
    name: Mapped[str] = mapped_column(primary_key=True)
    serial: Mapped[int]
    content_type: Mapped[str]
    body: Mapped[bytes] = mapped_column(LargeBinary)
    body_gzip: Mapped[bytes] = mapped_column(LargeBinary)
    etag: Mapped[str]
    last_modified: Mapped[datetime]
    second_shared: Mapped[bool]
    content_hash: Mapped[str]
    content_changed_at: Mapped[datetime]
    ttl_minutes: Mapped[int]
    decision: Mapped[dict[str, Any]] = mapped_column(JSON)
    decided_at: Mapped[datetime]
    built_at: Mapped[datetime]
    item_history: Mapped[dict[str, Any] | None] = mapped_column(JSON)


class DocumentVersion(Base):
    """One row each time the bytes of a served document changed: what they said, and when.

    `bytes` and `gzip_bytes` are the sizes of the two bodies.
    """

    __tablename__ = "document_versions"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    built_at: Mapped[datetime]
    etag: Mapped[str]
    last_modified: Mapped[datetime]
    content_hash: Mapped[str]
    ttl_minutes: Mapped[int]
    bytes: Mapped[int]
    gzip_bytes: Mapped[int]
    __table_args__ = (Index("ix_document_versions_time", "name", "built_at"),)


class Delivery(Base):
    """One message to send: to a hub (`protocol` websub), a cloud (rsscloud), or to the page that
    a post links to (webmention, where `topic` is the post's path).

    It is tried again at `next_at` until `delivered_at` or `given_up_at` is set.
    """

    __tablename__ = "deliveries"
    id: Mapped[int] = mapped_column(primary_key=True)
    protocol: Mapped[str]
    target: Mapped[str]
    topic: Mapped[str]
    created_at: Mapped[datetime]
    next_at: Mapped[datetime | None] = mapped_column(index=True)
    attempts: Mapped[int] = mapped_column(default=0)
    delivered_at: Mapped[datetime | None]
    given_up_at: Mapped[datetime | None]
    answer: Mapped[str] = mapped_column(default="")
