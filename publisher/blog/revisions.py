"""What a post said earlier: every save is kept, can be compared and brought back."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.base.errors import NotFound
from publisher.blog import posts
from publisher.blog.difference import Piece, difference
from publisher.storage.tables.blog import Author, Post, Revision


@dataclass(frozen=True)
class Entry:
    """One save in the list: when, by whom, and whether it was minor."""

    version: int
    saved_at: datetime
    minor: bool
    author: str
    words: int


@dataclass(frozen=True)
class Changes:
    """What differs between two states of a post, a field each."""

    title: list[Piece]
    summary: list[Piece]
    tags: list[Piece]
    source: list[Piece]


def history(session: Session, post: Post, limit: int = 200) -> Sequence[Entry]:
    """The newest saves of a post, newest first."""
    rows = session.execute(
        select(Revision, Author.display_name)
        .outerjoin(Author, Author.id == Revision.author_id)
        .where(Revision.post_id == post.id)
        .order_by(Revision.version.desc())
        .limit(limit)
    )
    return [
        Entry(row.version, row.saved_at, row.minor, name or "", len(row.source.split()))
        for row, name in rows
    ]


def get(session: Session, post: Post, version: int) -> Revision:
    """One earlier state; NotFound when there is none of that number."""
    found = session.scalar(
        select(Revision).where(Revision.post_id == post.id, Revision.version == version)
    )
    if found is None:
        raise NotFound(f"this post has no version {version}")
    return found


def before(session: Session, revision: Revision) -> Revision | None:
    """The state that was replaced by `revision`."""
    return session.scalar(
        select(Revision)
        .where(Revision.post_id == revision.post_id, Revision.version < revision.version)
        .order_by(Revision.version.desc())
        .limit(1)
    )


def changes(old: Revision | None, new: Revision) -> Changes:
    """From one state to another; from nothing when `old` is None."""
    names = ("title", "summary", "tags", "source")
    return Changes(*(difference(getattr(old, name, ""), getattr(new, name)) for name in names))


def restore(
    session: Session, post: Post, revision: Revision, author_id: int, now: datetime
) -> Post:
    """Save an earlier state anew: nothing in between is lost, and readers get an update."""
    earlier = replace(
        posts.content(session, post),
        title=revision.title,
        source=revision.source,
        summary=revision.summary,
        tags=tuple(name for name in revision.tags.split(", ") if name),
    )
    return posts.save(session, post.id, earlier, post.version, author_id, now)
