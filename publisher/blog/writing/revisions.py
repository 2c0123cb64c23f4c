"""Revisions: the whole content of a post at each save, to compare and to bring back."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.base.errors import NotFound
from publisher.blog.writing import posts
from publisher.blog.writing.content import FIELDS, Content, from_plain
from publisher.blog.writing.content_fields import Choice
from publisher.blog.writing.difference import Piece, difference
from publisher.storage.tables.blog import Post, Revision
from publisher.storage.tables.credentials import Author


@dataclass(frozen=True)
class RevisionSummary:
    """One save in the list: when, by whom, and whether it was minor."""

    version: int
    saved_at: datetime
    minor: bool
    author: str
    words: int


@dataclass(frozen=True)
class Change:
    """What differs in one field between two states of a post; `label` names it to people."""

    name: str
    label: str
    pieces: list[Piece]


def history(session: Session, post: Post, limit: int = 200) -> Sequence[RevisionSummary]:
    """The newest saves of a post, newest first."""
    rows = session.execute(
        select(Revision, Author.display_name)
        .outerjoin(Author, Author.id == Revision.author_id)
        .where(Revision.post_id == post.id)
        .order_by(Revision.version.desc())
        .limit(limit)
    )
    return [
        RevisionSummary(
            row.version, row.saved_at, row.minor, name or "", len(row.content["source"].split())
        )
        for row, name in rows
    ]


def get(session: Session, post: Post, version: int) -> Revision:
    """The version with this number; NotFound when there is none."""
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


def changes(old: Revision | None, new: Revision) -> list[Change]:
    """The fields that differ between `old` and `new`; `old` None stands for an empty post.

    A field that one of the two does not have (it is older than the field) is left out. So are
    choices in a first version.
    """
    before = from_plain(old.content) if old else vars(Content())
    after = from_plain(new.content)
    return [
        Change(f.name, f.label, difference(f.text(before[f.name]), f.text(after[f.name])))
        for f in FIELDS
        if f.name in before and f.name in after and (old or not isinstance(f, Choice))
        if not f.same(before[f.name], after[f.name])
    ]


def restore(
    session: Session, post: Post, revision: Revision, author_id: int | None, now: datetime
) -> Post:
    """Save an earlier version as a new one: later versions stay, and readers get an update.

    A field that did not exist at that time stays as it is now.
    """
    earlier = replace(posts.content(session, post), **from_plain(revision.content))
    return posts.save(session, post.id, earlier, post.version, author_id, now)
