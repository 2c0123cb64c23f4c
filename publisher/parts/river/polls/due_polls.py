"""The next polls: of each claimed host the feed that is due longest, and what its request needs.

Taking a feed first moves its next poll ahead: if the process ends before it has stored the answer,
the feed is neither lost nor polled twice within its interval. After the system clock was set back,
`repair` moves polls that the fast clock planned back to now plus their interval: a machine that
believed it was next year would otherwise poll nothing until then.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import Row, bindparam, func, select, update
from sqlalchemy.orm import Session

from publisher.feed_fetching.answers import Credentials, Validators
from publisher.feed_reading import RULES
from publisher.parts.river.fetching import frontier
from publisher.parts.river.options import RiverOptions
from publisher.parts.river.stored.poll_rows import FeedRow, HostRow
from publisher.parts.river.tables import RiverFeed, RiverHost

_LEAST_RETRY = timedelta(minutes=15)
_MOST_RETRY = timedelta(days=1)
RETRY_SHARE = 1 / 30
"""The part of a lease that a feed waits whose redirect leads to a busy host."""


@dataclass(frozen=True, slots=True)
class PollJob:
    """One feed that is about to be polled, and what the request needs.

    `at` is the moment of the claim; once there is an answer, the moment of the answer. `anew`: the
    items are read although their bytes are known, as they were read by other rules.
    """

    feed_id: int
    host: str
    url: str
    at: datetime
    validators: Validators
    credentials: Credentials | None
    content_hash: bytes = b""
    window: bytes = b""
    anew: bool = False
    on_demand: bool = False
    leads_to: str = ""
    is_list: bool = False
    owner: str = ""

    @property
    def held(self) -> frozenset[str]:
        """The hosts leased for this poll: the feed's own, and the one that its redirect led to."""
        return frozenset({self.host, self.leads_to or self.host})


# Statements on tables, not on ORM classes: they run for every poll, and the ORM would cost more.
_FEEDS, _HOSTS = FeedRow.table.c, HostRow.table.c
_LONGEST_DUE = (
    select(_FEEDS.id)
    .where(
        _FEEDS.host == _HOSTS.name,
        _FEEDS.state == "active",
        _FEEDS.next_poll_at <= bindparam("now"),
    )
    .order_by(_FEEDS.next_poll_at)
    .limit(1)
    .correlate(HostRow.table)
    .scalar_subquery()
)
_WANTED = (
    "id", "host", "url", "leads_to", "is_list", "etag", "last_modified", "validators_url",
    "username", "password", "auth_scheme", "content_hash", "window", "rules", "added_at",
    "asked_at", "next_poll_at", "last_polled_at", "last_success_at",
)  # fmt: skip
_ASKED_FOR = select(*(_FEEDS[name] for name in _WANTED)).order_by(_FEEDS.id)
_DUE = _ASKED_FOR.where(
    _FEEDS.id.in_(select(_LONGEST_DUE).where(_HOSTS.name.in_(bindparam("hosts", expanding=True))))
)
_ONE = _ASKED_FOR.where(_FEEDS.id == bindparam("feed"))
_MOVE_ON = (
    update(FeedRow.table)
    .where(_FEEDS.id == bindparam("feed"))
    .values(next_poll_at=bindparam("moment"))
)


def take_jobs(
    session: Session, owner: str, hosts: Sequence[str], now: datetime, until: datetime
) -> list[PollJob]:
    """Take the longest due feed of each claimed host, and move its next poll ahead.

    A feed whose redirect led to another host is taken only if that host can be leased too.
    """
    jobs, moves = [], []
    refused: Counter[str] = Counter()
    due = session.execute(_DUE, {"hosts": hosts, "now": now}).all()
    spare = set(hosts) - {feed.host for feed in due}
    for feed in due:
        target = feed.leads_to
        if (
            target is None
            or target in spare
            or frontier.lease_host(session, target, owner, now, until)
        ):
            spare.discard(target or "")
            jobs.append(_job(feed, now, owner))
            next_at = _if_lost(feed, now)
        else:
            refused[target] += 1
            wait = (until - now) * RETRY_SHARE * refused[target]
            row = session.get(RiverHost, target)
            not_before = row.not_before if row is not None and row.not_before else now
            next_at = max(now, not_before) + wait
        moves.append({"feed": feed.id, "moment": next_at})
    if moves:
        session.execute(_MOVE_ON, moves)
    return jobs


