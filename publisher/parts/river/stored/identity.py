"""Which stored item each item of a document is.

An id identifies an item, and an item with an id of its own is new, whatever its text: notices
repeat themselves. A stored item counts as the same under another id only if its old id has gone
from the document, no other item was taken for it, and nothing contradicts:

1. The id is an address on the feed's own site, and the same as before but for scheme, `www.`,
   host, or the folder of the site: the site has moved.
2. Address, text and date are the same. Without a date, also no other item of the document may have
   a known id: the ids change at every fetch.
3. No item of the document has a known id, and at least half have title and date of a stored one:
   the site was built anew. Without dates there must be three such items.
4. Once after the rules of reading have changed: title or address is that of one stored item only of
   this date, or of one whose date was not understood. Its id may have been read otherwise.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias, cast

from sqlalchemy import Row, Table, bindparam, func, select
from sqlalchemy.orm import Session

from publisher.feed_reading.feed_document import FeedDocument, FeedItem, digest, plausible
from publisher.parts.river.stored.poll_rows import FeedRow
from publisher.parts.river.tables import RiverFeed, RiverItem

Stored: TypeAlias = Row[int, bytes, bytes, datetime | None, datetime]
"""Of a stored item: id, key, fingerprint, published_at, seen_at."""

_FEWEST = 3
# Statements on the table, not on its ORM class: they run for every poll, and the ORM costs more.
_ITEMS = cast("Table", RiverItem.__table__)
_COLUMNS = tuple(_ITEMS.c[n] for n in ("id", "key", "fingerprint", "published_at", "seen_at"))
_OF_FEED = _ITEMS.c.feed_id == bindparam("feed")
_BY_KEY = select(*_COLUMNS).where(_OF_FEED, _ITEMS.c.key.in_(bindparam("keys", expanding=True)))
_BY_KEY_OR_TEXT = select(*_COLUMNS).where(
    _OF_FEED,
    _ITEMS.c.key.in_(bindparam("keys", expanding=True))
    | _ITEMS.c.fingerprint.in_(bindparam("prints", expanding=True)),
)
_BY_VALUE = {
    name: select(*_COLUMNS, _ITEMS.c[name].label("value")).where(
        _OF_FEED,
        _ITEMS.c[name].in_(bindparam("values", expanding=True)),
        _ITEMS.c.pruned.is_(False),
    )
    for name in ("title", "url")
}
_HOW_MANY = select(func.count()).select_from(_ITEMS).where(_OF_FEED)

_ID = re.compile(r"(https?://|tag:)(?:www\.)?(.+)", re.IGNORECASE | re.DOTALL)
_SCHEMES = ("http://", "http://www.", "https://", "https://www.")


def site_of(url: str) -> str:
    """An address without scheme, `www.` and a slash at its end; "" if it is none."""
    match = _ID.fullmatch(url.strip())
    return match[2].rstrip("/").casefold() if match else ""


@dataclass(frozen=True, slots=True)
class Sites:
    """Where a feed's site was (`before`) and is now: hosts, and folders of hosts."""

    before: frozenset[str]
    now: frozenset[str]

    @classmethod
    def of(cls, feed: RiverFeed | FeedRow, document: FeedDocument, url: str) -> "Sites":
        """The sites of a feed and of a document that was received for it from `url`."""
        before = _with_host(feed.site_url, feed.url, feed.added_url)
        return cls(before, _with_host(document.site_url, document.self_url, url) | before)

    def earlier_ids(self, name: str) -> Iterator[str]:
        """The ids that an item with the id `name` may have had before the site moved."""
        match = _ID.fullmatch(name)
        if match is None:
            return
        kind, place = match[1].lower(), match[2]
        schemes = _SCHEMES if kind != "tag:" else ("tag:", "tag:www.")
        for site in self.now:
            path = place[len(site) :]
            if place[: len(site)].casefold() != site or path[:1] not in ("", "/", "?", "#", ","):
                continue
            for earlier in self.before:
                yield from (f"{scheme}{earlier}{path}" for scheme in schemes)


def _with_host(site_url: str, *urls: str) -> frozenset[str]:
    """The hosts of some addresses, and the folder of a site."""
    sites = [site_of(url) for url in (site_url, *urls)]
    return frozenset(filter(None, (sites[0], *(site.partition("/")[0] for site in sites))))


@dataclass(slots=True)
class Recognised:
    """The stored item of each item of a document, None for a new one.

    `moved` and `renamed` count those that were recognised although their id has changed: by rule 1
    of this module, and by the other two.
    """

    rows: list[Stored | None]
    moved: int = 0
    renamed: int = 0


def recognised(
    session: Session,
    feed: RiverFeed | FeedRow,
    document: FeedDocument,
    url: str,
    now: datetime,
    *,
    anew: bool = False,
) -> Recognised:
    """Which stored items the items of a document are that a feed received from `url`.

    `anew`: the stored ones were read by other rules (4).
    """
    items = document.items
    rows: list[Stored | None] = [None] * len(items)
    if not items or feed.last_success_at is None:  # nothing of this feed is stored
        return Recognised(rows)
    present = _unparsed(document)
    offered = present.union(item.key for item in items)
    search = _Search(session, feed.id, items, offered, now, rows, ids_last=bool(present))
    same = {
        "feed": feed.id, "keys": [item.key for item in items],
        "prints": [item.fingerprint for item in items],
    }  # fmt: skip
    stored = session.execute(_BY_KEY_OR_TEXT, same).all()
    search.by_id(stored)
    if search.unknown:
        search.by_earlier_id(Sites.of(feed, document, url))
    moved = search.claimed_otherwise
    search.by_text(stored)
    if anew and search.unknown:
        search.by_title_or_address()
    elif not search.ids_last and search.unknown:
        search.by_title()
    return Recognised(search.rows, moved, search.claimed_otherwise - moved)


