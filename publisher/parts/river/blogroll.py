"""Whether the blog's own feed names a public list of feeds. Each build of it asks, so this module
does without the part's tables, which take a tenth of a short command's time."""

from typing import Any

from sqlalchemy import Boolean, column, select, table
from sqlalchemy.orm import Session

_FEEDS = table(
    "river_feeds", column("public", Boolean), column("username"), column("is_list", Boolean)
)


def shown(feed: Any) -> tuple[Any, ...]:
    """The conditions for a subscription that everybody may see; never one with a login."""
    return feed.public, feed.username == "", feed.is_list.is_(False)


def path(session: Session) -> str:
    """The path of the public list of feeds, if any feed is shown."""
    return "/opml.xml" if session.scalar(select(1).where(*shown(_FEEDS.c)).limit(1)) else ""