def take_job(session: Session, feed_id: int, now: datetime, owner: str) -> PollJob:
    """As `take_jobs`, for one feed whose host is leased already."""
    feed = session.execute(_ONE, {"feed": feed_id}).one()
    session.execute(_MOVE_ON, {"feed": feed_id, "moment": _if_lost(feed, now)})
    return _job(feed, now, owner)


def claim(
    session: Session, owner: str, now: datetime, until: datetime, limit: int
) -> list[PollJob]:
    """Claim hosts and one due feed of each; hosts with nothing due are released at once."""
    hosts = frontier.claim_hosts(session, owner, now, until, limit)
    jobs = take_jobs(session, owner, hosts, now, until) if hosts else []
    if idle := set(hosts).difference(*(job.held for job in jobs)):
        frontier.release(session, frontier.lock(session, idle).values())
    return jobs


def _if_lost(feed: Row[Any], now: datetime) -> datetime:
    """When a feed is polled again if this process ends before it has stored the answer.

    That is after its last interval, within bounds. A feed that was never read stays due, and is
    polled as soon as the lease ends.
    """
    if feed.last_success_at is None:
        return cast("datetime", feed.next_poll_at)
    if feed.last_polled_at is None or feed.next_poll_at is None:
        return now + _LEAST_RETRY
    interval: timedelta = feed.next_poll_at - feed.last_polled_at
    return now + min(max(interval, _LEAST_RETRY), _MOST_RETRY)


def _job(feed: Row[Any], now: datetime, owner: str) -> PollJob:
    secret = Credentials(feed.username, feed.password, feed.auth_scheme) if feed.username else None
    validators = Validators(feed.etag, feed.last_modified, feed.validators_url)
    by_hand = feed.asked_at is not None and feed.asked_at >= (feed.last_polled_at or feed.added_at)
    return PollJob(
        feed_id=feed.id,
        host=feed.host,
        url=feed.url,
        at=now,
        validators=validators,
        credentials=secret,
        content_hash=feed.content_hash,
        window=feed.window,
        anew=feed.rules != RULES,
        on_demand=by_hand,
        leads_to=feed.leads_to or "",
        is_list=feed.is_list,
        owner=owner,
    )


_OF_FEED = (
    "added_at", "next_poll_at", "last_polled_at", "last_success_at", "last_new_at",
    "asked_at", "gone_at", "offered_at",
)  # fmt: skip
_TOLERANCE = timedelta(seconds=2)
_LONGEST_REST = timedelta(seconds=RiverOptions().host_delay_ceiling_seconds)
_OF_HOST = ("free_at", "rested_at", "not_before")


def repair(session: Session, now: datetime) -> int:
    """Move back the plans of feeds that were polled or added after `now`; returns how many.

    They keep the interval they were on, counted from `now`; so do the pauses of their hosts. The
    pause of a host without such a feed (a mirror's) is over.
    Safe at any time: nothing changes unless the clock went back by more than two seconds, by
    which the clocks of machines may differ.
    """
    latest = func.coalesce(RiverFeed.last_polled_at, RiverFeed.added_at)
    jumps: dict[str, timedelta] = {}
    ahead = session.scalars(select(RiverFeed).where(latest > now + _TOLERANCE)).all()
    for feed in ahead:
        jump = (feed.last_polled_at or feed.added_at) - now
        _move_back(feed, _OF_FEED, jump, now)
        jumps[feed.host] = max(jump, jumps.get(feed.host, jump))
    rests = select(RiverHost.name, RiverHost.rested_at)
    for name, until in session.execute(rests.where(RiverHost.rested_at > now + _LONGEST_REST)):
        jumps.setdefault(name, (until or now) - now)
    for name, jump in jumps.items():
        if (host := session.get(RiverHost, name, with_for_update=True)) is not None:
            _move_back(host, _OF_HOST, jump, now)
    return len(ahead)


def _move_back(
    row: RiverFeed | RiverHost, names: Iterable[str], jump: timedelta, now: datetime
) -> None:
    for name in names:
        moment: datetime | None = getattr(row, name)
        if moment is not None and moment > now:
            setattr(row, name, moment - jump)
