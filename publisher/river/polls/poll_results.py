"""Storing finished polls: feeds and hosts are updated, new items inserted, leases released.

One transaction for a batch. An answer that comes after its lease was lost to another worker is
discarded: that worker polls again. `poll_outcome` updates the feed, `pacing` sets the pauses,
`frontier` keeps the queue.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import cast

from sqlalchemy import Table, bindparam, insert, select
from sqlalchemy.orm import Session

from publisher.base.logs import get_logger
from publisher.river.fetching import frontier
from publisher.river.following import followed_lists
from publisher.river.options import RiverOptions
from publisher.river.polls import item_store, outage, pacing
from publisher.river.polls.feed_visit import Visit
from publisher.river.polls.outage import NetworkHealth
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
        outage.resume(session, outage_since, now)
    session.flush()
    for visit in visits:
        pacing.rest(units, visit, visit.job.feed_id in limited, now, options)
    frontier.release(session, frontier.held(units.values(), leases))
    save(session, units.values())  # also the pauses of hosts that were not leased
    return len(new_rows.items)


def _follow_list(session: Session, feed: FeedRow, visit: Visit) -> None:
    """Apply a followed list; what changed is noted before the reasons."""
    if visit.listed is None:
        return
    if not feed.renamed:
        feed.title = feed.feed_title = visit.listed.title or feed.title
    said = followed_lists.take_over(session, feed, visit.listed.outlines, visit.job.at)
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
    if visit.problem not in outage.UNREACHED:
        return visit
    return replace(visit, problem=outage.OFFLINE, detail="our own network seems to be down")


def _not_ahead(visit: Visit, now: datetime) -> Visit:
    """The visit, dated `now` at the latest: the clock may have gone back meanwhile."""
    return visit if visit.job.at <= now else replace(visit, job=replace(visit.job, at=now))
