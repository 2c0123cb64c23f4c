"""Feeds that move: permanent redirects are believed late, only for the same feed, and can be
undone. A person may accept one that these rules refuse.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.base.errors import Conflict, must_exist
from publisher.feed_fetching.addresses import login_may_follow, work_unit_of
from publisher.parts.river.fetching import frontier
from publisher.parts.river.following import public_feeds
from publisher.parts.river.options import RiverOptions
from publisher.parts.river.polls.poll_job import PollResult
from publisher.parts.river.stored import identity
from publisher.parts.river.stored.identity import site_of
from publisher.parts.river.stored.poll_rows import FeedRow, save
from publisher.parts.river.tables import RiverFeed, RiverMove

ANOTHER_FEED = "another-feed"
"""The problem of a feed that is redirected to a document which does not continue it."""


def is_same_feed(session: Session, feed: FeedRow, result: PollResult) -> bool:
    """Whether the document of a visit, at another address, continues this feed.

    It does if half of the items are the same, if it names our address as its own, or if it has the
    same title and site. Scheme and `www.` do not count.
    """
    document = result.document
    if document is None:  # unchanged
        return True
    if identity.share_known(session, feed, document, result.fetched.url, result.job.at) >= 0.5:
        return True
    if site_of(document.self_url) in (site_of(feed.url), site_of(feed.added_url)):
        return True
    same_site = not feed.site_url or site_of(document.site_url) == site_of(feed.site_url)
    return bool(feed.feed_title) and document.title == feed.feed_title and same_site


def handle_redirect(
    session: Session, feed: FeedRow, result: PollResult, options: RiverOptions
) -> str:
    """Handle the address that a poll was permanently redirected to; "" or the problem with it.

    It is taken after the quarantine, and only for the same feed. A feed that was never read has
    nothing to lose and moves at once; an unchanged answer is the same feed by its validator.
    """
    offered, now = result.fetched.permanent_url, result.job.at
    if offered is None or offered == feed.url:
        _forget_offer(feed)
        return ""
    if feed.last_success_at is None:
        take_address(session, feed, offered, now)
        return ""
    if feed.offered_url != offered or feed.offered_at is None:
        feed.offered_url, feed.offered_at, feed.offers = offered, now, 0
    if not is_same_feed(session, feed, result):
        return ANOTHER_FEED
    feed.offers += 1
    patient = now - feed.offered_at >= timedelta(hours=options.quarantine_hours)
    if patient and feed.offers >= options.quarantine_polls:
        take_address(session, feed, offered, now)
    return ""


def _forget_offer(feed: FeedRow | RiverFeed) -> None:
    """The redirect is gone, or has been handled."""
    feed.offered_url, feed.offered_at, feed.offers = None, None, 0


def take_address(session: Session, feed: FeedRow, url: str, now: datetime) -> None:
    """Move a feed, unless a person has undone the same move before, or a login would go with it to
    another host or over http: whoever redirects could have it sent to themselves."""
    _forget_offer(feed)
    if feed.username and not login_may_follow(feed.url, url):
        return
    undone = select(RiverMove.id).where(
        RiverMove.feed_id == feed.id, RiverMove.to_url == url, RiverMove.undone_at.is_not(None)
    )
    if session.scalar(undone) is None:
        _set_address(session, feed, url, now)
        save(session, [feed])  # the next feed that moves there is to find this one


def _set_address(session: Session, feed: FeedRow | RiverFeed, url: str, now: datetime) -> None:
    """Move a feed to a new address, or merge it into the feed that has it already."""
    session.add(RiverMove(feed_id=feed.id, at=now, from_url=feed.url, to_url=url))
    twin = session.scalar(select(RiverFeed).where(RiverFeed.url == url, RiverFeed.id != feed.id))
    if twin is not None:
        feed.state, feed.merged_into, feed.next_poll_at = "merged", twin.id, None
        return
    feed.url, feed.host = url, work_unit_of(url)
    feed.public = feed.public and not public_feeds.why_private(feed)
    frontier.enqueue(session, feed.host, feed.next_poll_at or now)


def accept(session: Session, feed: RiverFeed, now: datetime) -> str:
    """Move a feed to the address that its server redirects it to for good, because a person says
    that it is the same feed; returns that address. It is polled there at once.

    Raises Conflict if there is no such address, or if the feed's login would go to another host.
    """
    if (url := feed.offered_url) is None:
        raise Conflict("this feed is not redirected to another address for good")
    if feed.username and not login_may_follow(feed.url, url):
        raise Conflict(
            f"the password of this feed was not meant for {url}: follow that address itself, with "
            "the login that is valid there"
        )
    _forget_offer(feed)
    feed.problem, feed.detail, feed.failures = "", "", 0
    if feed.state == "active":
        feed.next_poll_at, feed.reasons = now, [f"moved to {url} by hand: due now"]
    _set_address(session, feed, url, now)
    session.flush()
    return url


def history(session: Session, feed_id: int) -> Sequence[RiverMove]:
    """The moves of a feed, newest first."""
    mine = select(RiverMove).where(RiverMove.feed_id == feed_id)
    return session.scalars(mine.order_by(RiverMove.id.desc())).all()


def undo_last(session: Session, feed: RiverFeed, now: datetime) -> str:
    """Send a feed back to the address before its last move; returns that address.

    The move is not made again automatically. Raises NotFound when there is none to undo.
    """
    mine = (RiverMove.feed_id == feed.id, RiverMove.undone_at.is_(None))
    newest = select(RiverMove).where(*mine).order_by(RiverMove.id.desc())
    last = must_exist(session.scalar(newest), "this feed has not moved")
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
