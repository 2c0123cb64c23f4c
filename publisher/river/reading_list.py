"""The river as somebody reads it: lists of items, what is unread, marks, search."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    case,
    delete,
    func,
    literal,
    or_,
    select,
    text,
)
from sqlalchemy.orm import Session

from publisher.base.errors import NotFound
from publisher.storage.tables.river import RiverFeed, RiverItem, RiverRead, RiverReader

PAGE = 40

Rows: TypeAlias = "Select[*tuple[Any, ...]]"


@dataclass(frozen=True, slots=True)
class ReadingEntry:
    """An item with the feed it came from, and whether its reader has read it."""

    item: RiverItem
    feed: RiverFeed
    read: bool


@dataclass(frozen=True, slots=True)
class View:
    """What is asked for. `before` is the place of the last entry of the page before."""

    feed_id: int | None = None
    folder: str | None = None
    query: str = ""
    unread_only: bool = False
    by_feed: bool = False
    before: tuple[datetime, int] | None = None


def entries(session: Session, author_id: int, view: View, limit: int = PAGE) -> list[ReadingEntry]:
    """Items, newest first; grouped by feed when the view says so. One more than a page at most."""
    read = _is_read(session, author_id)
    found = _visible(author_id).add_columns(read.label("read")).where(*_wanted(session, view, read))
    if view.before is not None:
        moment, number = view.before
        older = RiverItem.shown_at < moment
        tied = and_(RiverItem.shown_at == moment, RiverItem.id < number)
        found = found.where(or_(older, tied))
    found = found.order_by(RiverItem.shown_at.desc(), RiverItem.id.desc()).limit(limit + 1)
    rows = [ReadingEntry(item, feed, bool(seen)) for item, feed, seen in session.execute(found)]
    if view.by_feed:
        rows[:limit] = sorted(rows[:limit], key=lambda e: (e.feed.title.lower(), e.feed.id))
    return rows


def one(session: Session, author_id: int, item_id: int) -> ReadingEntry:
    """One item; NotFound when it is not there, or not any more."""
    read = _is_read(session, author_id)
    found = _visible(author_id).add_columns(read.label("read")).where(RiverItem.id == item_id)
    row = session.execute(found).first()
    if row is None:
        raise NotFound("this item is not kept any more")
    item, feed, seen = row
    return ReadingEntry(item, feed, bool(seen))


def unread_counts(session: Session, author_id: int) -> dict[int, int]:
    """How many items of each feed are unread."""
    read = _is_read(session, author_id)
    counted = (
        _joined(select(RiverItem.feed_id, func.count()), author_id)
        .where(RiverItem.pruned.is_(False), read.is_(False))
        .group_by(RiverItem.feed_id)
    )
    return dict(session.execute(counted).all())


def newest_id(session: Session) -> int:
    """The number of the newest item: "all read" means up to what was on the page."""
    return session.scalar(select(func.max(RiverItem.id))) or 0


def mark(session: Session, author_id: int, item_id: int, read: bool) -> None:
    """Mark one item as read or unread; NotFound when it is not there."""
    one(session, author_id, item_id)
    session.merge(RiverRead(author_id=author_id, item_id=item_id, read=read))


def mark_all(session: Session, author_id: int, until: int, view: View) -> None:
    """Mark as read what the view shows, up to the item `until`."""
    if view.feed_id is None and view.folder is None and not view.query:
        reader = session.get(RiverReader, author_id) or RiverReader(
            author_id=author_id, read_until=0
        )
        reader.read_until = max(reader.read_until, min(until, newest_id(session)))
        session.add(reader)
        session.execute(
            delete(RiverRead).where(RiverRead.author_id == author_id, RiverRead.item_id <= until)
        )
        return
    read = _is_read(session, author_id)
    wanted = _joined(select(RiverItem.id), author_id).where(
        *_wanted(session, view, read), read.is_(False), RiverItem.id <= until
    )
    for item_id in session.scalars(wanted).all():
        session.merge(RiverRead(author_id=author_id, item_id=item_id, read=True))


def _visible(author_id: int) -> Rows:
    return _joined(select(RiverItem, RiverFeed), author_id).where(RiverItem.pruned.is_(False))


def _joined(statement: Rows, author_id: int) -> Rows:
    mine = and_(RiverRead.item_id == RiverItem.id, RiverRead.author_id == author_id)
    return statement.join(RiverFeed, RiverFeed.id == RiverItem.feed_id).outerjoin(RiverRead, mine)


def _is_read(session: Session, author_id: int) -> ColumnElement[bool]:
    reader = session.get(RiverReader, author_id)
    until = reader.read_until if reader else 0
    by_place = case((RiverItem.id <= literal(until), True), else_=False)
    return func.coalesce(RiverRead.read, by_place)


def _wanted(session: Session, view: View, read: ColumnElement[bool]) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if view.feed_id is not None:
        conditions.append(RiverItem.feed_id == view.feed_id)
    if view.folder is not None:
        conditions.append(RiverFeed.folder == view.folder)
    if view.unread_only and not view.query:
        conditions.append(read.is_(False))
    if view.query:
        conditions.append(_matching(session, view.query))
    return conditions


def _matching(session: Session, query: str) -> ColumnElement[bool]:
    """Items with all words of a query, the last of which may be unfinished."""
    words = re.findall(r"\w+", query)[:12]
    if session.get_bind().dialect.name != "sqlite":
        like = [f"%{word}%" for word in words]
        return and_(*(RiverItem.title.ilike(w) | RiverItem.html.ilike(w) for w in like))
    match = " ".join(f'"{word}"' for word in words) + "*" if words else '""'
    hits = text("SELECT rowid FROM river_search WHERE river_search MATCH :match")
    return RiverItem.id.in_(hits.bindparams(match=match).columns(RiverItem.id))


def recent_moments(session: Session, feed_id: int, limit: int = 2_000) -> Sequence[datetime]:
    """When the feed's items came, oldest first: what its day is learnt from."""
    newest = (
        select(RiverItem.shown_at)
        .where(RiverItem.feed_id == feed_id)
        .order_by(RiverItem.shown_at.desc())
        .limit(limit)
    )
    return sorted(session.scalars(newest))
