"""Turnover of a feed's document: how soon all its items are replaced; and gaps of missed items.

A document holds the newest items only. A poll later than one turnover after the last one misses
items; the document then holds none that is known.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from math import ceil

from sqlalchemy import bindparam, func, select
from sqlalchemy.orm import Session

from publisher.core.durations import duration
from publisher.river.polls.poll_rows import FeedRow
from publisher.river.reading.feed_document import FeedDocument, FeedItem, plausible, unpack
from publisher.storage.tables.river import RiverFeed, RiverGap, RiverItem

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


def gaps_of(session: Session, feed_id: int, limit: int = 20) -> Sequence[RiverGap]:
    """The gaps of a feed, newest first."""
    mine = select(RiverGap).where(RiverGap.feed_id == feed_id)
    return session.scalars(mine.order_by(RiverGap.id.desc()).limit(limit)).all()


def missed_items(session: Session) -> dict[int, int]:
    """About how many items of each feed were missed; feeds without gaps are absent."""
    counted = select(RiverGap.feed_id, func.sum(func.coalesce(RiverGap.items, 1)))
    return dict(session.execute(counted.group_by(RiverGap.feed_id)).all())


def in_words(found: RiverGap) -> str:
    """A gap in words."""
    time = duration((found.ends_at - found.begins_at).total_seconds())
    if found.items is None:
        return f"items may have been missed within {time}: nothing in the document was known"
    return f"about {found.items} items were missed within {time}: the document had turned over"
