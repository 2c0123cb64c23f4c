"""The public blogroll, `/opml.xml`: which subscriptions everybody may see.

A subscription is private unless its owner shows it. One whose address looks private is not
shown together with its folder, only when it is chosen itself.
"""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.base.errors import Conflict
from publisher.parts.river.blogroll import shown as is_shown
from publisher.parts.river.following.subscriptions import BY_TITLE
from publisher.parts.river.stored.poll_rows import FeedRow
from publisher.parts.river.tables import RiverFeed

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
    return session.scalars(chosen.order_by(RiverFeed.folder, *BY_TITLE)).all()


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
