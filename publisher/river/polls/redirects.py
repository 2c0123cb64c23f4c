"""Permanent redirects: believed late, only for the same feed, and reversible."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.base.errors import Conflict, NotFound
from publisher.river.fetching import frontier
from publisher.river.fetching.host_names import work_unit_of
from publisher.river.following import feed_list
from publisher.river.options import RiverOptions
from publisher.river.polls.poll_rows import FeedRow, save
from publisher.river.reading.feed_document import FeedDocument
from publisher.storage.tables.river import RiverFeed, RiverMove


class MoveVerdict(StrEnum):
    """What to do about the address that a poll was permanently redirected to."""

    NONE = "none"
    WAIT = "wait"
    TAKE = "take"
    REFUSE = "refuse"


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


def judge_offer(
    feed: FeedRow,
    offered_url: str | None,
    document: FeedDocument | None,
    known_keys: frozenset[bytes],
    now: datetime,
    options: RiverOptions,
) -> MoveVerdict:
    """Judge a permanent redirect. A feed that was never read has nothing to lose and moves at once.

    `document` is None for an unchanged answer, which is the same feed by its validator.
    """
    if offered_url is None or offered_url == feed.url:
        return MoveVerdict.NONE
    if feed.last_success_at is None:
        return MoveVerdict.TAKE
    if document is not None and not is_same_feed(feed, document, known_keys):
        return MoveVerdict.REFUSE
    if feed.offered_url != offered_url or feed.offered_at is None:
        return MoveVerdict.WAIT
    patient = now - feed.offered_at >= timedelta(hours=options.quarantine_hours)
    return (
        MoveVerdict.TAKE
        if patient and feed.offers + 1 >= options.quarantine_polls
        else MoveVerdict.WAIT
    )


def note_offer(feed: FeedRow, offered_url: str | None, now: datetime) -> None:
    """Count one more poll that was sent to the same new address."""
    if feed.offered_url != offered_url:
        feed.offered_url, feed.offered_at, feed.offers = offered_url, now, 0
    feed.offers += 1


def forget_offer(feed: FeedRow) -> None:
    """Forget the offered address: the redirect is gone, or has been handled."""
    feed.offered_url, feed.offered_at, feed.offers = None, None, 0


def take_address(session: Session, feed: FeedRow, url: str | None, now: datetime) -> None:
    """Move a feed to a new address, or merge it into the feed that has it already.

    Does nothing if a person has undone the same move before.
    """
    forget_offer(feed)
    if url is None:
        return
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
