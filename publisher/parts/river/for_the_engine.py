"""What the river adds to pages, feeds, metrics and copies of the engine."""

from collections.abc import Iterator
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from publisher.base.text import plain_text
from publisher.part import Figure
from publisher.parts.river.following import reading_list
from publisher.parts.river.tables import RiverFeed, RiverHost, RiverItem
from publisher.storage.full_text import ITEMS

_ROWS = 1_000


def text_about(session: Session, author_id: int, number: int) -> tuple[str, str]:
    """Title and text of a new post about an item; NotFound when it is not kept any more."""
    return reading_list.quotation(reading_list.item(session, author_id, number))


def figures(session: Session, now: datetime) -> Iterator[Figure]:
    """Feeds by state, those that fail, and how late the next poll is."""
    states = select(RiverFeed.state, func.count()).group_by(RiverFeed.state)
    yield Figure("river_feeds", "Subscriptions.", dict(session.execute(states).all()))
    failing = select(func.count()).where(RiverFeed.state == "active", RiverFeed.failures > 0)
    yield Figure("river_failing", "Feeds whose last poll failed.", session.scalar(failing) or 0)
    due = session.scalar(select(func.min(RiverHost.free_at)))
    late = max(0.0, (now - due).total_seconds()) if due else 0.0
    yield Figure("river_overdue_seconds", "How late the next host is.", late)


def index_all(session: Session) -> None:
    """Index all items for the search, whose index is empty."""
    unpruned = select(RiverItem).where(~RiverItem.pruned)
    items = session.scalars(unpruned, execution_options={"yield_per": _ROWS})
    for some in items.partitions(_ROWS):
        ITEMS.add(session, [(item.id, item.title, plain_text(item.html)) for item in some])