def _unparsed(document: FeedDocument) -> frozenset[bytes]:
    """The keys of those items of a document that were not parsed again: their bytes are known."""
    in_window = {key for mark, key in document.window if mark != key}  # equal: a shared key
    return frozenset(in_window - {item.key for item in document.items} - {b""})


def share_known(
    session: Session, feed: RiverFeed | FeedRow, document: FeedDocument, url: str, now: datetime
) -> float:
    """The part of a document's items that are stored, of all that could be: 0 to 1."""
    unparsed = len(_unparsed(document))
    stored = session.scalar(_HOW_MANY, {"feed": feed.id}) or 0
    most = min(unparsed + len(document.items), stored)
    rows = recognised(session, feed, document, url, now).rows
    return (unparsed + sum(row is not None for row in rows)) / most if most else 0.0


@dataclass(slots=True)
class _Search:
    """The search for the items of one document, with the keys that it has `offered`.

    `rows` as in `Recognised`; `claimed` are their numbers, `claimed_otherwise` counts those that
    were not recognised by their present ids. `ids_last`: some item has a known id.
    """

    session: Session
    feed_id: int
    items: Sequence[FeedItem]
    offered: frozenset[bytes]
    now: datetime
    rows: list[Stored | None]
    ids_last: bool
    claimed: set[int] = field(default_factory=set)
    claimed_otherwise: int = 0

    @property
    def unknown(self) -> list[int]:
        """The places of the items that are not recognised yet."""
        return [place for place, row in enumerate(self.rows) if row is None]

    def by_id(self, stored: Iterable[Stored]) -> None:
        """Recognise items by their present ids."""
        by_key = {row.key: row for row in stored}
        for place, item in enumerate(self.items):
            if row := by_key.get(item.key):
                self.rows[place] = row
                self.claimed.add(row.id)
                self.ids_last = True

    def by_earlier_id(self, sites: Sites) -> None:
        """Recognise items by the ids that they had before the site moved."""
        earlier: dict[int, list[bytes]] = {}
        for place in self.unknown:
            name = self.items[place].guid or self.items[place].url
            if keys := [digest(name_before) for name_before in sites.earlier_ids(name)]:
                earlier[place] = keys
        if not earlier:
            return
        keys = [key for several in earlier.values() for key in several]
        rows = self.session.execute(_BY_KEY, {"feed": self.feed_id, "keys": keys})
        by_key = {row.key: row for row in rows}
        for place, several in earlier.items():
            self._claim(place, (by_key[key] for key in several if key in by_key))

    def by_text(self, stored: Sequence[Stored]) -> None:
        """Recognise items by address and text, unless a date contradicts."""
        by_print = defaultdict(list)
        for row in stored:
            by_print[row.fingerprint].append(row)
        for place in self.unknown:
            item = self.items[place]
            self._claim(place, self._dated_alike(item, by_print[item.fingerprint]))

    def by_title(self) -> None:
        """Recognise items by title and date, if they are enough for a site that was built anew."""
        alike = self._alike("title")
        dated = all(self.items[place].published_at for place in alike)
        if 2 * len(alike) >= len(self.items) and (dated or len(alike) >= _FEWEST):
            for place, row in alike.items():
                self._claim(place, [row])

    def by_title_or_address(self) -> None:
        """Recognise items that were read by other rules: no address, text or date need be right."""
        for name in ("title", "url"):
            for place, row in self._alike(name, undated=True).items():
                self._claim(place, [row])

    def _alike(self, name: str, *, undated: bool = False) -> dict[int, Stored]:
        """By their places, the unknown items that are the only ones with this title (or address)
        and date, as one stored item is; `undated`: also one whose date was not understood."""
        named = Counter((getattr(item, name), item.published_at) for item in self.items)
        wanted = {"feed": self.feed_id, "values": list({value for value, _ in named if value})}
        stored: dict[str, list[Any]] = defaultdict(list)
        row: Any
        for row in self.session.execute(_BY_VALUE[name], wanted):
            stored[row.value].append(row)
        alike: dict[int, Stored] = {}
        for place in self.unknown:
            item = self.items[place]
            value = getattr(item, name)
            same = self._dated_alike(item, stored[value])
            if undated and not same:
                same = [row for row in stored[value] if row.published_at is None]
            if named[value, item.published_at] == len(same) == 1:
                alike[place] = same[0]
        return alike

    def _dated_alike(self, item: FeedItem, rows: Sequence[Stored]) -> list[Stored]:
        """Those of some rows that an item may be by its date.

        Without one that is any of them, unless ids are known to be lasting. A date in the future
        was stored as the moment at which the item was seen.
        """
        if plausible(item.published_at, self.now) is None:
            return [] if self.ids_last else list(rows)
        return [
            row
            for row in rows
            if row.published_at in (item.published_at, plausible(item.published_at, row.seen_at))
            and row.published_at is not None
        ]

    def _claim(self, place: int, rows: Iterable[Stored]) -> None:
        """Take the first of these rows that is free, and whose id has gone, for an item."""
        for row in rows:
            if row.id not in self.claimed and row.key not in self.offered:
                self.rows[place] = row
                self.claimed.add(row.id)
                self.claimed_otherwise += 1
                return
