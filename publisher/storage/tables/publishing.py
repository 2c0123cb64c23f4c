"""The tables of publishing: documents that are served, their versions, pings to send, mentions."""

from datetime import datetime
from typing import Any, Literal

from sqlalchemy import (
    JSON,
    ForeignKey,
    Index,
    LargeBinary,
    String,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import Mapped, mapped_column

from publisher.storage.columns import Base
from publisher.storage.tables.blog import Post


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


MentionState = Literal["new", "waiting", "shown", "refused"]


class Mention(Base):
    """A page elsewhere that says it links to a post here (Webmention).

    `state`: new until the page was looked at, waiting for the author, shown, refused. `next_at` is
    when to look (again). `said` is how it links: mention, reply, like, share; `target` the address
    that it used; `author`, `title` and `words` are plain text from there.
    """

    __tablename__ = "mentions"
    id: Mapped[int] = mapped_column(primary_key=True)
    post_id: Mapped[int] = mapped_column(ForeignKey(Post.id, ondelete="CASCADE"), index=True)
    source: Mapped[str]
    target: Mapped[str]
    state: Mapped[MentionState] = mapped_column(String, default="new")
    said: Mapped[str] = mapped_column(default="mention")
    author: Mapped[str] = mapped_column(default="")
    title: Mapped[str] = mapped_column(default="")
    words: Mapped[str] = mapped_column(Text, default="")
    received_at: Mapped[datetime]
    next_at: Mapped[datetime | None] = mapped_column(index=True)
    attempts: Mapped[int] = mapped_column(default=0)
    __table_args__ = (UniqueConstraint("source", "post_id"),)
