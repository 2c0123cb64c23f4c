"""A feed as plain values: channel and items, the input of every format."""

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime

from publisher.base.dates import EPOCH
from publisher.base.media_files import Attachment
from publisher.core.weekly_rhythm import Rhythm
from publisher.feeds.podcasts import NO_PODCAST, Podcast

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
class Cloud:
    """Where readers may register to be told of updates (the five attributes of RSS `cloud`)."""

    domain: str
    port: int
    path: str
    register_procedure: str
    protocol: str


@dataclass(frozen=True)
class Channel:
    """A feed: `home_url` is the page that it is about, `feed_url` its own address.

    `content_changed_at` is when its content last changed, not when it was built;
    `skip_hours` are hours of the day in GMT; `rhythm` is the author's week, for podcasts;
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
    cloud: Cloud | None = None
    skip_hours: tuple[int, ...] = ()
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
        found = [(relation, folder + name) for relation, folder in links if folder]
        return [*found, ("current", self.current_url)] if self.current_url else found

    @property
    def is_podcast(self) -> bool:
        """Whether any item has an audio file."""
        return any(item.attachment is not None and item.attachment.is_audio for item in self.items)


def content_hash(channel: Channel) -> str:
    """A hash of the content alone, without ttl, skipHours, dates, rhythm, hubs and cloud."""
    content = replace(
        channel,
        ttl_minutes=0,
        content_changed_at=NEVER,
        hubs=(),
        cloud=None,
        skip_hours=(),
        rhythm=None,
    )
    return fingerprint(repr(content).encode())


def fingerprint(data: bytes) -> str:
    """128 bits of SHA-256, in hexadecimal: short enough for a header."""
    return hashlib.sha256(data).hexdigest()[:32]
