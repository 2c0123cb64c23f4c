"""Pages of subscriptions, filtered and sorted, and the public blogroll, `/opml.xml`.

A subscription is private unless its owner shows it. One whose address looks private is not
shown together with its folder, only when it is chosen itself.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import ColumnElement, Integer, Row, Text, cast, func, or_, select, true
from sqlalchemy.orm import Session

from publisher.base.errors import Conflict
from publisher.parts.river.blogroll import shown as is_shown
from publisher.parts.river.following.subscriptions import in_folder
from publisher.parts.river.stored.poll_rows import FeedRow
from publisher.parts.river.tables import RiverFeed

PAGE = 50
FeedName = Row[int, str, str, str, str]
"""Of a subscription: id, title, url, folder, problem."""
_TITLE: tuple[Any, ...] = (func.lower(RiverFeed.title), RiverFeed.url)
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
    wanted = [_FILTERS.get(query.only, _FILTERS[""])[1]]
    if query.folder is not None:
        wanted.append(in_folder(query.folder))
    if query.list_id is not None:
        wanted.append(RiverFeed.list_id == query.list_id)
    for word in query.words.split()[:8]:
        places = (RiverFeed.title, RiverFeed.url, RiverFeed.folder)
        wanted.append(or_(*(place.icontains(word, autoescape=True) for place in places)))
    order = _SORTS.get(query.sort, _SORTS["title"])[1]
    return _page(session, wanted, (*order, *_TITLE), PAGE, query.page * PAGE)


def failing(session: Session, limit: int) -> tuple[Sequence[RiverFeed], int]:
    """Feeds with a problem, those that failed most often in a row first; and how many there are."""
    wanted = [RiverFeed.problem != "", RiverFeed.state == "active"]
    return _page(session, wanted, (RiverFeed.failures.desc(), *_TITLE), limit, 0)


def _page(
    session: Session, wanted: Sequence[ColumnElement[bool]], order: Any, limit: int, offset: int
) -> tuple[Sequence[RiverFeed], int]:
    total = session.scalar(select(func.count()).select_from(RiverFeed).where(*wanted)) or 0
    found = select(RiverFeed).where(*wanted).order_by(*order).limit(limit).offset(offset)
    return session.scalars(found).all(), total


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
    followed = select(*columns).where(*bring_items).order_by(RiverFeed.folder, *_TITLE)
    return session.execute(followed).all()


_SECRET_WORDS = frozenset({"private", "secret", "token", "auth", "apikey"})
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_SECRET_CHARACTERS = 16


def why_private(feed: RiverFeed | FeedRow) -> str:
    """What makes a subscription look private; "" when nothing does."""
    parts = urlsplit(feed.url)
    if feed.username or parts.username:
        return "it needs a login"
    if parts.query:
        return "its address has a query, which may hold a key"
    words = re.split(r"[/._~-]+", parts.path)
    if _UUID.search(parts.path) or any(map(_like_a_secret, words)):
        return "its address has a part that looks like a key"
    return ""


def _like_a_secret(word: str) -> bool:
    """Whether a part of a path is a word such as `token`, or a long mix of letters and digits."""
    mixed = re.search(r"\d", word) and re.search(r"[A-Za-z]", word)
    return word.lower() in _SECRET_WORDS or bool(mixed and len(word) >= _SECRET_CHARACTERS)


def shown(session: Session) -> Sequence[RiverFeed]:
    """The subscriptions that everybody may see, by folder and title; never one with a login."""
    chosen = select(RiverFeed).where(*is_shown(RiverFeed))
    return session.scalars(chosen.order_by(RiverFeed.folder, *_TITLE)).all()


def show(feed: RiverFeed, public: bool) -> None:
    """Show one subscription, or hide it; Conflict for one with a login."""
    if public and feed.username:
        raise Conflict("a feed that needs a login is never shown to others")
    feed.public = public


def show_folder(session: Session, folder: str, public: bool) -> tuple[int, int]:
    """Show all subscriptions of a folder except those that look private, or hide them all.

    Returns how many feeds are shown now, and how many were left out as private.
    """
    inside = (RiverFeed.folder == folder, RiverFeed.is_list.is_(False))
    feeds = session.scalars(select(RiverFeed).where(*inside)).all()
    for feed in feeds:
        feed.public = public and (feed.public or not why_private(feed))
    count = sum(feed.public for feed in feeds)
    return count, len(feeds) - count if public else 0
