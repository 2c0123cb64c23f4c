"""The public blogroll: which subscriptions everybody may see at `/opml.xml`.

A subscription is private unless its owner shows it. One whose address looks private is not
shown together with its folder, only when it is chosen itself.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from publisher.base.errors import Conflict
from publisher.river.polls.poll_rows import FeedRow
from publisher.storage.tables.blog import Meta
from publisher.storage.tables.river import RiverFeed

_MADE_PRIVATE = "river_made_private"
_SECRET_WORDS = frozenset({"private", "secret", "token", "auth", "apikey"})
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_SECRET_CHARACTERS = 16


@dataclass(frozen=True, slots=True)
class FolderShown:
    """What became of a folder: how many feeds are shown, how many were left out as private."""

    shown: int
    left_out: int


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
    allowed = (RiverFeed.public, RiverFeed.username == "", RiverFeed.is_list.is_(False))
    chosen = select(RiverFeed).where(*allowed)
    order = (RiverFeed.folder, func.lower(RiverFeed.title), RiverFeed.url)
    return session.scalars(chosen.order_by(*order)).all()


def show(feed: RiverFeed, public: bool) -> None:
    """Show one subscription, or hide it; Conflict for one with a login."""
    if public and feed.username:
        raise Conflict("a feed that needs a login is never shown to others")
    feed.public = public


def show_folder(session: Session, folder: str, public: bool) -> FolderShown:
    """Show all subscriptions of a folder except those that look private, or hide them all."""
    inside = (RiverFeed.folder == folder, RiverFeed.is_list.is_(False))
    feeds = session.scalars(select(RiverFeed).where(*inside)).all()
    for feed in feeds:
        feed.public = public and (feed.public or not why_private(feed))
    count = sum(feed.public for feed in feeds)
    return FolderShown(count, len(feeds) - count if public else 0)


def made_private(session: Session) -> int:
    """How many subscriptions an upgrade made private; 0 once that notice was dismissed."""
    note = session.get(Meta, _MADE_PRIVATE)
    return int(note.value) if note is not None else 0


def forget_made_private(session: Session) -> None:
    """Dismiss the notice that subscriptions are private now."""
    note = session.get(Meta, _MADE_PRIVATE)
    if note is not None:
        session.delete(note)
