"""Storing finished polls: feeds and hosts are updated, new items inserted, leases released.

One transaction for a batch. An answer that comes after its lease was lost to another worker is
discarded: that worker polls again. `take_in` updates the feed, by the rules of `schedule` (the next
poll), `item_store` (items and gaps) and `moves` (permanent redirects). `rest` sets the hosts'
pauses, which are learned from their refusals.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import Table, bindparam, insert, select
from sqlalchemy.orm import Session

from publisher.base.system.logs import get_logger
from publisher.core.durations import duration
from publisher.feed_fetching.fetch import BUSY
from publisher.feed_reading import RULES
from publisher.feed_reading.feed_document import MAX_ITEMS, FeedDocument, FeedItem, pack
from publisher.feed_reading.scan import DocumentHints
from publisher.parts.river.fetching import frontier
from publisher.parts.river.following import subscriptions
from publisher.parts.river.observe import policy_of
from publisher.parts.river.options import RiverOptions
from publisher.parts.river.polls import (
    due_polls,
    feed_remarks,
    feed_visit,
    moves,
    schedule,
)
from publisher.parts.river.polls.feed_visit import OVERLOADED, NetworkHealth, Visit, answer_of
from publisher.parts.river.polls.schedule import Stakes, plan
from publisher.parts.river.stored import item_store
from publisher.parts.river.stored.item_store import Kept
from publisher.parts.river.stored.poll_rows import FeedRow, HostRow, save
from publisher.parts.river.tables import RiverGap, RiverVisit


def _remarks(visit: Visit, gap: RiverGap | None) -> list[str]:
    """What was wrong with an answer that was accepted all the same."""
    found = [item_store.in_words(gap)] if gap is not None else []
    document = visit.document
    if document is not None and document.cut_off:
        found.append("its end was missing: the answer was not delivered whole")
    if document is not None and document.left_out:
        every = MAX_ITEMS + document.left_out
        found.append(f"of its document's {every:,} items the newest {MAX_ITEMS:,} are read")
    return found


def _describe(feed: FeedRow, document: FeedDocument) -> None:
    feed.feed_title = (document.title or feed.feed_title)[:500]
    if not feed.renamed or feed.title == feed.feed_title:
        feed.title, feed.renamed = feed.feed_title, False
    feed.site_url = document.site_url or feed.site_url
    feed.window = pack(document)
    if not document.cut_off:
        feed.rules = RULES


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
    batch = _Batch(session, now, options, rng)
    for visit in visits:
        if (feed := feeds.get(visit.job.feed_id)) is not None:  # else it was removed meanwhile
            batch.take_in(feed, visit)
    save(session, feeds.values())
    item_store.insert_new(session, batch.items)
    session.add_all(batch.gaps.values())
    if batch.visits:
        session.execute(_VISITS, batch.visits)
    for feed, visit in batch.lists:
        batch.follow_list(feed, visit)
    if outage_since is not None:
        feed_visit.resume(session, outage_since, now)
    session.flush()
    for visit in visits:
        batch.rest(units, visit, visit.job.feed_id in limited)
    frontier.release(session, frontier.held(units.values(), leases))
    save(session, units.values())  # also the pauses of hosts that were not leased
    return len(batch.items)


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


@dataclass(slots=True)
class _Batch:
    """One transaction, and the rows that its polls add to the database; `lists` are applied at its
    end."""

    session: Session
    now: datetime
    options: RiverOptions
    rng: random.Random
    items: list[item_store.NewRow] = field(default_factory=list)
    gaps: dict[int, RiverGap] = field(default_factory=dict)
    visits: list[dict[str, Any]] = field(default_factory=list)
    lists: list[tuple[FeedRow, Visit]] = field(default_factory=list)

    def take_in(self, feed: FeedRow, visit: Visit) -> None:
        """Bring a feed up to date with a visit and plan its next one."""
        now = visit.job.at
        waited = (now - feed.last_polled_at).total_seconds() if feed.last_polled_at else 0.0
        problem = visit.problem or moves.weigh(self.session, feed, visit, self.options)
        if visit.listed is not None and not problem:
            problem = subscriptions.doubt(self.session, feed, visit.listed.outlines, now)
        policy = policy_of(self.session, feed, self.options)
        memory = policy.restore(feed.memory)
        kept = Kept([])
        if problem in (feed_visit.OFFLINE, BUSY, OVERLOADED):
            self._uncounted(feed, visit, problem)
            return
        if problem:
            schedule.count(feed, visit, problem)
        else:
            kept = self._accept(feed, visit)
            if visit.listed is not None:
                self.lists.append((feed, visit))
            memory = policy.remember(
                memory,
                answer_of(visit, kept.new, bool(kept.new or kept.edited)),
                int(now.timestamp()),
            )
            feed.content_hash, feed.memory = visit.content_hash, memory.as_json()
        self._note(feed, visit, problem, len(kept.new))
        stakes = None if problem else self._stakes(feed, visit, kept.new)
        next_at, reasons = plan(
            policy, memory, feed, visit, self.options, self.rng, waited=waited, stakes=stakes
        )
        active = feed.state == "active"
        feed.next_poll_at = next_at if active else None
        remarks = [] if problem else _remarks(visit, self.gaps.get(feed.id))
        feed.reasons = [*remarks, *(reasons if active else [f"not polled: {feed.state}"])]

    def _note(self, feed: FeedRow, visit: Visit, problem: str, new_items: int) -> None:
        """Note a visit with its feed and in the log (a plain dict, as a 304 writes little else)."""
        fetched = visit.fetched
        feed.last_polled_at = visit.job.at
        feed.status = fetched.status
        feed.leads_to = visit.leads_to
        feed.problem = problem
        feed.detail = visit.detail if problem else ""
        if problem == subscriptions.SHRUNK:
            feed.detail = "it names less than half of what it did; believed if it says so tomorrow"
        elif problem == moves.ANOTHER_FEED:
            feed.detail = f"moved to {fetched.permanent_url}, which looks like another feed"
        self.visits.append({
            "feed_id": feed.id,
            "at": visit.job.at,
            "status": fetched.status,
            "conditional": fetched.conditional,
            "size_bytes": len(fetched.body),
            "new_items": new_items,
            "content_hash": visit.content_hash,
            "told_seconds": visit.told_seconds,
            "problem": problem,
            "requests": fetched.requests,
        })  # fmt: skip

    def _accept(self, feed: FeedRow, visit: Visit) -> Kept:
        """Apply a good answer: items, title, validators."""
        document, now = visit.document, visit.job.at
        kept = Kept([])
        if document is not None:
            kept = item_store.keep(
                self.session, feed, document, visit.fetched.url, now, self.items,
                anew=visit.job.anew,
            )  # fmt: skip
            if (gap := item_store.gap(feed, document, kept.new, now)) is not None:
                self.gaps[feed.id] = gap
            said = feed_remarks.of_visit(document, kept)
            if said or feed.remarks:
                whole = document.broken
                feed.remarks = feed_remarks.gather(feed.remarks, said, now, whole=whole)
            _describe(feed, document)
        pair = visit.fetched.validators
        whole = document is None or not document.cut_off
        if visit.fetched.status != 304 and whole:
            feed.etag, feed.last_modified = pair.etag, pair.last_modified
            feed.validators_url = pair.url
        elif pair and whole:  # a 304 renews the validators that it names
            feed.etag = pair.etag or feed.etag
            feed.last_modified = pair.last_modified or feed.last_modified
        feed.failures = feed.limited = 0
        feed.gone_at = None
        feed.last_success_at = now
        if kept.new:
            feed.last_new_at = now
        if visit.fetched.auth_scheme:
            feed.auth_scheme = visit.fetched.auth_scheme
        return kept

    def _stakes(self, feed: FeedRow, visit: Visit, new: Sequence[FeedItem]) -> Stakes | None:
        """See `Stakes`; None for lists, and where a person chose the policy.

        If the feed has validators or asks for a wait, its turnover is left out after a 304, and
        where hours or days are to be skipped, which the policy obeys.
        """
        if feed.policy or feed.is_list:
            return None
        document = visit.document
        hints = document.hints if document else DocumentHints()
        asked = max(visit.told_seconds or 0, hints.seconds)
        blind = not (feed.etag or feed.last_modified or asked)
        if not blind and (document is None or hints.skip_hours or hints.skip_days):
            return Stakes()
        size = item_store.document_size(feed, document)
        time = item_store.turnover(self.session, feed, size, new, visit.job.at)
        return Stakes(blind, time, asked)

    def _uncounted(self, feed: FeedRow, visit: Visit, problem: str) -> None:
        """Apply a poll that failed without fault of the feed: it is not counted, and repeated soon.

        We are offline or overloaded, or a host that the feed leads to is busy.
        """
        wait = self.options.lease * due_polls.RETRY_SHARE if problem == BUSY else feed_visit.RETRY
        words = {BUSY: visit.detail, OVERLOADED: "this site was too busy to read the answer"}.get(
            problem, "we are offline"
        )
        self._note(feed, visit, problem, 0)
        feed.asked_at = None
        feed.next_poll_at = visit.job.at + wait
        feed.reasons = [f"{words}: next try in {duration(wait.total_seconds())}"]

    def follow_list(self, feed: FeedRow, visit: Visit) -> None:
        """Apply a followed list; what changed is noted before the reasons."""
        if visit.listed is None:
            return
        if not feed.renamed:
            feed.title = feed.feed_title = visit.listed.title or feed.title
        said = subscriptions.take_over(self.session, feed, visit.listed.outlines, visit.job.at)
        how = [remark.sentence for remark in visit.listed.remarks]
        feed.reasons = [*said, *how, *visit.listed.refused[:_COMPLAINTS], *feed.reasons]
        save(self.session, [feed])

    def rest(self, units: Mapping[str, HostRow], visit: Visit, again: bool) -> None:
        """Set the pause of each host that was sent a request; the answer adjusts the last one."""
        last = visit.hosts_asked[-1]
        for host in [units[name] for name in visit.hosts_asked if name in units]:
            if host.name == last and visit.problem != BUSY:
                self._learn(host, visit, again)
            pause = max(host.delay_seconds, self.options.host_delay_seconds)
            host.rested_at = self.now + timedelta(seconds=pause)

    def _learn(self, host: HostRow, visit: Visit, again: bool) -> None:
        """A host's pause: doubled when it refuses us, slightly shorter after good answers.

        So the pause settles a little above what the host allows, and the limit is rarely met again.
        If an address is limited `again` while its host answers other requests well, the limit is
        taken to be that address's own: the host's pause stays.
        """
        least = self.options.host_delay_seconds
        if visit.fetched.ok or visit.fetched.not_modified:
            host.strikes = 0
            host.delay_seconds = max(host.delay_seconds * _FORGETTING, least)
            return
        refused = visit.asked_to_slow_down or visit.fetched.status in (403, 503)
        if not refused or (again and host.strikes == 0):
            return
        host.strikes += 1
        longer = max(host.delay_seconds * 2, least)
        host.delay_seconds = min(longer, self.options.host_delay_ceiling_seconds)
        if visit.asked_to_slow_down:
            told = visit.told_seconds
            seconds = told if told is not None else 60 * 2 ** min(host.strikes, 10)
            host.not_before = visit.job.at + timedelta(seconds=seconds)
