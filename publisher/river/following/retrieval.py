"""Polls on demand of a person: of one feed, of all, or of those that failed."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.base.errors import Conflict, TooMany
from publisher.core.durations import duration
from publisher.river.fetching import frontier
from publisher.river.following.subscriptions import in_folder
from publisher.river.options import RiverOptions
from publisher.storage.tables.river import RiverFeed, RiverHost, RiverVisit

RETRY_PAUSE = timedelta(minutes=1)


def ask(session: Session, feed: RiverFeed, now: datetime, options: RiverOptions) -> datetime:
    """Make a feed due now because a person wants it; returns when its turn comes.

    At most once in `on_demand_minutes`, a minute after a failed poll, and never against a
    Retry-After. Raises TooMany with the seconds left, Conflict for a feed that is not polled.
    """
    if feed.state != "active":
        raise Conflict(f"this feed is not polled: it is {feed.state}")
    if feed.asked_at is not None:
        free_at = feed.asked_at + timedelta(minutes=options.on_demand_minutes)
        if free_at > now:
            left = int((free_at - now).total_seconds())
            raise TooMany(f"retrieved on demand already; again in {duration(left)}", left)
    if feed.problem and feed.last_polled_at is not None:
        left = int((feed.last_polled_at + RETRY_PAUSE - now).total_seconds())
        if 0 < left <= RETRY_PAUSE.total_seconds():
            raise TooMany(f"it failed a moment ago; again in {duration(left)}", left)
    told = told_to_wait_until(session, feed)
    if told is not None and told > now:
        left = int((told - now).total_seconds())
        raise TooMany(f"the server asked us to stay away for another {duration(left)}", left)
    feed.asked_at = feed.next_poll_at = now
    session.flush()
    frontier.enqueue(session, feed.host, now)
    return now


def ask_all(
    session: Session, now: datetime, options: RiverOptions, folder: str | None = None
) -> tuple[int, int]:
    """Make all feeds, or those of a folder, due now, each in its host's turn.

    Left out are those that were retrieved on demand within `on_demand_minutes` or polled within
    the last minute, and those whose server asked us to wait. Returns how many are retrieved, and
    how many are left out.
    """
    wanted = select(RiverFeed).where(RiverFeed.state == "active").order_by(RiverFeed.next_poll_at)
    if folder is not None:
        wanted = wanted.where(in_folder(folder))
    feeds = session.scalars(wanted).all()
    limit = timedelta(minutes=options.on_demand_minutes)
    free = [
        feed
        for feed in feeds
        if (feed.asked_at is None or feed.asked_at + limit <= now)
        and not _in_silence(session, feed, now)
    ]
    for feed in free:
        feed.asked_at = now
    _poll_now(session, free, now)
    return len(free), len(feeds) - len(free)


def retry_failed(session: Session, now: datetime) -> int:
    """Make all feeds with a problem due now; returns how many.

    Those whose server asked us to wait, or that were polled within the last minute, are left out.
    """
    failing = (RiverFeed.state == "active", RiverFeed.problem != "")
    feeds = session.scalars(select(RiverFeed).where(*failing).order_by(RiverFeed.id))
    retried = [feed for feed in feeds.all() if not _in_silence(session, feed, now)]
    _poll_now(session, retried, now)
    return len(retried)


def _in_silence(session: Session, feed: RiverFeed, now: datetime) -> bool:
    """Whether a feed was polled within the last minute, or its server asked us to wait."""
    if feed.last_polled_at is not None and timedelta(0) <= now - feed.last_polled_at < RETRY_PAUSE:
        return True
    told = told_to_wait_until(session, feed)
    return told is not None and told > now


def _poll_now(session: Session, feeds: Sequence[RiverFeed], now: datetime) -> None:
    """Make feeds due now, each in its host's turn; the worker limits the rate of requests."""
    for feed in feeds:
        feed.next_poll_at = now
    session.flush()
    frontier.enqueue_all(session, {feed.host: now for feed in feeds})


def told_to_wait_until(session: Session, feed: RiverFeed) -> datetime | None:
    """Until when the server asked us to wait, by Retry-After, for its host or this feed."""
    host = session.get(RiverHost, feed.host)
    moments = [host.not_before] if host is not None and host.not_before else []
    if feed.limited and feed.last_polled_at is not None:
        newest = select(RiverVisit.told_seconds).where(RiverVisit.feed_id == feed.id)
        told = session.scalar(newest.order_by(RiverVisit.at.desc()).limit(1))
        moments.append(feed.last_polled_at + timedelta(seconds=told or 0))
    return max(moments, default=None)
