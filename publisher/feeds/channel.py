"""A feed as plain values: channel and items, the input of every format."""

import hashlib
import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import datetime
from functools import lru_cache
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlsplit

from publisher.base.dates import EPOCH
from publisher.base.media_files import Attachment
from publisher.dynamic_ttl.core.habits import Rhythm

# The namespace that podcast:guid is made in, the same for everybody (podcastindex.org).
_GUIDS = uuid.UUID("ead4c236-bf58-58c6-a2c6-a6b28d128cb6")


@dataclass(frozen=True)
class Podcast:
    """A podcast's channel fields; empty ones are left out of the feed.

    `category` is Apple's, with " > " before a narrower one; `guid` stays when the feed moves.
    """

    image_url: str = ""
    category: str = ""
    author: str = ""
    owner_email: str = ""
    explicit: bool = False
    guid: str = ""


NO_PODCAST = Podcast()


def guid_of(feed_url: str) -> str:
    """The podcast:guid of a feed that has none yet, derived from its address without scheme."""
    parts = urlsplit(feed_url)
    return str(uuid.uuid5(_GUIDS, (parts.netloc + parts.path).rstrip("/")))


NEVER = EPOCH  # when a document without posts was changed


@dataclass(frozen=True)
class Item:
    """One post as readers get it. `html` has absolute addresses only; `title` may be empty.

    `summary` is plain text, `markdown` the source where it is Markdown. `guid_is_permalink` holds
    only for a guid that is a full address. `transcript`: address and media type. `image`:
    address of its picture, which `html` shows too.
    """

    guid: str
    guid_is_permalink: bool
    url: str
    title: str
    html: str
    summary: str
    published_at: datetime
    changed_at: datetime
    author: str = ""
    tags: tuple[str, ...] = ()
    attachment: Attachment | None = None
    markdown: str = ""
    author_url: str = ""
    transcript: tuple[str, str] | None = None
    image: str = ""


@dataclass(frozen=True)
class Channel:
    """A feed: `home_url` is the page that it is about, `feed_url` its own address.

    `content_changed_at` is when its content last changed, not when it was built;
    `rhythm` is the author's week, for podcasts;
    `cloud` has the attributes of RSS's element (where readers may register to be told of updates);
    `accounts` are pairs of service and name; `blogroll_url` is a public OPML list. `complete`:
    these are all posts, so any other that a reader holds was deleted; `deleted` are pairs of guid
    and time of deletion. `older` and `newer` are folders with archive documents (RFC 5005);
    `current_url` is set in archive documents only: the feed that they belong to.
    """

    title: str
    description: str
    language: str
    home_url: str
    feed_url: str
    ttl_minutes: int = 0
    content_changed_at: datetime = NEVER
    items: tuple[Item, ...] = ()
    hubs: tuple[str, ...] = ()
    cloud: Mapping[str, str] | None = None
    rhythm: Rhythm | None = None
    podcast: Podcast = NO_PODCAST
    accounts: tuple[tuple[str, str], ...] = ()
    blogroll_url: str = ""
    complete: bool = False
    deleted: tuple[tuple[str, datetime], ...] = ()
    older: str = ""
    newer: str = ""
    current_url: str = ""

    def history_links(self, name: str) -> list[tuple[str, str]]:
        """RFC 5005's links, as relation and address, for documents with the file name `name`."""
        links = [("prev-archive", self.older), ("next-archive", self.newer)]
        addresses = [(relation, folder + name) for relation, folder in links if folder]
        return [*addresses, ("current", self.current_url)] if self.current_url else addresses

    @property
    def is_podcast(self) -> bool:
        """Whether any item has an audio file."""
        return any(item.attachment is not None and item.attachment.is_audio for item in self.items)


def content_hash(channel: Channel) -> str:
    """A hash of the content alone, without ttl, dates, rhythm, hubs and cloud."""
    content = replace(
        channel,
        ttl_minutes=0,
        content_changed_at=NEVER,
        hubs=(),
        cloud=None,
        rhythm=None,
    )
    return value_hash(content)


def value_hash(value: object) -> str:
    """A hash of fields by their names, without those that have their default,
    so that a new field changes no hash where it is not used."""
    return fingerprint(json.dumps(value, default=_plain, sort_keys=True).encode())


def _plain(value: Any) -> object:
    if not is_dataclass(value):
        return str(value) if isinstance(value, datetime) else dict(value)
    values = ((field, getattr(value, field.name)) for field in fields(value))
    return {field.name: value for field, value in values if value != field.default}


def fingerprint(data: bytes) -> str:
    """128 bits of SHA-256, in hexadecimal: short enough for a header."""
    return hashlib.sha256(data).hexdigest()[:32]


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


@lru_cache(maxsize=512)
def relative_addresses(html: str) -> tuple[str, ...]:
    """Values of href and src without a scheme; fragments (#note) are allowed."""
    parser = _Addresses()
    parser.feed(html)
    parser.close()
    wrong = (text for text in parser.addresses if not (_SCHEME.match(text) or text.startswith("#")))
    return tuple(wrong)


class _Addresses(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.addresses += [(v or "").strip() for name, v in attrs if name in ("href", "src")]
