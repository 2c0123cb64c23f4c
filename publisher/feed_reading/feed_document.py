"""The contents of a feed document of any format, as plain values; and the reader of JSON Feed 1.0
and 1.1 (jsonfeed.org)."""

import hashlib
import html
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, TypeVar

from publisher.base.errors import InvalidData
from publisher.base.text import as_list, as_text, clean, joined
from publisher.base.written_dates import usage_of
from publisher.feed_reading.feed_dates import FeedDates
from publisher.feed_reading.remarks import Remark, ids_shared
from publisher.feed_reading.scan import DocumentHints

_OLDEST = datetime(1990, 1, 1, tzinfo=UTC)
_TOLERANCE = timedelta(days=1)
_MOST_CATEGORIES = 30
_CATEGORY_CHARACTERS = 100
_MOST_SHARED = 50
_MARK_BYTES = 8
MAX_ITEMS = 1_000
T = TypeVar("T")

Window = tuple[tuple[bytes, bytes], ...]
"""For each item of a document, in order, a pair: a digest of its bytes, and its key. Then, for each
key that several items shared, a pair of that key twice: no item is identified by it any more."""


class NotAFeed(InvalidData):
    """The document is no feed. `alternates` are the feeds it announces, if it is a page."""

    def __init__(self, message: str, alternates: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(message)
        self.alternates = alternates


def announcing(alternates: Sequence[tuple[str, str]]) -> str:
    """Words about the feeds that a page announces, to follow others; "" for none."""
    return f"; it announces {', '.join(url for url, _ in alternates)}" if alternates else ""


class UnreadableFeed(InvalidData):
    """The document looks like a feed, but nothing can be made of it."""


@dataclass(frozen=True)
class FeedFile:
    """A file that belongs to an item; `length` in bytes, 0 when unknown."""

    url: str
    media_type: str = ""
    length: int = 0


@dataclass(frozen=True)
class ItemDetails:
    """Optional details of an entry: its categories, a picture, and what podcasts add."""

    categories: tuple[str, ...] = ()
    image: str = ""
    duration_seconds: int = 0
    season: int = 0
    episode: int = 0

    def as_json(self) -> dict[str, object]:
        """The details that have a value, by name."""
        present = {name: value for name, value in vars(self).items() if value}
        return present | {"categories": list(self.categories)} if self.categories else present


@dataclass(frozen=True)
class FeedItem:
    """One entry. `markup` is HTML as sent; `html` and `words` are set by `sanitised`.

    `base` is the base URL of its relative links, if the document names one. `key` identifies it in
    its feed: a digest of its id, else its address, else its content. `fingerprint`, a digest of
    address and content, recognises an item whose id changes at every fetch.
    """

    guid: str
    url: str
    title: str
    markup: str
    author: str = ""
    published_at: datetime | None = None
    enclosures: tuple[FeedFile, ...] = ()
    details: ItemDetails = ItemDetails()
    base: str = ""
    html: str = ""
    words: str = ""
    key: bytes = b""
    fingerprint: bytes = b""

    def __post_init__(self) -> None:
        """Compute both hashes at once: `sanitised` drops the markup they are made of."""
        content = f"{self.title}\n{self.markup}"
        if not self.key:
            object.__setattr__(self, "key", digest(self.guid or self.url or content))
        if not self.fingerprint:
            object.__setattr__(self, "fingerprint", digest(f"{self.url}\n{content}"))


@dataclass(frozen=True)
class FeedDocument:
    """A parsed feed. `items` leaves out those whose bytes were known; `window` has them all.

    `window` is passed as `last_window` at the next poll. `broken`: not well-formed. `cut_off`: the
    end is missing, so it was not delivered whole. `left_out`: how many items exceeded the limit.
    `remarks`: what was guessed or dropped in what was read of it, one of each kind.
    """

    kind: str
    title: str = ""
    site_url: str = ""
    self_url: str = ""
    hub_url: str = ""
    items: tuple[FeedItem, ...] = ()
    window: Window = ()
    hints: DocumentHints = field(default_factory=DocumentHints)
    broken: bool = False
    cut_off: bool = False
    left_out: int = 0
    remarks: tuple[Remark, ...] = ()


def newest_part(entries: Sequence[T], date_of: Callable[[T], datetime | None]) -> Sequence[T]:
    """At most `MAX_ITEMS` entries: the first, or the last if a document begins with its oldest."""
    if len(entries) <= MAX_ITEMS:
        return entries
    first, last = date_of(entries[0]), date_of(entries[-1])
    oldest_first = first is not None and last is not None and first < last
    return entries[-MAX_ITEMS:] if oldest_first else entries[:MAX_ITEMS]


def categories(named: Iterable[str]) -> tuple[str, ...]:
    """Names of categories, each once whatever its case, in order, within bounds."""
    names: dict[str, str] = {}
    for name in named:
        tidy = " ".join(clean(name).split())[:_CATEGORY_CHARACTERS]
        if tidy:
            names.setdefault(tidy.casefold(), tidy)
    return tuple(islice(names.values(), _MOST_CATEGORIES))


def web_address(base: str, link: object) -> str:
    """The absolute address of a link if it is one of the web, else ""."""
    address = joined(base, str(link).strip()) if link else ""
    return address if address.lower().startswith(("http://", "https://")) else ""


def digest(value: str | bytes) -> bytes:
    """An eight-byte hash that identifies a value within one feed."""
    raw = value.encode("utf-8", "replace") if isinstance(value, str) else value
    return hashlib.blake2b(raw, digest_size=8).digest()


def plausible(moment: datetime | None, now: datetime) -> datetime | None:
    """The moment, `now` at most, if it lies between 1990 and tomorrow; feeds also claim 1900."""
    if moment is None or not _OLDEST <= moment <= now + _TOLERANCE:
        return None
    return min(moment, now)


def with_distinct_keys(
    items: Iterable[FeedItem], taken: frozenset[bytes]
) -> tuple[list[FeedItem], set[bytes]]:
    """The items in order, with distinct keys where different ones share an id; and the shared keys.

    Address, then title, then markup is added to the id until the keys differ. `taken` are keys in
    use by items of the same document that were not parsed again, or shared by several before.
    """
    settled = list(items)
    names = [item.guid for item in settled]
    shared: set[bytes] = set()
    for part in ("url", "title", "markup"):
        claimed = Counter(key for key, _ in {(item.key, item.fingerprint) for item in settled})
        shared |= {key for key, times in claimed.items() if times > 1 or key in taken}
        for place, item in enumerate(settled):
            if item.key in shared:
                names[place] += f"#{getattr(item, part)}"
                settled[place] = replace(item, key=digest(names[place]))
    return settled, shared


def assemble(
    marks: list[bytes], last_window: Mapping[bytes, bytes], parsed: list[FeedItem]
) -> tuple[tuple[FeedItem, ...], Window]:
    """The new items, each once, and the next window.

    `marks` are digests of the bytes of all items; `parsed` are the items whose mark is not in
    `last_window`, in document order. A key that several items shared stays shared: else one of them
    alone in a document would be taken for an edit of another.
    """
    before = shared_keys(last_window).keys()
    present = frozenset(last_window[mark] for mark in marks if mark in last_window)
    settled, shared = with_distinct_keys(parsed, present | before)
    fresh = iter(settled)
    window = tuple(
        (
            mark,
            last_window[mark]
            if mark in last_window
            else item.key
            if (item := next(fresh, None))
            else b"",
        )
        for mark in marks
    )
    still_shared = sorted(shared | before)[:_MOST_SHARED]
    items = tuple({item.key: item for item in settled}.values())
    return items, (*window, *((key, key) for key in still_shared))


def unpack(window: bytes) -> Mapping[bytes, bytes]:
    """A stored window as the mapping from an item's bytes to its key."""
    parts = [window[at : at + _MARK_BYTES] for at in range(0, len(window), _MARK_BYTES)]
    return dict(zip(parts[::2], parts[1::2], strict=False))


def shared_keys(last_window: Mapping[bytes, bytes]) -> Mapping[bytes, bytes]:
    """Of a window, only the keys that several items shared: all items are read again."""
    return {mark: key for mark, key in last_window.items() if mark == key}


def shared_ids(window: Window) -> int:
    """How many ids several items of a document have, or had before."""
    return sum(mark == key for mark, key in window)


def pack(document: FeedDocument) -> bytes:
    """The window of a document as it is stored; items without a key are left out."""
    return b"".join(mark + key for mark, key in document.window if key)


def looks_like_json(body: bytes) -> bool:
    """Whether the first character that is not space opens a JSON object."""
    return body[:64].removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{"


def parse_json_feed(text: str, url: str, last_window: Mapping[bytes, bytes]) -> FeedDocument:
    """Parse a JSON Feed from the address `url`; NotAFeed for other or invalid JSON."""
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise NotAFeed("the answer is JSON that cannot be read") from problem
    if not isinstance(tree, dict) or "jsonfeed.org" not in as_text(tree.get("version")):
        raise NotAFeed("the answer is JSON, but not a JSON Feed")
    every = [entry for entry in as_list(tree.get("items")) if isinstance(entry, dict)]
    dates = FeedDates(
        lambda: usage_of((t for e in every for t in _dates(e)), as_text(tree.get("language")))
    )
    entries = newest_part(every, lambda entry: dates.read(_dates(entry)))
    marks = [digest(json.dumps(entry, sort_keys=True)) for entry in entries]
    new = [e for e, mark in zip(entries, marks, strict=True) if mark not in last_window]
    parsed = [_item(entry, url, dates.read(_dates(entry))) for entry in new]
    items, window = assemble(marks, last_window, parsed)
    return FeedDocument(
        kind="json",
        remarks=(*dates.remarks, *ids_shared(shared_ids(window))),
        title=as_text(tree.get("title")),
        site_url=web_address(url, as_text(tree.get("home_page_url"))),
        self_url=web_address(url, as_text(tree.get("feed_url"))),
        items=items,
        window=window,
        left_out=len(every) - len(entries),
    )


def _item(entry: dict[str, Any], base: str, published_at: datetime | None) -> FeedItem:
    plain = html.escape(as_text(entry.get("content_text")) or as_text(entry.get("summary")))
    authors = as_list(entry.get("authors")) or [entry.get("author")]
    names = (as_text(author.get("name")) for author in authors if isinstance(author, dict))
    return FeedItem(
        guid=as_text(entry.get("id")),
        url=web_address(base, as_text(entry.get("url")) or as_text(entry.get("external_url"))),
        title=as_text(entry.get("title")),
        markup=as_text(entry.get("content_html")) or plain.replace("\n", "<br>\n"),
        author=", ".join(filter(None, names)),
        published_at=published_at,
        enclosures=tuple(
            FeedFile(address, as_text(file.get("mime_type")), _count(file.get("size_in_bytes")))
            for file in as_list(entry.get("attachments"))
            if isinstance(file, dict) and (address := web_address(base, as_text(file.get("url"))))
        ),
        details=ItemDetails(
            categories=categories(as_text(tag) for tag in as_list(entry.get("tags"))),
            image=web_address(
                base, as_text(entry.get("image")) or as_text(entry.get("banner_image"))
            ),
            duration_seconds=_duration(entry),
        ),
    )


def _duration(entry: dict[str, Any]) -> int:
    """The duration of the first attachment that has one, in seconds; else 0."""
    files = (file for file in as_list(entry.get("attachments")) if isinstance(file, dict))
    return next((d for file in files if (d := _count(file.get("duration_in_seconds")))), 0)


def _dates(entry: dict[str, Any]) -> list[str]:
    """The dates of an entry, the better one first."""
    values = (as_text(entry.get(name)) for name in ("date_published", "date_modified"))
    return [value for value in values if value]


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 < value < 2**53 else 0
