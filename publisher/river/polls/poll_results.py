"""Storing finished polls: feeds and hosts are updated, new items inserted, leases released.

One transaction for a batch. An answer that comes after its lease was lost to another worker is
discarded: that worker polls again. `poll_outcome` updates the feed, `rest` sets the hosts' pauses,
which are learned from their refusals, `frontier` keeps the queue.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import cast

from sqlalchemy import Table, bindparam, insert, select
from sqlalchemy.orm import Session

from publisher.base.system.logs import get_logger
from publisher.river.fetching import frontier
from publisher.river.fetching.fetch import BUSY
from publisher.river.following import subscriptions
from publisher.river.options import RiverOptions
from publisher.river.polls import feed_visit, item_store
from publisher.river.polls.feed_visit import NetworkHealth, Visit
from publisher.river.polls.poll_outcome import NewRows, take_in
from publisher.river.polls.poll_rows import FeedRow, HostRow, save
from publisher.storage.tables.river import RiverVisit

_COMPLAINTS = 5

_FEEDS = (
    select(*FeedRow.columns())
    .where(FeedRow.table.c.id.in_(bindparam("ids", expanding=True)))
    .order_by(FeedRow.table.c.id)
    .with_for_update()
)
_VISITS = insert(cast("Table", RiverVisit.__table__))

log = get_logger("river")


def settle(
    session: Session,
    visits: Sequence[Visit],
    now: datetime,
    options: RiverOptions,
    rng: random.Random,
    health: NetworkHealth | None = None,
) -> int:
    """Store a batch of visits, plan the next ones, release the hosts; returns new items.

    A visit without a lease, the first of a new feed, is stored in any case. `health` detects
    outages of our own network from the polls of this process. Feeds and hosts are not written
    through the ORM: objects of them that the session has loaded are out of date afterwards.
    """
    visits = [_not_ahead(visit, now) for visit in visits]
    outage_since = health.note(visits) if health else None
    if health is not None and health.down_since is not None:
        visits = [_blameless(visit) for visit in visits]
    units = frontier.lock(session, (host for visit in visits for host in visit.hosts))
    leases = {(host, visit.job.owner) for visit in visits for host in visit.hosts}
    visits = [visit for visit in visits if _in_time(units, visit)]
    ids = sorted(visit.job.feed_id for visit in visits)
    feeds = {feed.id: feed for feed in FeedRow.made_of(session.execute(_FEEDS, {"ids": ids}))}
    limited = {number for number, feed in feeds.items() if feed.limited}
    new_rows = NewRows()
    for visit in visits:
        if (feed := feeds.get(visit.job.feed_id)) is not None:  # else it was removed meanwhile
            take_in(session, feed, visit, options, rng, new_rows)
    save(session, feeds.values())
    item_store.insert_new(session, new_rows.items)
    session.add_all(new_rows.gaps.values())
    if new_rows.visits:
        session.execute(_VISITS, new_rows.visits)
    for feed, visit in new_rows.lists:
        _follow_list(session, feed, visit)
    if outage_since is not None:
        feed_visit.resume(session, outage_since, now)
    session.flush()
    for visit in visits:
        rest(units, visit, visit.job.feed_id in limited, now, options)
    frontier.release(session, frontier.held(units.values(), leases))
    save(session, units.values())  # also the pauses of hosts that were not leased
    return len(new_rows.items)


def _follow_list(session: Session, feed: FeedRow, visit: Visit) -> None:
    """Apply a followed list; what changed is noted before the reasons."""
    if visit.listed is None:
        return
    if not feed.renamed:
        feed.title = feed.feed_title = visit.listed.title or feed.title
    said = subscriptions.take_over(session, feed, visit.listed.outlines, visit.job.at)
    feed.reasons = [*said, *visit.listed.refused[:_COMPLAINTS], *feed.reasons]
    save(session, [feed])


def _in_time(units: Mapping[str, HostRow], visit: Visit) -> bool:
    """Whether the visit's lease was not lost meanwhile, or it had none."""
    host, owner = units.get(visit.job.host), visit.job.owner
    if not owner or (host is not None and host.owner == owner):
        return True
    log.warning("an answer came after its lease had ended", url=visit.job.url)
    return False


def _blameless(visit: Visit) -> Visit:
    """While we are offline: a visit that reached no server gets the problem OFFLINE."""
    if visit.problem not in feed_visit.UNREACHED:
        return visit
    return replace(visit, problem=feed_visit.OFFLINE, detail="our own network seems to be down")


def _not_ahead(visit: Visit, now: datetime) -> Visit:
    """The visit, dated `now` at the latest: the clock may have gone back meanwhile."""
    return visit if visit.job.at <= now else replace(visit, job=replace(visit.job, at=now))


_FORGETTING = 0.99
"""A host's learned pause is multiplied by this after a good answer: halved after 69 answers."""


def rest(
    units: Mapping[str, HostRow], visit: Visit, again: bool, ended_at: datetime,
    options: RiverOptions,
) -> None:  # fmt: skip
    """Set the pause of each host that was sent a request; the answer adjusts the last one."""
    last = visit.hosts_asked[-1]
    for host in [units[name] for name in visit.hosts_asked if name in units]:
        if host.name == last and visit.problem != BUSY:
            _learn(host, visit, again, options)
        pause = max(host.delay_seconds, options.host_delay_seconds)
        host.rested_at = ended_at + timedelta(seconds=pause)


def _learn(host: HostRow, visit: Visit, again: bool, options: RiverOptions) -> None:
    """A host's pause: doubled when it refuses us, slightly shorter after good answers.

    So the pause settles a little above what the host allows, and the limit is rarely met again.
    If an address is limited `again` while its host answers other requests well, the limit is
    taken to be that address's own: the host's pause stays.
    """
    least = options.host_delay_seconds
    if visit.fetched.ok or visit.fetched.not_modified:
        host.strikes = 0
        host.delay_seconds = max(host.delay_seconds * _FORGETTING, least)
        return
    refused = visit.asked_to_slow_down or visit.fetched.status in (403, 503)
    if not refused or (again and host.strikes == 0):
        return
    host.strikes += 1
    longer = max(host.delay_seconds * 2, least)
    host.delay_seconds = min(longer, options.host_delay_ceiling_seconds)
    if visit.asked_to_slow_down:
        told = visit.told_seconds
        seconds = told if told is not None else 60 * 2 ** min(host.strikes, 10)
        host.not_before = visit.job.at + timedelta(seconds=seconds)
