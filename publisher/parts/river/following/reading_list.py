"""Items for reading, by author: lists, unread counts, read marks, stars, search, quotations."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Select, and_, case, delete, func, literal, or_, select
from sqlalchemy.orm import Session

from publisher.base.errors import must_exist
from publisher.base.text import plain_text
from publisher.parts.river.following.subscriptions import in_folder
from publisher.parts.river.tables import RiverFeed, RiverItem, RiverRead, RiverReader, RiverStar
from publisher.storage.full_text import ITEMS

PAGE = 40
_UNDO_SECONDS = 600

Rows: TypeAlias = "Select[*tuple[Any, ...]]"


@dataclass(frozen=True, slots=True)
class ReadingEntry:
    """An item with its feed, and whether the author has read it, and starred it."""

    item: RiverItem
    feed: RiverFeed
    read: bool
    starred: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """A filter of items. `before`: moment and id of the last entry of the previous page.

    A folder includes those inside it, unless it is `exactly` that one.
    """

    feed_id: int | None = None
    folder: str | None = None
    exactly: bool = False
    query: str = ""
    unread_only: bool = False
    starred: bool = False
    by_feed: bool = False
    before: tuple[datetime, int] | None = None


def entries(session: Session, author_id: int, view: View) -> list[ReadingEntry]:
    """Items, newest first, or grouped by feed; PAGE + 1 of them if there is another page."""
    read, items = readable(session, author_id)
    items = items.where(*_wanted(session, author_id, view, read))
    if view.before is not None:
        moment, number = view.before
        older = RiverItem.shown_at < moment
        tied = and_(RiverItem.shown_at == moment, RiverItem.id < number)
        items = items.where(or_(older, tied))
    items = items.order_by(RiverItem.shown_at.desc(), RiverItem.id.desc()).limit(PAGE + 1)
    rows = loaded(session, items)
    if view.by_feed:
        rows[:PAGE] = sorted(rows[:PAGE], key=lambda e: (e.feed.title.lower(), e.feed.id))
    return rows


def item(session: Session, author_id: int, item_id: int) -> ReadingEntry:
    """One item; NotFound when it does not exist, or has been pruned."""
    _, items = readable(session, author_id)
    rows = loaded(session, items.where(RiverItem.id == item_id))
    return must_exist(next(iter(rows), None), "this item is not kept any more")


def loaded(session: Session, statement: Rows) -> list[ReadingEntry]:
    """The rows of a query that `readable` began."""
    rows = session.execute(statement)
    return [ReadingEntry(item, feed, bool(read), bool(star)) for item, feed, read, star in rows]


def unread_counts(session: Session, author_id: int) -> dict[int, int]:
    """How many items of each feed are unread."""
    read = is_read(session, author_id)
    counted = (
        joined(select(RiverItem.feed_id, func.count()), author_id)
        .where(RiverItem.pruned.is_(False), read.is_(False))
        .group_by(RiverItem.feed_id)
    )
    return dict(session.execute(counted).all())


def newest_id(session: Session) -> int:
    """The highest item id: a page passes it to `mark_all`, so that later items stay unread."""
    return session.scalar(select(func.max(RiverItem.id))) or 0


def mark_many(session: Session, author_id: int, item_ids: Sequence[int], read: bool) -> None:
    """Mark items as read or unread; unknown ids are ignored."""
    there = session.scalars(select(RiverItem.id).where(RiverItem.id.in_(item_ids))).all()
    for item_id in there:
        session.merge(RiverRead(author_id=author_id, item_id=item_id, read=read))


def star_many(
    session: Session, author_id: int, item_ids: Sequence[int], starred: bool, now: datetime
) -> None:
    """Star items, or remove their stars; ids that are unknown or pruned get no star."""
    if not starred:
        mine = (RiverStar.author_id == author_id, RiverStar.item_id.in_(item_ids))
        session.execute(delete(RiverStar).where(*mine))
        return
    there = select(RiverItem.id).where(RiverItem.id.in_(item_ids), RiverItem.pruned.is_(False))
    for item_id in session.scalars(there.where(~is_starred(author_id))).all():
        session.add(RiverStar(author_id=author_id, item_id=item_id, starred_at=now))


def mark_all(session: Session, author_id: int, until: int, view: View, now: datetime) -> int:
    """Mark as read what the view shows, up to the item `until`; returns how many were unread.

    The change is kept for `undo_mark_all`, until the next call.
    """
    reader = _reader(session, author_id)
    read = is_read(session, author_id)
    wanted = joined(select(RiverItem.id), author_id).where(
        *_wanted(session, author_id, view, read), read.is_(False), RiverItem.id <= until
    )
    unread = session.scalars(wanted).all()
    if view != View(unread_only=view.unread_only, by_feed=view.by_feed):
        reader.undo = {"at": now.timestamp(), "items": list(unread)}
        mark_many(session, author_id, unread, True)
        return len(unread)
    marks = (RiverRead.author_id == author_id, RiverRead.item_id <= until)
    rows = session.execute(select(RiverRead.item_id, RiverRead.read).where(*marks)).all()
    before = {"until": reader.read_until, "marks": [list(row) for row in rows]}
    reader.undo = {"at": now.timestamp(), **before}
    reader.read_until = max(reader.read_until, min(until, newest_id(session)))
    session.execute(delete(RiverRead).where(*marks))
    return len(unread)


def can_undo(session: Session, author_id: int, now: datetime) -> bool:
    """Whether "mark all as read" was done a moment ago."""
    reader = session.get(RiverReader, author_id)
    done = reader.undo if reader is not None else None
    return done is not None and 0 <= now.timestamp() - done["at"] < _UNDO_SECONDS


def undo_mark_all(session: Session, author_id: int) -> bool:
    """Take back the last "mark all as read"; False when there is none."""
    reader = _reader(session, author_id)
    if (done := reader.undo) is None:
        return False
    if "items" in done:
        mark_many(session, author_id, done["items"], False)
    else:
        reader.read_until = done["until"]
        named = [item_id for item_id, _ in done["marks"]]
        there = set(session.scalars(select(RiverItem.id).where(RiverItem.id.in_(named))))
        for item_id, read in done["marks"]:
            if item_id in there:
                session.merge(RiverRead(author_id=author_id, item_id=item_id, read=read))
    reader.undo = None
    return True


def _reader(session: Session, author_id: int) -> RiverReader:
    """The reading state of an author; a new row the first time."""
    reader = session.get(RiverReader, author_id)
    if reader is None:
        reader = RiverReader(author_id=author_id, read_until=0)
        session.add(reader)
    return reader


def readable(session: Session, author_id: int) -> tuple[ColumnElement[bool], Rows]:
    """Whether an item is read by an author; and the query for items, their feeds, that, and whether
    the author has starred them."""
    read = is_read(session, author_id)
    mine = (RiverStar.author_id == author_id, RiverStar.item_id == RiverItem.id)
    star = select(RiverStar).where(*mine).exists()  # looked up for the rows of a page alone
    items = joined(select(RiverItem, RiverFeed, read, star), author_id)
    return read, items.where(RiverItem.pruned.is_(False))


def joined(statement: Rows, author_id: int) -> Rows:
    mine = and_(RiverRead.item_id == RiverItem.id, RiverRead.author_id == author_id)
    return statement.join(RiverFeed, RiverFeed.id == RiverItem.feed_id).outerjoin(RiverRead, mine)


def is_read(session: Session, author_id: int) -> ColumnElement[bool]:
    reader = session.get(RiverReader, author_id)
    until = reader.read_until if reader else 0
    by_place = case((RiverItem.id <= literal(until), True), else_=False)
    return func.coalesce(RiverRead.read, by_place)


def _wanted(
    session: Session, author_id: int, view: View, read: ColumnElement[bool]
) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if view.feed_id is not None:
        conditions.append(RiverItem.feed_id == view.feed_id)
    if view.folder is not None:
        exact = RiverFeed.folder == view.folder
        conditions.append(exact if view.exactly else in_folder(view.folder))
    if view.starred:
        conditions.append(is_starred(author_id))
    elif view.unread_only and not view.query:
        conditions.append(read.is_(False))
    if view.query:
        conditions.append(RiverItem.id.in_(ITEMS.matching(session, view.query)))
    return conditions


def is_starred(author_id: int) -> ColumnElement[bool]:
    """The condition that an author has starred an item."""
    return RiverItem.id.in_(select(RiverStar.item_id).where(RiverStar.author_id == author_id))


def recent_moments(session: Session, feed_id: int) -> Sequence[datetime]:
    """When the feed's newest items were published, else first seen; oldest first."""
    newest = (
        select(RiverItem.shown_at)
        .where(RiverItem.feed_id == feed_id)
        .order_by(RiverItem.shown_at.desc())
        .limit(2_000)
    )
    return sorted(session.scalars(newest))


_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~&])")
_QUOTED_CHARACTERS = 600


def quotation(entry: ReadingEntry) -> tuple[str, str]:
    """Title and text of a new post about an item."""
    item, feed = entry.item, entry.feed
    words = plain_text(item.html)
    if len(words) > _QUOTED_CHARACTERS:
        words = words[:_QUOTED_CHARACTERS].rsplit(" ", 1)[0] + " …"
    link = item.url or feed.site_url or feed.url
    address = link.replace("<", "%3C").replace(">", "%3E").replace(" ", "%20")
    source = f"[{_escaped(item.title or feed.title or link)}](<{address}>)"
    by = f" ({_escaped(feed.title)})" if item.title and feed.title else ""
    quoted = f"> {_escaped(words)}\n\n" if words else ""
    return item.title, f"{quoted}{source}{by}\n\n"


def _escaped(text: str) -> str:
    """Plain text on one line, with Markdown's special characters escaped."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
