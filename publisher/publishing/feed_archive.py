"""Archive documents (RFC 5005, section 4): the posts that the feed has no room for, month by month.

The months are those of UTC, so that addresses are stable. The feed itself links to the month of the
newest post that it lacks; each month links to the ones before and after it. Following the links
yields every post.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from publisher.base.errors import NotFound
from publisher.blog import archive, published
from publisher.blog.archive import Month
from publisher.feeds.channel import NEVER, Channel
from publisher.installation.settings import load_settings
from publisher.publishing import feed_content
from publisher.storage.tables.blog import Post, listed

_NEWEST = select(func.max(Post.published_at)).where(listed())
_OLDEST = select(func.min(Post.published_at)).where(listed())


def newest_month(session: Session, shown: Sequence[Post], feed_items: int) -> Month | None:
    """The month of the newest post that is older than the `shown` ones; None if there is none, or
    if the feed has room for more."""
    if len(shown) < feed_items:
        return None
    return _month(session.scalar(_NEWEST.where(published.older_than(shown[-1]))))


def folder(site_url: str, month: Month | None) -> str:
    """The address of a month's folder, with a slash at its end; "" for None."""
    return f"{site_url}/archive/{month.year}/{month.month:02}/" if month else ""


def document(
    session: Session, site_url: str, year: int, month: int, name: str, now: datetime
) -> Channel:
    """The archive of a month, as the file `name` (rss.xml) of its folder; NotFound if empty."""
    settings = load_settings(session)
    shown = published.newest(session, settings.feed_items)
    last = newest_month(session, shown, settings.feed_items)
    period = archive.month_of(year, month, UTC)
    rows = published.between(session, period.start, period.end)
    if last is None or not rows or period.start > last.start:
        raise NotFound("there is no such archive of the feed")
    before = _month(session.scalar(_NEWEST.where(Post.published_at < period.start)))
    after = _month(session.scalar(_OLDEST.where(Post.published_at >= period.end)))
    items = feed_content.items(rows, site_url, settings.source_markdown == "on")
    items = feed_content.not_ahead(session, items, now)
    return replace(
        feed_content.frame(settings, site_url),
        feed_url=folder(site_url, period) + name,
        current_url=f"{site_url}/{name}",
        older=folder(site_url, before),
        newer=folder(site_url, after if after and after.start <= last.start else None),
        hubs=(),
        cloud=None,
        content_changed_at=max((item.changed_at for item in items), default=NEVER),
        items=items,
    )


def _month(moment: datetime | None) -> Month | None:
    if moment is None:
        return None
    utc = moment.astimezone(UTC)
    return archive.month_of(utc.year, utc.month, UTC)
