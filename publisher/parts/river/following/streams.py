"""Streams of the Google Reader API: parsing of their names, and pages of their items.

A stream is a feed, a folder ("label"; one inside it is a label of its own), a state (read, starred,
kept unread) or everything. Its items are ordered by id, that is by arrival, so that a client that
asks for what is newer than its last request misses none, whatever dates feeds give.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import ColumnElement, and_, func, not_, select, true
from sqlalchemy.orm import Session

from publisher.base.errors import NotFound
from publisher.base.text import whole_number
from publisher.parts.river.following import reading_list, subscriptions
from publisher.parts.river.following.reading_list import ReadingEntry, View
from publisher.parts.river.tables import RiverFeed, RiverItem

STATE = "user/-/state/com.google/"
LABEL = "user/-/label/"
READING_LIST, READ, UNREAD, STARRED = "reading-list", "read", "kept-unread", "starred"
_USER = re.compile(r"^user/[^/]*/")
_LONG_ID = "tag:google.com,2005:reader/item/"

Kind = Literal["all", "feed", "folder", "read", "unread", "starred", "nothing"]
_STATES: dict[str, Kind] = {
    READING_LIST: "all", READ: "read", UNREAD: "unread", STARRED: "starred",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Stream:
    """A parsed stream name; `feed_id` is set for a feed, `folder` for a folder."""

    kind: Kind
    feed_id: int | None = None
    folder: str | None = None

    @property
    def view(self) -> View:
        """The stream as the filter that the river's own pages use."""
        return View(
            feed_id=self.feed_id, folder=self.folder, exactly=self.folder is not None,
            starred=self.kind == "starred",
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class StreamQuery:
    """A page of a stream. `after` is the last item of the page before; moments are of arrival."""

    stream: Stream
    within: tuple[Stream, ...] = ()
    without: tuple[Stream, ...] = ()
    count: int = 20
    oldest_first: bool = False
    after: int | None = None
    since: datetime | None = None
    until: datetime | None = None


def parse_stream(session: Session, name: str) -> Stream:
    """The stream of a name; NotFound for a feed that nobody follows and for unknown states."""
    if name.startswith("feed/"):
        return Stream("feed", feed_id=feed_of(session, name).id)
    bare = STATE + name if name in _STATES else _USER.sub("user/-/", name)
    if bare.startswith(LABEL):
        return Stream("folder", folder=subscriptions.tidy_folder(bare.removeprefix(LABEL)))
    state = bare.removeprefix(STATE)
    if bare.startswith(STATE) and state in _STATES:
        return Stream(_STATES[state])
    if bare.startswith(STATE):
        return Stream("nothing")  # broadcast, like and others that we do not have
    raise NotFound(f"there is no stream {name[:80]!r}")


def feed_of(session: Session, name: str) -> RiverFeed:
    """The subscription of a name `feed/NUMBER` or `feed/ADDRESS`; NotFound when there is none."""
    address = name.removeprefix("feed/")
    if (number := whole_number(address)) is not None:
        return subscriptions.by_id(session, number)
    return subscriptions.named(session, address)


def folder_of(name: str) -> str:
    """The folder of a label's name; "" where it is none."""
    bare = _USER.sub("user/-/", name)
    return subscriptions.tidy_folder(bare.removeprefix(LABEL)) if bare.startswith(LABEL) else ""


def long_id(item_id: int) -> str:
    """An item's id in the long form of this API."""
    return f"{_LONG_ID}{item_id:016x}"


def item_number(text: str) -> int | None:
    """The number of an item from any of its three spellings; None for anything else."""
    short = text.removeprefix(_LONG_ID)
    try:
        number = int(short, 16 if short != text or len(short) == 16 else 10)
    except ValueError:
        return None
    return number if 0 < number < 2**63 else None


def entries(session: Session, author_id: int, query: StreamQuery) -> list[ReadingEntry]:
    """A page of items, one more than it holds when there are more."""
    return reading_list.loaded(session, _page(session, author_id, query))


def numbers(
    session: Session, author_id: int, query: StreamQuery
) -> list[tuple[int, int, datetime]]:
    """As `entries`, but only item id, feed id and moment of arrival."""
    columns = (RiverItem.id, RiverItem.feed_id, RiverItem.seen_at)
    page = _page(session, author_id, query).with_only_columns(*columns)
    return [(number, feed_id, moment) for number, feed_id, moment in session.execute(page)]


def by_number(session: Session, author_id: int, item_ids: list[int]) -> list[ReadingEntry]:
    """Items by their numbers, in that order; those that are gone are left out."""
    _, items = reading_list.readable(session, author_id)
    rows = reading_list.loaded(session, items.where(RiverItem.id.in_(item_ids)))
    place = {item_id: position for position, item_id in enumerate(item_ids)}
    return sorted(rows, key=lambda entry: place[entry.item.id])


def last_until(session: Session, moment: datetime) -> int:
    """The number of the last item that came by a moment; 0 when there is none."""
    came = select(func.max(RiverItem.id)).where(RiverItem.seen_at <= moment)
    return session.scalar(came) or 0


def newest_by_feed(session: Session) -> dict[int, datetime]:
    """When the newest item of each feed came."""
    newest = select(RiverItem.feed_id, func.max(RiverItem.seen_at)).group_by(RiverItem.feed_id)
    return dict(session.execute(newest).all())


def _page(session: Session, author_id: int, query: StreamQuery) -> reading_list.Rows:
    read, items = reading_list.readable(session, author_id)
    order = RiverItem.id.asc() if query.oldest_first else RiverItem.id.desc()
    wanted = [_is_in(stream, author_id, read) for stream in (query.stream, *query.within)]
    wanted += [not_(_is_in(stream, author_id, read)) for stream in query.without]
    if query.after is not None:
        later = query.oldest_first
        wanted.append(RiverItem.id > query.after if later else RiverItem.id < query.after)
    if query.since is not None:
        wanted.append(RiverItem.seen_at >= query.since)
    if query.until is not None:
        wanted.append(RiverItem.seen_at <= query.until)
    return items.where(*wanted).order_by(order).limit(query.count + 1)


def _is_in(stream: Stream, author_id: int, read: ColumnElement[bool]) -> ColumnElement[bool]:
    conditions: dict[Kind, ColumnElement[bool]] = {
        "all": true(),
        "nothing": not_(true()),
        "read": read.is_(True),
        "unread": read.is_(False),
        "starred": reading_list.is_starred(author_id),
        "feed": RiverItem.feed_id == stream.feed_id,
        "folder": and_(RiverFeed.folder == stream.folder, RiverFeed.folder != ""),
    }
    return conditions[stream.kind]
