"""Storing finished polls: feeds and hosts are updated, new items inserted, leases released.

One transaction for a batch. An answer that comes after its lease was lost to another worker is
discarded: that worker polls again. `take_in` updates the feed, by the rules of `schedule` (the next
poll), `item_store` (items and gaps) and `moves` (permanent redirects). `set_pauses` sets the hosts'
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
from publisher.dynamic_ttl.core.durations import duration
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
    moves,
    poll_job,
    schedule,
)
from publisher.parts.river.polls.poll_job import OVERLOADED, NetworkHealth, PollResult, answer_of
from publisher.parts.river.polls.schedule import PollCost, plan
from publisher.parts.river.stored import item_store
from publisher.parts.river.stored.item_store import Kept
from publisher.parts.river.stored.poll_rows import FeedRow, HostRow, save
from publisher.parts.river.tables import RiverGap, RiverVisit


def _remarks(result: PollResult, gap: RiverGap | None) -> list[str]:
    """What was wrong with an answer that was accepted all the same."""
    sentences = [item_store.in_words(gap)] if gap is not None else []
    document = result.document
    if document is not None and document.cut_off:
        sentences.append("its end was missing: the answer was not delivered whole")
    if document is not None and document.left_out:
        every = MAX_ITEMS + document.left_out
        sentences.append(f"of its document's {every:,} items the newest {MAX_ITEMS:,} are read")
    return sentences


def _describe(feed: FeedRow, document: FeedDocument) -> None:
    feed.feed_title = (document.title or feed.feed_title)[:500]
    if not feed.renamed or feed.title == feed.feed_title:
        feed.title, feed.renamed = feed.feed_title, False
    feed.site_url = document.site_url or feed.site_url
    feed.window = pack(document)
    if not document.cut_off:
        feed.rules = RULES


_COMPLAINTS = 5

_LOCKED_FEEDS = (
    select(*FeedRow.columns())
    .where(FeedRow.table.c.id.in_(bindparam("ids", expanding=True)))
    .order_by(FeedRow.table.c.id)
    .with_for_update()
)
_INSERT_VISITS = insert(cast("Table", RiverVisit.__table__))

log = get_logger("river")


def store_results(
    session: Session,
    results: Sequence[PollResult],
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
    results = [_not_ahead(result, now) for result in results]
    outage_since = health.note(results) if health else None
    if health is not None and health.down_since is not None:
        results = [_blameless(result) for result in results]
    hosts = frontier.lock(session, (host for result in results for host in result.hosts))
    leases = {(host, result.job.owner) for result in results for host in result.hosts}
    results = [result for result in results if _in_time(hosts, result)]
    ids = sorted(result.job.feed_id for result in results)
    rows = session.execute(_LOCKED_FEEDS, {"ids": ids})
    feeds = {feed.id: feed for feed in FeedRow.made_of(rows)}
    limited = {number for number, feed in feeds.items() if feed.limited}
    batch = _Batch(session, now, options, rng)
    for result in results:
        if (feed := feeds.get(result.job.feed_id)) is not None:  # else it was removed meanwhile
            batch.take_in(feed, result)
    save(session, feeds.values())
    item_store.insert_new(session, batch.items)
    session.add_all(batch.gaps.values())
    if batch.visits:
        session.execute(_INSERT_VISITS, batch.visits)
    for feed, result in batch.lists:
        batch.follow_list(feed, result)
    if outage_since is not None:
        poll_job.resume(session, outage_since, now)
    session.flush()
    for result in results:
        batch.set_pauses(hosts, result, result.job.feed_id in limited)
    frontier.release(session, frontier.held(hosts.values(), leases))
    save(session, hosts.values())  # also the pauses of hosts that were not leased
    return len(batch.items)


def _in_time(hosts: Mapping[str, HostRow], result: PollResult) -> bool:
    """Whether the visit's lease was not lost meanwhile, or it had none."""
    host, owner = hosts.get(result.job.host), result.job.owner
    if not owner or (host is not None and host.owner == owner):
        return True
    log.warning("an answer came after its lease had ended", url=result.job.url)
    return False


