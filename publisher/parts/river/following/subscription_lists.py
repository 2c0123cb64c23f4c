"""Lists of subscriptions: filtered and sorted, page by page; the failing ones; the folders."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Integer, Row, Text, cast, func, or_, select, true
from sqlalchemy.orm import Session

from publisher.parts.river.following.subscriptions import BY_TITLE, in_folder
from publisher.parts.river.tables import RiverFeed

PAGE = 50
FeedName = Row[int, str, str, str, str]
"""Of a subscription: id, title, url, folder, problem."""
_FILTERS: dict[str, tuple[str, ColumnElement[bool]]] = {
    "": ("All", true()),
    "problems": ("With a problem", RiverFeed.problem != ""),
    "losses": ("Read with losses", cast(RiverFeed.remarks, Text).contains('"loss": true')),
    "resting": ("Not polled", RiverFeed.state != "active"),
    "shown": ("Shown to others", RiverFeed.public.is_(True)),
    "own": ("With a policy of their own", RiverFeed.policy != ""),
    "lists": ("Lists", RiverFeed.is_list.is_(True)),
}
_SORTS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "problems": ("Problems first", (RiverFeed.problem == "", RiverFeed.state == "active")),
    "title": ("Title", ()),
    "folder": ("Folder", (RiverFeed.folder,)),
    "new": ("Newest item", (RiverFeed.last_new_at.desc(),)),
    "next": ("Next poll", (RiverFeed.next_poll_at.is_(None), RiverFeed.next_poll_at)),
    "last": ("Last poll", (RiverFeed.last_polled_at.desc(),)),
}
FILTERS = {name: label for name, (label, _) in _FILTERS.items()}
SORTS = {name: label for name, (label, _) in _SORTS.items()}


@dataclass(frozen=True, slots=True)
class FeedQuery:
    """Which subscriptions, in which order, which page of them (from 0).

    `list_id`: only those that came with this list.
    """

    words: str = ""
    only: str = ""
    sort: str = "problems"
    folder: str | None = None
    list_id: int | None = None
    page: int = 0


def page_of(session: Session, query: FeedQuery) -> tuple[Sequence[RiverFeed], int]:
    """The feeds of a page, and how many there are on all pages."""
    wanted = [_FILTERS[query.only][1]]
    if query.folder is not None:
        wanted.append(in_folder(query.folder))
    if query.list_id is not None:
        wanted.append(RiverFeed.list_id == query.list_id)
    for word in query.words.split()[:8]:
        places = (RiverFeed.title, RiverFeed.url, RiverFeed.folder)
        wanted.append(or_(*(place.icontains(word, autoescape=True) for place in places)))
    order = _SORTS[query.sort][1]
    return _page(session, wanted, (*order, *BY_TITLE), PAGE, query.page * PAGE)


def failing(session: Session, limit: int) -> tuple[Sequence[RiverFeed], int]:
    """Feeds with a problem, those that failed most often in a row first; and how many there are."""
    wanted = [RiverFeed.problem != "", RiverFeed.state == "active"]
    return _page(session, wanted, (RiverFeed.failures.desc(), *BY_TITLE), limit, 0)


def _page(
    session: Session, wanted: Sequence[ColumnElement[bool]], order: Any, limit: int, offset: int
) -> tuple[Sequence[RiverFeed], int]:
    total = session.scalar(select(func.count()).select_from(RiverFeed).where(*wanted)) or 0
    rows = select(RiverFeed).where(*wanted).order_by(*order).limit(limit).offset(offset)
    return session.scalars(rows).all(), total


def folders(session: Session) -> Sequence[Row[str, int, int]]:
    """All folders by `name`, "" first: how many `feeds` each has, and how many are `shown`."""
    shown = func.sum(cast(RiverFeed.public, Integer)).label("shown")
    columns = RiverFeed.folder.label("name"), func.count().label("feeds"), shown
    counted = select(*columns).group_by(RiverFeed.folder).order_by(RiverFeed.folder)
    return session.execute(counted).all()


def names(session: Session) -> Sequence[FeedName]:
    """The subscriptions that bring items, by folder and title, with few columns."""
    columns = (RiverFeed.id, RiverFeed.title, RiverFeed.url, RiverFeed.folder, RiverFeed.problem)
    bring_items = (RiverFeed.state != "merged", RiverFeed.is_list.is_(False))
    followed = select(*columns).where(*bring_items).order_by(RiverFeed.folder, *BY_TITLE)
    return session.execute(followed).all()
