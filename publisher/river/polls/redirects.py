"""Permanent redirects: believed late, only for the same feed, and reversible."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.base.errors import Conflict, NotFound
from publisher.river.fetching import frontier
from publisher.river.fetching.host_names import work_unit_of
from publisher.river.following import feed_list
from publisher.river.options import RiverOptions
from publisher.river.polls.feed_visit import Visit
from publisher.river.polls.poll_rows import FeedRow, save
from publisher.river.reading.feed_document import FeedDocument
from publisher.storage.tables.river import RiverFeed, RiverItem, RiverMove

ANOTHER_FEED = "another-feed"
"""The problem of a feed that is redirected to a document which does not continue it."""


def is_same_feed(feed: FeedRow, document: FeedDocument, known_keys: frozenset[bytes]) -> bool:
    """Whether a document at another address continues this feed.

    It does if it shares half of the items, names our address as its own, or has the same title
    and site.
    """
    offered = {key for _, key in document.window} or {item.key for item in document.items}
    shared = len(offered & known_keys)
    if shared * 2 >= min(len(offered), len(known_keys)) > 0:
        return True
    if document.self_url in (feed.url, feed.added_url):
        return True
    same_site = not feed.site_url or document.site_url == feed.site_url
    return bool(feed.feed_title) and document.title == feed.feed_title and same_site


def weigh(session: Session, feed: FeedRow, visit: Visit, options: RiverOptions) -> str:
    """Handle the address that a poll was permanently redirected to; "" or the problem with it.

    It is taken after the quarantine, and only for the same feed. A feed that was never read has
    nothing to lose and moves at once; an unchanged answer is the same feed by its validator.
    """
    offered, now = visit.fetched.permanent_url, visit.job.at
    if offered is None or offered == feed.url:
        _forget_offer(feed)
        return ""
    if feed.last_success_at is None:
        take_address(session, feed, offered, now)
        return ""
    stored = select(RiverItem.key).where(RiverItem.feed_id == feed.id)
    if visit.document is not None and not is_same_feed(
        feed, visit.document, frozenset(session.scalars(stored))
    ):
        return ANOTHER_FEED
    if feed.offered_url != offered or feed.offered_at is None:
        feed.offered_url, feed.offered_at, feed.offers = offered, now, 0
    feed.offers += 1
    patient = now - feed.offered_at >= timedelta(hours=options.quarantine_hours)
    if patient and feed.offers >= options.quarantine_polls:
        take_address(session, feed, offered, now)
    return ""


def _forget_offer(feed: FeedRow) -> None:
    """The redirect is gone, or has been handled."""
    feed.offered_url, feed.offered_at, feed.offers = None, None, 0


def take_address(session: Session, feed: FeedRow, url: str, now: datetime) -> None:
    """Move a feed to a new address, or merge it into the feed that has it already.

    Does nothing if a person has undone the same move before.
    """
    _forget_offer(feed)
    refused = select(RiverMove.id).where(
        RiverMove.feed_id == feed.id, RiverMove.to_url == url, RiverMove.undone_at.is_not(None)
    )
    if session.scalar(refused) is not None:
        return
    session.add(RiverMove(feed_id=feed.id, at=now, from_url=feed.url, to_url=url))
    other = session.scalar(select(RiverFeed).where(RiverFeed.url == url, RiverFeed.id != feed.id))
    if other is not None:
        feed.state, feed.merged_into, feed.next_poll_at = "merged", other.id, None
        return
    feed.url, feed.host = url, work_unit_of(url)
    feed.public = feed.public and not feed_list.why_private(feed)
    save(session, [feed])  # the next feed that moves there is to find this one
    frontier.enqueue(session, feed.host, feed.next_poll_at or now)


def history(session: Session, feed_id: int) -> Sequence[RiverMove]:
    """The moves of a feed, newest first."""
    mine = select(RiverMove).where(RiverMove.feed_id == feed_id)
    return session.scalars(mine.order_by(RiverMove.id.desc())).all()


def undo_last(session: Session, feed: RiverFeed, now: datetime) -> str:
    """Send a feed back to the address before its last move; returns that address.

    The move is not made again automatically. Raises NotFound when there is none to undo.
    """
    last = session.scalar(
        select(RiverMove)
        .where(RiverMove.feed_id == feed.id, RiverMove.undone_at.is_(None))
        .order_by(RiverMove.id.desc())
    )
    if last is None:
        raise NotFound("this feed has not moved")
    taken = select(RiverFeed.id).where(RiverFeed.url == last.from_url, RiverFeed.id != feed.id)
    if session.scalar(taken) is not None:
        raise Conflict(f"{last.from_url} is subscribed to by itself now")
    last.undone_at = now
    feed.url, feed.host = last.from_url, work_unit_of(last.from_url)
    feed.etag = feed.last_modified = feed.validators_url = None
    feed.state, feed.merged_into = "active", None
    feed.next_poll_at = max(feed.next_poll_at or now, now)
    session.flush()
    frontier.enqueue(session, feed.host, feed.next_poll_at)
    return feed.url
