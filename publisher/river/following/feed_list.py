"""Pages of subscriptions, filtered and sorted; fast with thousands of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Integer, cast, func, or_, select
from sqlalchemy.orm import Session

from publisher.river.following.subscriptions import in_folder
from publisher.storage.tables.river import RiverFeed

PAGE = 50
FILTERS = {
    "": "All",
    "problems": "With a problem",
    "resting": "Not polled",
    "shown": "Shown to others",
    "own": "With a policy of their own",
    "lists": "Lists",
}
SORTS = {
    "problems": "Problems first",
    "title": "Title",
    "folder": "Folder",
    "new": "Newest item",
    "next": "Next poll",
    "last": "Last poll",
}


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


class FolderCount(NamedTuple):
    """A folder, how many feeds it has, and how many of them are shown to others."""

    name: str
    feeds: int
    shown: int


class FeedName(NamedTuple):
    """The columns of a subscription that a list of names needs."""

    id: int
    title: str
    url: str
    folder: str
    problem: str


def page_of(session: Session, query: FeedQuery) -> tuple[Sequence[RiverFeed], int]:
    """The feeds of a page, and how many there are on all pages."""
    wanted = _wanted(query)
    total = session.scalar(select(func.count()).select_from(RiverFeed).where(*wanted)) or 0
    found = select(RiverFeed).where(*wanted).order_by(*_order(query.sort))
    return session.scalars(found.limit(PAGE).offset(query.page * PAGE)).all(), total


def failing(session: Session, limit: int) -> tuple[Sequence[RiverFeed], int]:
    """Feeds with a problem, those that failed most often in a row first; and how many there are."""
    having = (RiverFeed.problem != "", RiverFeed.state == "active")
    total = session.scalar(select(func.count()).select_from(RiverFeed).where(*having)) or 0
    order = (RiverFeed.failures.desc(), func.lower(RiverFeed.title))
    return session.scalars(
        select(RiverFeed).where(*having).order_by(*order).limit(limit)
    ).all(), total


def folders(session: Session) -> list[FolderCount]:
    """All folders by name, "" first."""
    shown = func.sum(cast(RiverFeed.public, Integer))
    counted = select(RiverFeed.folder, func.count(), shown).group_by(RiverFeed.folder)
    return [FolderCount(*row) for row in session.execute(counted.order_by(RiverFeed.folder))]


def names(session: Session) -> list[FeedName]:
    """The subscriptions that bring items, by folder and title, with few columns."""
    columns = (RiverFeed.id, RiverFeed.title, RiverFeed.url, RiverFeed.folder, RiverFeed.problem)
    order = (RiverFeed.folder, func.lower(RiverFeed.title), RiverFeed.url)
    bring_items = (RiverFeed.state != "merged", RiverFeed.is_list.is_(False))
    followed = select(*columns).where(*bring_items).order_by(*order)
    return [FeedName(*row) for row in session.execute(followed)]


def _wanted(query: FeedQuery) -> list[ColumnElement[bool]]:
    wanted: list[ColumnElement[bool]] = []
    if query.folder is not None:
        wanted.append(in_folder(query.folder))
    if query.list_id is not None:
        wanted.append(RiverFeed.list_id == query.list_id)
    for word in query.words.split()[:8]:
        places = (RiverFeed.title, RiverFeed.url, RiverFeed.folder)
        wanted.append(or_(*(place.icontains(word, autoescape=True) for place in places)))
    only: dict[str, ColumnElement[bool]] = {
        "problems": RiverFeed.problem != "",
        "resting": RiverFeed.state != "active",
        "shown": RiverFeed.public.is_(True),
        "own": RiverFeed.policy != "",
        "lists": RiverFeed.is_list.is_(True),
    }
    return [*wanted, only[query.only]] if query.only in only else wanted


def _order(sort: str) -> list[Any]:
    title: list[Any] = [func.lower(RiverFeed.title), RiverFeed.url]
    orders: dict[str, list[Any]] = {
        "problems": [RiverFeed.problem == "", RiverFeed.state == "active", *title],
        "folder": [RiverFeed.folder, *title],
        "new": [RiverFeed.last_new_at.desc(), *title],
        "next": [RiverFeed.next_poll_at.is_(None), RiverFeed.next_poll_at, *title],
        "last": [RiverFeed.last_polled_at.desc(), *title],
    }
    return orders.get(sort, title)
