"""What a feed document holds, as plain values, whatever its format."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from publisher.base.addresses import joined
from publisher.base.errors import InvalidData
from publisher.river.first_look import DocumentHints

_OLDEST = datetime(1990, 1, 1, tzinfo=UTC)
_TOLERANCE = timedelta(days=1)
_MOST_CATEGORIES = 30
_CATEGORY_CHARACTERS = 100

Window = tuple[tuple[bytes, bytes], ...]
"""Per item of a document, in order: a digest of its bytes, and its key."""


class NotAFeed(InvalidData):
    """The document is no feed. `alternates` are the feeds it announces, if it is a page."""

    def __init__(self, message: str, alternates: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(message)
        self.alternates = alternates


class UnreadableFeed(InvalidData):
    """The document looks like a feed, but nothing can be made of it."""


@dataclass(frozen=True, slots=True)
class FeedFile:
    """A file that belongs to an item; `length` in bytes, 0 when unknown."""

    url: str
    media_type: str = ""
    length: int = 0


@dataclass(frozen=True, slots=True)
class ItemDetails:
    """What else a feed says of an entry: its categories, a picture, and what podcasts add."""

    categories: tuple[str, ...] = ()
    image: str = ""
    duration_seconds: int = 0
    season: int = 0
    episode: int = 0

    def as_json(self) -> dict[str, object]:
        """What is said, by name; what is not said is left out."""
        said = {name: getattr(self, name) for name in self.__slots__ if getattr(self, name)}
        return said | {"categories": list(self.categories)} if self.categories else said


@dataclass(frozen=True, slots=True)
class FeedItem:
    """One entry. `markup` is HTML as sent; `html` and `words` are there once it is `harmless`.

    `base` is where its relative links start from, where the document says so. `key` identifies it
    in its feed: its id, else its address, else its content. By `fingerprint`, which is what it
    says, an item is recognised whose id changes at every fetch.
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
        """Both hashes, once: what they are made of stays behind where it was read."""
        said = f"{self.title}\n{self.markup}"
        if not self.key:
            object.__setattr__(self, "key", digest(self.guid or self.url or said))
        if not self.fingerprint:
            object.__setattr__(self, "fingerprint", digest(f"{self.url}\n{said}"))


@dataclass(frozen=True, slots=True)
class FeedDocument:
    """A parsed feed. `items` leaves out those whose bytes were known; `window` has them all.

    `window` is to be given back as `known` at the next fetch. `broken` is not well-formed;
    `cut_off` lacks its end, so that it was not delivered whole.
    """

    kind: str
    title: str = ""
    site_url: str = ""
    self_url: str = ""
    items: tuple[FeedItem, ...] = ()
    window: Window = ()
    hints: DocumentHints = field(default_factory=DocumentHints)
    broken: bool = False
    cut_off: bool = False


def categories(named: Iterable[str]) -> tuple[str, ...]:
    """Names of categories, each once whatever its case, in order, within bounds."""
    found: dict[str, str] = {}
    for name in named:
        tidy = " ".join(name.split())[:_CATEGORY_CHARACTERS]
        if tidy and len(found) < _MOST_CATEGORIES:
            found.setdefault(tidy.casefold(), tidy)
    return tuple(found.values())


def web_address(base: str, link: object) -> str:
    """The absolute address of a link if it is one of the web, else ""."""
    address = joined(base, str(link).strip()) if link else ""
    return address if address.lower().startswith(("http://", "https://")) else ""


def digest(value: str | bytes) -> bytes:
    """Eight bytes that stand for a value within one feed."""
    raw = value.encode("utf-8", "replace") if isinstance(value, str) else value
    return hashlib.blake2b(raw, digest_size=8).digest()


def plausible(moment: datetime | None, now: datetime) -> datetime | None:
    """The moment if it lies between 1990 and tomorrow; feeds claim 1900 and 2100 too."""
    if moment is None or not _OLDEST <= moment <= now + _TOLERANCE:
        return None
    return min(moment, now)


def told_apart(items: list[FeedItem], present: frozenset[bytes]) -> list[FeedItem]:
    """The same items, in order, with keys of their own where different ones share an id.

    `present` are keys of items that stand in the same document but were not parsed again.
    """
    by_key: dict[bytes, FeedItem] = {}
    settled: list[FeedItem] = []
    for item in items:
        first = by_key.get(item.key)
        shared = item.key in present or (first and first.fingerprint != item.fingerprint)
        if shared:
            apart = item.url or digest(item.title + item.markup).hex()
            settled.append(replace(item, guid=f"{item.guid}#{apart}", key=b""))
        else:
            settled.append(by_key.setdefault(item.key, item))
    return settled


def assemble(
    marks: list[bytes], known: Mapping[bytes, bytes], parsed: list[FeedItem]
) -> tuple[tuple[FeedItem, ...], Window]:
    """The new items, each once, and the window, from digests of the bytes of all items.

    `parsed` are the items whose mark is not in `known`, in document order.
    """
    present = frozenset(known[mark] for mark in marks if mark in known)
    settled = told_apart(parsed, present)
    fresh = iter(settled)
    window = tuple(
        (mark, known[mark] if mark in known else item.key if (item := next(fresh, None)) else b"")
        for mark in marks
    )
    return tuple({item.key: item for item in settled}.values()), window
