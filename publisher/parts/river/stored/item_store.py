"""Storage of feed items: inserting, updating, full-text search, pruning; gaps.

A document holds the newest items only. A poll later than one turnover (the time in which all of
them are replaced) after the last one misses items; the document then holds none that is known.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Any, TypeAlias, cast

from sqlalchemy import ColumnElement, Table, bindparam, delete, func, insert, select, update
from sqlalchemy.orm import Session

from publisher.dynamic_ttl.core.durations import duration
from publisher.feed_reading.feed_document import FeedDocument, FeedItem, plausible, unpack
from publisher.parts.river.stored.identity import recognised
from publisher.parts.river.stored.poll_rows import FeedRow
from publisher.parts.river.tables import RiverFeed, RiverGap, RiverItem, RiverStar, RiverVisit
from publisher.storage.full_text import ITEMS

NewRow: TypeAlias = tuple[dict[str, Any], str]
"""The columns of an item that is not stored yet, and its text for the search."""

_ALWAYS_KEPT = 20
_FORGOTTEN_AFTER = timedelta(days=730)
# Statements on the table, not on its ORM class: they run for every poll, and the ORM costs more.
_ITEMS = cast("Table", RiverItem.__table__)
_INSERT = insert(_ITEMS)
_LAST = select(func.max(_ITEMS.c.id))
_SINCE = select(_ITEMS.c.id, _ITEMS.c.feed_id, _ITEMS.c.key).where(_ITEMS.c.id > bindparam("last"))


@dataclass(frozen=True, slots=True)
class Kept:
    """What a document brought: its new items, and how many known ones were edited.

    `moved` and `renamed` as in `identity.Recognised`.
    """

    new: list[FeedItem]
    edited: int = 0
    moved: int = 0
    renamed: int = 0


def keep(
    session: Session,
    feed: RiverFeed | FeedRow,
    document: FeedDocument,
    url: str,
    now: datetime,
    new_rows: list[NewRow],
    *,
    anew: bool = False,
) -> Kept:
    """Take in the items of a document from `url`; the rows of new ones are appended to `new_rows`
    and stored by `insert_new`.

    A known item whose content differs is updated and does not count as new. `anew`: known items
    were read by other rules, and may have other dates and files than are stored.
    """
    recognition = recognised(session, feed, document, url, now, anew=anew)
    fresh: list[FeedItem] = []
    edited = 0
    for item, row in zip(document.items, recognition.rows, strict=True):
        if row is None:
            fresh.append(item)
        elif anew or (row.key, row.fingerprint) != (item.key, item.fingerprint):
            _update(session, session.get_one(RiverItem, row.id), item, now, anew=anew)
            edited += row.fingerprint != item.fingerprint
    new_rows += [_row(feed, item, now) for item in reversed(fresh)]  # newest: highest id
    return Kept(fresh, edited, recognition.moved, recognition.renamed)


def insert_new(session: Session, new_rows: Sequence[NewRow]) -> None:
    """Insert the new items of a whole batch of visits, and index them for the search.

    Their ids come from a second query: INSERT ... RETURNING would need a statement of its own for
    each batch size, and building it takes longer than everything else.
    """
    if not new_rows:
        return
    last = session.scalar(_LAST) or 0
    session.execute(_INSERT, [columns for columns, _ in new_rows])
    stored = session.execute(_SINCE, {"last": last})
    numbers = {(feed_id, key): number for number, feed_id, key in stored}
    ITEMS.add(
        session,
        (
            (numbers[columns["feed_id"], columns["key"]], columns["title"], words)
            for columns, words in new_rows
        ),
    )


def _row(feed: RiverFeed | FeedRow, item: FeedItem, now: datetime) -> NewRow:
    published = plausible(item.published_at, now)
    columns = {
        "feed_id": feed.id,
        "key": item.key,
        "fingerprint": item.fingerprint,
        **_content(item),
        "published_at": published,
        "seen_at": now,
        "shown_at": published or now,
        "pruned": False,
    }
    return columns, item.words


def _content(item: FeedItem) -> dict[str, Any]:
    """The columns that an edit changes."""
    files = [[file.url, file.media_type, file.length] for file in item.enclosures]
    return {
        "url": item.url, "title": item.title, "html": item.html, "author": item.author,
        "enclosures": files, "details": item.details.as_json(),
    }  # fmt: skip


def _update(session: Session, row: RiverItem, item: FeedItem, now: datetime, *, anew: bool) -> None:
    """Update a stored item that was edited, has another id now, or was read anew."""
    edited = row.fingerprint != item.fingerprint
    row.key, row.fingerprint = item.key, item.fingerprint
    if row.pruned or not (edited or anew):
        return
    for name, value in _content(item).items():
        setattr(row, name, value)
    if anew and (published := plausible(item.published_at, row.seen_at)) is not None:
        row.published_at = row.shown_at = published  # an edit alone does not move an item
    if not session.is_modified(row):
        return
    if edited:
        row.changed_at = now
    session.flush()
    ITEMS.remove(session, [row.id])
    ITEMS.add(session, [(row.id, row.title, item.words)])


def keep_starred(session: Session, feed_id: int) -> int:
    """Delete the items of a feed except starred ones; returns how many stay."""
    starred = RiverItem.id.in_(select(RiverStar.item_id))
    drop(session, RiverItem.feed_id == feed_id, ~starred)
    remaining = select(func.count()).select_from(RiverItem).where(RiverItem.feed_id == feed_id)
    return session.scalar(remaining) or 0


def drop(session: Session, *which: ColumnElement[bool]) -> None:
    """Delete these items."""
    ITEMS.remove(session, session.scalars(select(RiverItem.id).where(*which)))
    session.execute(
        delete(RiverItem).where(*which), execution_options={"synchronize_session": False}
    )


def prune(session: Session, now: datetime, keep_days: int, keep_items: int) -> int:
    """Empty the items beyond the limits of age and number; returns how many.

    Their hashes stay for two years, so that they do not come back as new. The newest 20 of each
    feed are kept whatever their age, starred ones in any case.
    """
    place = (
        func.row_number()
        .over(partition_by=RiverItem.feed_id, order_by=(RiverItem.shown_at.desc(), RiverItem.id))
        .label("place")
    )
    ranked = (
        select(RiverItem.id, RiverItem.shown_at, place)
        .where(RiverItem.pruned.is_(False), RiverItem.id.not_in(select(RiverStar.item_id)))
        .subquery()
    )
    oldest = now - timedelta(days=keep_days)
    aged = (ranked.c.shown_at < oldest) & (ranked.c.place > _ALWAYS_KEPT)
    ids = list(session.scalars(select(ranked.c.id).where(aged | (ranked.c.place > keep_items))))
    for start in range(0, len(ids), 500):
        part = ids[start : start + 500]
        ITEMS.remove(session, part)
        session.execute(
            update(RiverItem)
            .where(RiverItem.id.in_(part))
            .values(pruned=True, html="", title="", author="", enclosures=[], details={})
        )
    session.execute(
        delete(RiverItem).where(RiverItem.pruned, RiverItem.seen_at < now - _FORGOTTEN_AFTER)
    )
    return len(ids)


def visits_of(session: Session, feed_id: int) -> Sequence[RiverVisit]:
    """The newest polls of a feed."""
    mine = select(RiverVisit).where(RiverVisit.feed_id == feed_id)
    newest = mine.order_by(RiverVisit.at.desc(), RiverVisit.id.desc())
    return session.scalars(newest.limit(30)).all()


def prune_visits(session: Session, now: datetime, keep_days: int) -> None:
    """Delete the records of polls older than the setting says."""
    session.execute(delete(RiverVisit).where(RiverVisit.at < now - timedelta(days=keep_days)))


_LEAST_ITEMS = 3
_SOON = timedelta(hours=1)  # a first document this soon after a feed was added has no gap
_NEWEST = (
    select(RiverItem.shown_at)
    .where(RiverItem.feed_id == bindparam("feed"), RiverItem.pruned.is_(False))
    .order_by(RiverItem.shown_at.desc())
    .limit(bindparam("most"))
)


def document_size(feed: RiverFeed | FeedRow, document: FeedDocument | None) -> int:
    """How many items the feed's document holds; 0 when that is not known."""
    window = document.window if document is not None else unpack(feed.window).items()
    in_window = sum(mark != key for mark, key in window)  # equal pairs are shared keys, not items
    return max(in_window, len(document.items) if document is not None else 0)


