"""The table of mentions."""

from datetime import datetime
from typing import Literal

from sqlalchemy import ForeignKey, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from publisher.storage.columns import Base
from publisher.storage.tables.blog import Post

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