def _blameless(result: PollResult) -> PollResult:
    """While we are offline: a visit that reached no server gets the problem OFFLINE."""
    if result.problem not in poll_job.UNREACHED:
        return result
    return replace(result, problem=poll_job.OFFLINE, detail="our own network seems to be down")


def _not_ahead(result: PollResult, now: datetime) -> PollResult:
    """The visit, dated `now` at the latest: the clock may have gone back meanwhile."""
    return result if result.job.at <= now else replace(result, job=replace(result.job, at=now))


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
    lists: list[tuple[FeedRow, PollResult]] = field(default_factory=list)

    def take_in(self, feed: FeedRow, result: PollResult) -> None:
        """Bring a feed up to date with a visit and plan its next one."""
        now = result.job.at
        waited = (now - feed.last_polled_at).total_seconds() if feed.last_polled_at else 0.0
        problem = result.problem or moves.handle_redirect(self.session, feed, result, self.options)
        if result.listed is not None and not problem:
            problem = subscriptions.problem_of_list(self.session, feed, result.listed.outlines, now)
        policy = policy_of(self.session, feed, self.options)
        memory = policy.restore(feed.memory)
        taken_in = Kept([])
        if problem in (poll_job.OFFLINE, BUSY, OVERLOADED):
            self._uncounted(feed, result, problem)
            return
        if problem:
            schedule.count_failure(feed, result, problem)
        else:
            taken_in = self._accept(feed, result)
            if result.listed is not None:
                self.lists.append((feed, result))
            memory = policy.remember(
                memory,
                answer_of(result, taken_in.new, bool(taken_in.new or taken_in.edited)),
                int(now.timestamp()),
            )
            feed.content_hash, feed.memory = result.content_hash, memory.as_json()
        self._note(feed, result, problem, len(taken_in.new))
        cost = None if problem else self._cost(feed, result, taken_in.new)
        next_at, reasons = plan(
            policy, memory, feed, result, self.options, self.rng, waited=waited, cost=cost
        )
        active = feed.state == "active"
        feed.next_poll_at = next_at if active else None
        remarks = [] if problem else _remarks(result, self.gaps.get(feed.id))
        feed.reasons = [*remarks, *(reasons if active else [f"not polled: {feed.state}"])]

    def _note(self, feed: FeedRow, result: PollResult, problem: str, new_items: int) -> None:
        """Note a visit with its feed and in the log (a plain dict, as a 304 writes little else)."""
        fetched = result.fetched
        feed.last_polled_at = result.job.at
        feed.status = fetched.status
        feed.leads_to = result.leads_to
        feed.problem = problem
        feed.detail = result.detail if problem else ""
        if problem == subscriptions.SHRUNK:
            feed.detail = "it names less than half of what it did; believed if it says so tomorrow"
        elif problem == moves.ANOTHER_FEED:
            feed.detail = f"moved to {fetched.permanent_url}, which looks like another feed"
        self.visits.append({
            "feed_id": feed.id,
            "at": result.job.at,
            "status": fetched.status,
            "conditional": fetched.conditional,
            "size_bytes": len(fetched.body),
            "new_items": new_items,
            "content_hash": result.content_hash,
            "told_seconds": result.told_seconds,
            "problem": problem,
            "requests": fetched.requests,
        })  # fmt: skip

    def _accept(self, feed: FeedRow, result: PollResult) -> Kept:
        """Apply a good answer: items, title, validators."""
        document, now = result.document, result.job.at
        taken_in = Kept([])
        if document is not None:
            taken_in = item_store.keep(
                self.session, feed, document, result.fetched.url, now, self.items,
                anew=result.job.anew,
            )  # fmt: skip
            if (gap := item_store.gap(feed, document, taken_in.new, now)) is not None:
                self.gaps[feed.id] = gap
            remarks = feed_remarks.of_visit(document, taken_in)
            if remarks or feed.remarks:
                whole = document.broken
                feed.remarks = feed_remarks.gather(feed.remarks, remarks, now, whole=whole)
            _describe(feed, document)
        pair = result.fetched.validators
        whole = document is None or not document.cut_off
        if result.fetched.status != 304 and whole:
            feed.etag, feed.last_modified = pair.etag, pair.last_modified
            feed.validators_url = pair.url
        elif pair and whole:  # a 304 renews the validators that it names
            feed.etag = pair.etag or feed.etag
            feed.last_modified = pair.last_modified or feed.last_modified
        feed.failures = feed.limited = 0
        feed.gone_at = None
        feed.last_success_at = now
        if taken_in.new:
            feed.last_new_at = now
        if result.fetched.auth_scheme:
            feed.auth_scheme = result.fetched.auth_scheme
        return taken_in

    def _cost(self, feed: FeedRow, result: PollResult, new: Sequence[FeedItem]) -> PollCost | None:
        """See `PollCost`; None for lists, and where a person chose the policy.

        If the feed has validators or asks for a wait, its turnover is left out after a 304, and
        where hours or days are to be skipped, which the policy obeys.
        """
        if feed.policy or feed.is_list:
            return None
        document = result.document
        hints = document.hints if document else DocumentHints()
        asked_seconds = max(result.told_seconds or 0, hints.seconds)
        blind = not (feed.etag or feed.last_modified or asked_seconds)
        if not blind and (document is None or hints.skip_hours or hints.skip_days):
            return PollCost()
        size = item_store.document_size(feed, document)
        time = item_store.turnover(self.session, feed, size, new, result.job.at)
        return PollCost(blind, time, asked_seconds)

    def _uncounted(self, feed: FeedRow, result: PollResult, problem: str) -> None:
        """Apply a poll that failed without fault of the feed: it is not counted, and repeated soon.

        We are offline or overloaded, or a host that the feed leads to is busy.
        """
        wait = self.options.lease * due_polls.RETRY_SHARE if problem == BUSY else poll_job.RETRY
        words = {BUSY: result.detail, OVERLOADED: "this site was too busy to read the answer"}.get(
            problem, "we are offline"
        )
        self._note(feed, result, problem, 0)
        feed.asked_at = None
        feed.next_poll_at = result.job.at + wait
        feed.reasons = [f"{words}: next try in {duration(wait.total_seconds())}"]

    def follow_list(self, feed: FeedRow, result: PollResult) -> None:
        """Apply a followed list; what changed is noted before the reasons."""
        if result.listed is None:
            return
        if not feed.renamed:
            feed.title = feed.feed_title = result.listed.title or feed.title
        changes = subscriptions.apply_list(
            self.session, feed, result.listed.outlines, result.job.at
        )
        how = [remark.sentence for remark in result.listed.remarks]
        feed.reasons = [*changes, *how, *result.listed.refused[:_COMPLAINTS], *feed.reasons]
        save(self.session, [feed])

    def set_pauses(self, hosts: Mapping[str, HostRow], result: PollResult, again: bool) -> None:
        """Set the pause of each host that was sent a request; the answer adjusts the last one."""
        last = result.hosts_asked[-1]
        for host in [hosts[name] for name in result.hosts_asked if name in hosts]:
            if host.name == last and result.problem != BUSY:
                self._adjust_pause(host, result, again)
            pause = max(host.delay_seconds, self.options.host_delay_seconds)
            host.rested_at = self.now + timedelta(seconds=pause)

    def _adjust_pause(self, host: HostRow, result: PollResult, again: bool) -> None:
        """A host's pause: doubled when it refuses us, slightly shorter after good answers.

        So the pause settles a little above what the host allows, and the limit is rarely met again.
        If an address is limited `again` while its host answers other requests well, the limit is
        taken to be that address's own: the host's pause stays.
        """
        least = self.options.host_delay_seconds
        if result.fetched.ok or result.fetched.not_modified:
            host.strikes = 0
            host.delay_seconds = max(host.delay_seconds * _FORGETTING, least)
            return
        refused = result.asked_to_slow_down or result.fetched.status in (403, 503)
        if not refused or (again and host.strikes == 0):
            return
        host.strikes += 1
        longer = max(host.delay_seconds * 2, least)
        host.delay_seconds = min(longer, self.options.host_delay_ceiling_seconds)
        if result.asked_to_slow_down:
            retry_after = result.told_seconds
            seconds = retry_after if retry_after is not None else 60 * 2 ** min(host.strikes, 10)
            host.not_before = result.job.at + timedelta(seconds=seconds)