def turnover(
    session: Session, feed: RiverFeed | FeedRow, size: int, new: Sequence[FeedItem], now: datetime
) -> timedelta | None:
    """How long the newest `size` items took to appear; None when fewer are known.

    `new` are items that are not in the database yet. An item without a date counts from when it
    was first seen: a feed without dates looks fast at first, and every poll that brings nothing
    raises the estimate.
    """
    if size < _LEAST_ITEMS:
        return None
    fresh = [plausible(item.published_at, now) or now for item in new]
    most = size - len(fresh)
    stored = session.scalars(_NEWEST, {"feed": feed.id, "most": most}) if most > 0 else ()
    newest = sorted([*fresh, *stored], reverse=True)[:size]
    return now - newest[-1] if len(newest) == size else None


def gap(
    feed: RiverFeed | FeedRow, document: FeedDocument, new: Sequence[FeedItem], now: datetime
) -> RiverGap | None:
    """The gap before a document without known items; None if its dates leave no room for one.

    The number of missed items is estimated from the document's own rate and the time between the
    last good poll and its oldest item; it is None if dates are missing. For a feed that was never
    read, that time starts when it was added: earlier answers may have been lost.
    """
    size = document_size(feed, document)
    first = feed.last_success_at is None
    before = feed.last_success_at or feed.added_at
    if not _LEAST_ITEMS <= size <= len(new) or not (first or feed.last_new_at):
        return None
    dates = sorted(d for item in new if (d := plausible(item.published_at, now)) is not None)
    if len(dates) < len(new):
        unknown = RiverGap(feed_id=feed.id, begins_at=before, ends_at=now, items=None)
        return None if first and now - before < _SOON else unknown
    pace = (dates[-1] - dates[0]) / (len(dates) - 1)
    missed = ceil((dates[0] - before) / pace) - 1 if pace else 0
    if missed < 1:
        return None
    return RiverGap(feed_id=feed.id, begins_at=before, ends_at=dates[0], items=missed)


def gaps_of(session: Session, feed_id: int) -> Sequence[RiverGap]:
    """The gaps of a feed, newest first."""
    mine = select(RiverGap).where(RiverGap.feed_id == feed_id)
    return session.scalars(mine.order_by(RiverGap.id.desc()).limit(20)).all()


def missed_items(session: Session) -> dict[int, int]:
    """About how many items of each feed were missed; feeds without gaps are absent."""
    counted = select(RiverGap.feed_id, func.sum(func.coalesce(RiverGap.items, 1)))
    return dict(session.execute(counted.group_by(RiverGap.feed_id)).all())


def in_words(missed: RiverGap) -> str:
    """A gap in words."""
    time = duration((missed.ends_at - missed.begins_at).total_seconds())
    if missed.items is None:
        return f"items may have been missed within {time}: nothing in the document was known"
    return f"about {missed.items} items were missed within {time}: the document had turned over"
