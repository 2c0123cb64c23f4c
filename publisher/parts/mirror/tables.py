"""The table of mirrors: feeds of other sites that this one serves with its own freshness."""

from datetime import datetime

from sqlalchemy import LargeBinary, Text
from sqlalchemy.orm import Mapped, mapped_column

from publisher.storage.columns import Base


def path_of(name: str) -> str:
    """Where a mirror's document is served; also the name of its snapshot."""
    return f"/mirror/{name}.xml"


class Mirror(Base):
    """One mirrored feed, served at `/mirror/<name>.xml` from the snapshot of that name.

    `body` is the origin's last good document as it came, `history` the FeedHistory as JSON.
    `asked_at`: when a ping asked for a poll that has not happened yet. Pings need the token of
    `token_hash`. `hub_*` is the subscription at the origin's hub: its address, topic, begin, end
    and secret; `hub_key` is part of the callback's address.
    """

    __tablename__ = "mirrors"
    name: Mapped[str] = mapped_column(primary_key=True)
    url: Mapped[str] = mapped_column(Text)
    timezone: Mapped[str]
    token_hash: Mapped[str]
    added_at: Mapped[datetime]
    asked_at: Mapped[datetime | None]
    asked_by: Mapped[str] = mapped_column(default="")
    next_poll_at: Mapped[datetime | None]
    last_polled_at: Mapped[datetime | None]
    last_good_at: Mapped[datetime | None]
    last_new_at: Mapped[datetime | None]
    status: Mapped[int] = mapped_column(default=0)
    problem: Mapped[str] = mapped_column(Text, default="")
    failures: Mapped[int] = mapped_column(default=0)
    etag: Mapped[str | None]
    last_modified: Mapped[str | None]
    validators_url: Mapped[str | None]
    title: Mapped[str] = mapped_column(Text, default="")
    content_type: Mapped[str] = mapped_column(default="")
    body: Mapped[bytes] = mapped_column(LargeBinary, default=b"")
    content_hash: Mapped[str] = mapped_column(default="")
    content_changed_at: Mapped[datetime | None]
    undated: Mapped[bool] = mapped_column(default=False)
    history: Mapped[str] = mapped_column(Text, default="")
    hub_url: Mapped[str] = mapped_column(Text, default="")
    hub_topic: Mapped[str] = mapped_column(Text, default="")
    hub_key: Mapped[str] = mapped_column(default="")
    hub_secret: Mapped[str] = mapped_column(default="")
    hub_asked_at: Mapped[datetime | None]
    hub_until: Mapped[datetime | None]

    @property
    def path(self) -> str:
        """Where its document is served."""
        return path_of(self.name)
