"""Followed lists of feeds (OPML): feeds are added and removed as the list changes.

A feed that a list newly names is followed, in the list's folder and by its policy; one that it no
longer names is unsubscribed, but starred items stay. Only differences between two versions of a
list are applied: what a person followed before, moved, renamed or removed by hand is left as it is.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from publisher.river.following.subscriptions import Outline, let_go, subscribe_all, tidy_folder
from publisher.river.polls.poll_rows import FeedRow
from publisher.storage.tables.river import RiverFeed, RiverList

SHRUNK = "list-shrunk"
"""The problem of a list that suddenly drops over half its feeds: applied once it lasts a day."""

MOST_FEEDS = 1_000
_FEW = 3
_CONFIRMED_AFTER = timedelta(days=1)


def doubt(
    session: Session, feed: RiverFeed | FeedRow, outlines: Sequence[Outline], now: datetime
) -> str:
    """The problem SHRUNK if a version of a list drops most feeds; "" if it is to be applied."""
    before = _named_before(session, feed)
    dropped = len(before.keys() - {outline.url for outline in outlines})
    if dropped <= max(_FEW, len(before) // 2):
        return ""
    confirmed = feed.gone_at is not None and now - feed.gone_at >= _CONFIRMED_AFTER
    return "" if confirmed else SHRUNK


def take_over(
    session: Session, feed: RiverFeed | FeedRow, outlines: Sequence[Outline], now: datetime
) -> list[str]:
    """Follow what a list names now; returns what happened, in words."""
    before = _named_before(session, feed)
    named = {outline.url: _placed(feed, outline) for outline in outlines if not outline.is_list}
    kept = dict(list(named.items())[:MOST_FEEDS])
    new = [outline for url, outline in kept.items() if url not in before]
    added = subscribe_all(session, new, now, list_id=feed.id)
    for url, outline in kept.items():
        if url in before:
            _move(session, feed, outline, before[url])
    dropped = _let_go(session, feed, before.keys() - kept.keys())
    session.merge(
        RiverList(feed_id=feed.id, folders={url: row.folder for url, row in kept.items()})
    )
    said = f"a list of {len(kept)} feeds: {added} followed, {dropped} let go"
    left_out = len(named) - len(kept)
    return [said] + ([f"{left_out} beyond the first {MOST_FEEDS} left out"] if left_out else [])


def size(session: Session, feed: RiverFeed) -> int:
    """How many feeds came with a list; 0 for a feed."""
    brought = select(func.count()).select_from(RiverFeed).where(RiverFeed.list_id == feed.id)
    return (session.scalar(brought) or 0) if feed.is_list else 0


def keep(feed: RiverFeed) -> None:
    """Keep a feed whatever becomes of the list that it came with."""
    feed.list_id = None


def _named_before(session: Session, feed: RiverFeed | FeedRow) -> dict[str, str]:
    """The folder of each address that the last version of a list named."""
    row = session.get(RiverList, feed.id)
    return row.folders if row is not None else {}


def _placed(feed: RiverFeed | FeedRow, outline: Outline) -> Outline:
    """An entry as it is followed: inside the list's folder, by the list's policy, not paused."""
    folder = tidy_folder(f"{feed.folder}/{outline.folder}")
    return replace(outline, folder=folder, policy=feed.policy, paused=False)


def _move(session: Session, feed: RiverFeed | FeedRow, outline: Outline, before: str) -> None:
    """Move a feed to the folder that the list now names, unless a person has moved it before."""
    if outline.folder == before:
        return
    mine = select(RiverFeed).where(
        RiverFeed.list_id == feed.id, RiverFeed.added_url == outline.url, RiverFeed.folder == before
    )
    for found in session.scalars(mine):
        found.folder = outline.folder


def _let_go(session: Session, feed: RiverFeed | FeedRow, addresses: Iterable[str]) -> int:
    """Unsubscribe feeds of a list, except those that another list names: they go to that one."""
    wanted = set(addresses)
    mine = session.scalars(select(RiverFeed).where(RiverFeed.list_id == feed.id)).all()
    others = session.scalars(select(RiverList).where(RiverList.feed_id != feed.id)).all()
    gone = 0
    for found in mine:
        if found.added_url not in wanted:
            continue
        found.list_id = next(
            (row.feed_id for row in others if found.added_url in row.folders), None
        )
        if found.list_id is None:
            let_go(session, found)
            gone += 1
    return gone
