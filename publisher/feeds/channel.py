"""What a feed consists of, as plain values: the input of every format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Attachment:
    """A file that an item carries (a podcast episode)."""

    url: str
    content_type: str
    bytes: int
    seconds: int = 0


@dataclass(frozen=True)
class Item:
    """One post as readers get it. `html` has absolute addresses only; `title` may be empty."""

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


@dataclass(frozen=True)
class Channel:
    """The feed around the items: `home_url` is what it is about, `feed_url` its own address.

    `content_changed_at` is the last time what it says changed, not when it was built.
    """

    title: str
    description: str
    language: str
    home_url: str
    feed_url: str
    ttl_minutes: int
    content_changed_at: datetime
    items: Sequence[Item] = ()
    hubs: tuple[str, ...] = ()
    skip_hours: tuple[int, ...] = ()
