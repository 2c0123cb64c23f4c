"""Subscriptions: adding, finding, changing, pausing and removing them; and followed lists (OPML),
by whose changes feeds are added and removed.

A feed that a list newly names is followed, in the list's folder and by its policy; one that it no
longer names is unsubscribed, but starred items stay. Only differences between two versions of a
list are applied: what a person followed before, moved, renamed or removed by hand is left as it is.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.orm import Session

from publisher.base import encryption
from publisher.base.errors import Conflict, InvalidInput, must_exist
from publisher.feed_fetching.addresses import tidy_url, work_unit_of
from publisher.feed_fetching.answers import Credentials
from publisher.parts.river.fetching import frontier
from publisher.parts.river.observe import check_policy
from publisher.parts.river.stored import item_store
from publisher.parts.river.stored.poll_rows import FeedRow
from publisher.parts.river.tables import RiverFeed, RiverItem, RiverList

BY_TITLE: tuple[Any, ...] = (func.lower(RiverFeed.title), RiverFeed.url)
MOST_AT_ONCE = 10_000  # feeds: a second and a half


@dataclass(frozen=True, slots=True)
class Outline:
    """One entry of an OPML list; `is_list`: it is a list itself."""

    url: str
    title: str = ""
    site_url: str = ""
    folder: str = ""
    credentials: Credentials | None = None
    policy: str = ""
    paused: bool = False
    is_list: bool = False


def known_url(session: Session, url: str) -> RiverFeed | None:
    """The subscription that polls this address, or was added under it."""
    same = (RiverFeed.url == url) | (RiverFeed.added_url == url)
    return session.scalar(select(RiverFeed).where(same).order_by(RiverFeed.id))


def named(session: Session, url: str) -> RiverFeed:
    """The subscription to an address as a person types it; NotFound when there is none."""
    return must_exist(known_url(session, tidy_url(url)[0]), f"not subscribed to {url[:200]}")


def by_id(session: Session, feed_id: int) -> RiverFeed:
    """One subscription; NotFound when there is none."""
    return must_exist(session.get(RiverFeed, feed_id), "there is no such subscription")


def everyone(session: Session) -> Sequence[RiverFeed]:
    """All subscriptions, lists too, by folder and title."""
    return session.scalars(select(RiverFeed).order_by(RiverFeed.folder, *BY_TITLE)).all()


def with_items(session: Session) -> list[RiverFeed]:
    """The subscriptions that bring items: neither lists nor what is merged into another."""
    return [feed for feed in everyone(session) if not (feed.is_list or feed.state == "merged")]


def never_polled(session: Session) -> int:
    """How many feeds wait for their first poll."""
    fresh = RiverFeed.last_polled_at.is_(None), RiverFeed.state == "active"
    return session.query(RiverFeed).where(*fresh).count()


def subscribe(
    session: Session, url: str, now: datetime, first_poll_at: datetime, **about: Any
) -> RiverFeed:
    """Follow a checked address; its first poll comes at `first_poll_at`, in its host's turn.

    `about` are fields of its `Outline`. Raises Conflict when it is followed already, SpecError for
    an unknown policy, InvalidInput for a password that cannot be encrypted here.
    """
    outline = Outline(url, **about)
    check_policy(outline.policy)
    if (followed := known_url(session, url)) is not None:
        raise Conflict(f"already subscribed to {followed.url}")
    feed = _new(outline, now, first_poll_at)
    _set_login(feed, outline.credentials)
    session.add(feed)
    session.flush()
    frontier.enqueue(session, feed.host, first_poll_at)
    return feed


def subscribe_all(
    session: Session, outlines: Sequence[Outline], now: datetime, list_id: int | None = None
) -> int:
    """Follow those entries of a list that are not followed yet; returns how many.

    `list_id` is the followed list that they come with.
    First polls are spread, a second apart, so that no burst follows an import. Raises InvalidInput
    for too many.
    """
    rows = session.execute(select(RiverFeed.url, RiverFeed.added_url))
    followed = {url for row in rows for url in row}
    new = [outline for outline in outlines if outline.url not in followed]
    if len(new) > MOST_AT_ONCE:  # nobody else can save anything meanwhile
        raise InvalidInput(f"{len(new):,} feeds; at most {MOST_AT_ONCE:,} are added at once")
    turns: dict[str, datetime] = {}
    for position, outline in enumerate(new):
        feed = _new(outline, now, now + timedelta(seconds=position))
        feed.list_id = list_id
        if outline.paused:
            pause(feed)
        try:
            _set_login(feed, outline.credentials)
        except InvalidInput as problem:
            pause(feed)
            feed.reasons = [str(problem)]
        session.add(feed)
        if feed.next_poll_at is not None:
            turns.setdefault(feed.host, feed.next_poll_at)
    session.flush()
    frontier.enqueue_all(session, turns)
    return len(new)


def _new(outline: Outline, now: datetime, first_poll_at: datetime) -> RiverFeed:
    return RiverFeed(
        url=outline.url, added_url=outline.url, host=work_unit_of(outline.url),
        title=outline.title[:500], renamed=bool(outline.title), site_url=outline.site_url,
        folder=tidy_folder(outline.folder), policy=outline.policy, is_list=outline.is_list,
        added_at=now, next_poll_at=first_poll_at, reasons=["new: never polled"],
    )  # fmt: skip


def renew_login(session: Session, url: str, credentials: Credentials) -> RiverFeed | None:
    """Give a feed that is followed with a login a new one; None when there is no such feed.

    Raises InvalidInput for a password that cannot be encrypted here.
    """
    feed = known_url(session, url)
    if feed is None or not feed.username:
        return None
    _set_login(feed, credentials)
    feed.auth_scheme = ""
    return feed


def _set_login(feed: RiverFeed, credentials: Credentials | None) -> None:
    """Raises InvalidInput for a password that cannot be encrypted here."""
    if credentials is None:
        return
    feed.username = credentials.username
    encryption.check_installed()
    feed.password = credentials.password


def unsubscribe(session: Session, feed: RiverFeed) -> None:
    """Remove a subscription and its items; with a list, also the feeds that came with it."""
    for brought in session.scalars(select(RiverFeed).where(RiverFeed.list_id == feed.id)).all():
        let_go(session, brought)
    item_store.drop(session, RiverItem.feed_id == feed.id)
    session.execute(
        update(RiverFeed)
        .where(RiverFeed.merged_into == feed.id)
        .values(merged_into=None, state="paused")
    )
    session.delete(feed)


def let_go(session: Session, feed: RiverFeed) -> None:
    """Stop following a feed that its list does not name any more.

    One with starred items stays with these alone, and is not polled.
    """
    if not item_store.keep_starred(session, feed.id):
        unsubscribe(session, feed)
        return
    pause(feed)
    feed.list_id = None
    feed.reasons = ["its list let it go; it is kept for its starred items"]


def rename(feed: RiverFeed, title: str) -> None:
    """Give a feed another title; "" brings back the title that it gives itself."""
    own = " ".join(title.split())[:500]
    feed.renamed = bool(own) and own != feed.feed_title
    feed.title = own or feed.feed_title


def tidy_folder(text: str) -> str:
    """The path of a folder as it is stored: names with one slash between, "" for none."""
    names = (" ".join(name.split()) for name in text.split("/"))
    return "/".join(name for name in names if name)[:200].rstrip("/ ")


def move_folder(session: Session, folder: str, to: str) -> int:
    """Rename a folder, "" to dissolve it; those inside it stay. Returns how many feeds."""
    inside = session.scalars(select(RiverFeed).where(RiverFeed.folder == folder)).all()
    for feed in inside:
        feed.folder = to
    return len(inside)


def in_folder(folder: str) -> ColumnElement[bool]:
    """The feeds of a folder and of those inside it; "" are those without one."""
    if not folder:
        return RiverFeed.folder == ""
    below = RiverFeed.folder.startswith(f"{folder}/", autoescape=True)
    return (RiverFeed.folder == folder) | below


def change_policy(feed: RiverFeed, spec: str) -> None:
    """Poll by another policy, "" for the default; what the old one learned is dropped."""
    check_policy(spec)
    feed.policy, feed.memory = spec, None


def pause(feed: RiverFeed) -> None:
    """Do not poll until resumed."""
    feed.state, feed.next_poll_at = "paused", None


def resume(session: Session, feed: RiverFeed, now: datetime) -> None:
    """Poll again, in its host's turn: after a pause, or a 410 that was a mistake."""
    feed.state, feed.merged_into, feed.gone_at, feed.failures = "active", None, None, 0
    feed.next_poll_at = now
    session.flush()
    frontier.enqueue(session, feed.host, now)


