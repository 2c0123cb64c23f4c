"""What is asked next: one due feed of each host that is claimed, with what its request needs.

When a feed is taken its next poll is moved ahead first, so that a process that ends in between has
neither lost it nor lets it be asked twice within its interval.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import Row, bindparam, select, update
from sqlalchemy.orm import Session

from publisher.river import frontier
from publisher.river.answers import Credentials, Validators
from publisher.river.poll_rows import FeedRow, HostRow
from publisher.storage.tables.river import RiverHost

_LEAST_RETRY = timedelta(minutes=15)
_MOST_RETRY = timedelta(days=1)
RETRY_SHARE = 1 / 30
"""Of a lease: how long a feed waits whose redirect leads to a host that is busy."""


@dataclass(frozen=True, slots=True)
class DuePoll:
    """One feed that its host's owner is about to ask for, and what the request needs.

    `at` is the moment of the claim; once there is an answer, the moment of the answer.
    """

    feed_id: int
    host: str
    url: str
    at: datetime
    validators: Validators
    credentials: Credentials | None
    content_hash: bytes = b""
    window: bytes = b""
    on_demand: bool = False
    leads_to: str = ""
    is_list: bool = False
    owner: str = ""

    @property
    def held(self) -> frozenset[str]:
        """The hosts that are held for it: its own, and the one that its redirect led to."""
        return frozenset({self.host, self.leads_to or self.host})


# Of the tables, not of their classes: these run for every poll, and the ORM would cost more.
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
    "username", "password", "auth_scheme", "content_hash", "window", "added_at", "asked_at",
    "next_poll_at", "last_polled_at", "last_success_at",
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
) -> list[DuePoll]:
    """The longest due feed of each claimed host, its next poll moved on in case this process ends.

    One whose redirect led to another host waits until that is free too: nobody is asked for it.
    """
    jobs, moves = [], []
    refused: Counter[str] = Counter()
    due = session.execute(_DUE, {"hosts": hosts, "now": now}).all()
    spare = set(hosts) - {feed.host for feed in due}
    for feed in due:
        other = feed.leads_to
        if other is None or other in spare or frontier.hold(session, other, owner, now, until):
            spare.discard(other or "")
            jobs.append(_job(feed, now, owner))
            next_at = _if_lost(feed, now)
        else:
            refused[other] += 1
            wait = (until - now) * RETRY_SHARE * refused[other]
            row = session.get(RiverHost, other)
            told = row.not_before if row is not None and row.not_before else now
            next_at = max(now, told) + wait
        moves.append({"feed": feed.id, "moment": next_at})
    if moves:
        session.execute(_MOVE_ON, moves)
    return jobs


def take_job(session: Session, feed_id: int, now: datetime, owner: str) -> DuePoll:
    """The job of one feed whose host is held, as `take_jobs` has them."""
    feed = session.execute(_ONE, {"feed": feed_id}).one()
    session.execute(_MOVE_ON, {"feed": feed_id, "moment": _if_lost(feed, now)})
    return _job(feed, now, owner)


def claim(
    session: Session, owner: str, now: datetime, until: datetime, limit: int
) -> list[DuePoll]:
    """Claim hosts and one due feed of each; hosts with nothing due go back at once."""
    hosts = frontier.claim_hosts(session, owner, now, until, limit)
    jobs = take_jobs(session, owner, hosts, now, until) if hosts else []
    if idle := set(hosts).difference(*(job.held for job in jobs)):
        frontier.release(session, frontier.lock(session, idle).values())
    return jobs


def _if_lost(feed: Row[Any], now: datetime) -> datetime:
    """When a feed is asked again if this process ends before it has stored the answer.

    After the interval that it was on, within bounds. One that has never been read stays due: a
    process that ends leaves nothing of it, and it is asked again as soon as the lease ends.
    """
    if feed.last_success_at is None:
        return cast("datetime", feed.next_poll_at)
    if feed.last_polled_at is None or feed.next_poll_at is None:
        return now + _LEAST_RETRY
    interval: timedelta = feed.next_poll_at - feed.last_polled_at
    return now + min(max(interval, _LEAST_RETRY), _MOST_RETRY)


def _job(feed: Row[Any], now: datetime, owner: str) -> DuePoll:
    secret = Credentials(feed.username, feed.password, feed.auth_scheme) if feed.username else None
    known = Validators(feed.etag, feed.last_modified, feed.validators_url)
    asked = feed.asked_at is not None and feed.asked_at >= (feed.last_polled_at or feed.added_at)
    return DuePoll(
        feed_id=feed.id,
        host=feed.host,
        url=feed.url,
        at=now,
        validators=known,
        credentials=secret,
        content_hash=feed.content_hash,
        window=feed.window,
        on_demand=asked,
        leads_to=feed.leads_to or "",
        is_list=feed.is_list,
        owner=owner,
    )