SHRUNK = "list-shrunk"
"""The problem of a list that suddenly drops over half its feeds: applied once it lasts a day."""

MOST_FEEDS = 1_000
_FEW = 3
_CONFIRMED_AFTER = timedelta(days=1)


def problem_of_list(
    session: Session, feed: RiverFeed | FeedRow, outlines: Sequence[Outline], now: datetime
) -> str:
    """The problem SHRUNK if a version of a list drops most feeds; "" if it is to be applied."""
    before = _named_before(session, feed)
    dropped = len(before.keys() - {outline.url for outline in outlines})
    if dropped <= max(_FEW, len(before) // 2):
        return ""
    confirmed = feed.gone_at is not None and now - feed.gone_at >= _CONFIRMED_AFTER
    return "" if confirmed else SHRUNK


def apply_list(
    session: Session, feed: RiverFeed | FeedRow, outlines: Sequence[Outline], now: datetime
) -> list[str]:
    """Follow what a list names now; returns what happened, in words."""
    before = _named_before(session, feed)
    named = {outline.url: _placed(feed, outline) for outline in outlines if not outline.is_list}
    followed = dict(list(named.items())[:MOST_FEEDS])
    new = [outline for url, outline in followed.items() if url not in before]
    added = subscribe_all(session, new, now, list_id=feed.id)
    for url, outline in followed.items():
        if url in before:
            _move(session, feed, outline, before[url])
    dropped = _let_go(session, feed, before.keys() - followed.keys())
    session.merge(
        RiverList(feed_id=feed.id, folders={url: row.folder for url, row in followed.items()})
    )
    summary = f"a list of {len(followed)} feeds: {added} followed, {dropped} let go"
    left_out = len(named) - len(followed)
    return [summary] + ([f"{left_out} beyond the first {MOST_FEEDS} left out"] if left_out else [])


def size(session: Session, feed: RiverFeed) -> int:
    """How many feeds came with a list; 0 for a feed."""
    brought = select(func.count()).select_from(RiverFeed).where(RiverFeed.list_id == feed.id)
    return (session.scalar(brought) or 0) if feed.is_list else 0


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
    for moved in session.scalars(mine):
        moved.folder = outline.folder


def _let_go(session: Session, feed: RiverFeed | FeedRow, addresses: Iterable[str]) -> int:
    """Unsubscribe feeds of a list, except those that another list names: they go to that one."""
    wanted = set(addresses)
    mine = session.scalars(select(RiverFeed).where(RiverFeed.list_id == feed.id)).all()
    other_lists = session.scalars(select(RiverList).where(RiverList.feed_id != feed.id)).all()
    gone = 0
    for brought in mine:
        if brought.added_url not in wanted:
            continue
        brought.list_id = next(
            (row.feed_id for row in other_lists if brought.added_url in row.folders), None
        )
        if brought.list_id is None:
            let_go(session, brought)
            gone += 1
    return gone
