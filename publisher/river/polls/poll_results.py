"""Storing finished polls: feeds and hosts are updated, new items inserted, leases released.

One transaction for a batch. An answer that comes after its lease was lost to another worker is
discarded: that worker polls again. `take_in` updates the feed, by the rules of `schedule` (the next
poll) and `item_store` (items and gaps); permanent redirects are believed late, only for the same
feed, and can be undone. `rest` sets the hosts' pauses, which are learned from their refusals.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import Table, bindparam, insert, select
from sqlalchemy.orm import Session

from publisher.base.errors import Conflict, must_exist
from publisher.base.system.logs import get_logger
from publisher.core.durations import duration
from publisher.feed_reading.feed_document import MAX_ITEMS, FeedDocument, FeedItem, pack
from publisher.feed_reading.scan import DocumentHints
from publisher.river.fetching import frontier
from publisher.river.fetching.fetch import BUSY
from publisher.river.fetching.frontier import work_unit_of
from publisher.river.following import feed_list, subscriptions
from publisher.river.observe import policy_of
from publisher.river.options import RiverOptions
from publisher.river.polls import due_polls, feed_visit, item_store, schedule
from publisher.river.polls.feed_visit import OVERLOADED, NetworkHealth, Visit, answer_of
from publisher.river.polls.poll_rows import FeedRow, HostRow, save
from publisher.river.polls.schedule import Stakes, plan
from publisher.storage.tables.river import RiverFeed, RiverGap, RiverItem, RiverMove, RiverVisit

ANOTHER_FEED = "another-feed"
"""The problem of a feed that is redirected to a document which does not continue it."""


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


def _forget_offer(feed: FeedRow) -> None:
    """The redirect is gone, or has been handled."""
    feed.offered_url, feed.offered_at, feed.offers = None, None, 0


def take_address(session: Session, feed: FeedRow, url: str, now: datetime) -> None:
    """Move a feed to a new address, or merge it into the feed that has it already.

    Does nothing if a person has undone the same move before, or if a login would go with it to
    another host or over http: whoever redirects could have it sent to themselves.
    """
    _forget_offer(feed)
    if feed.username and not subscriptions.login_may_follow(feed.url, url):
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
        problem = visit.problem or self._weigh(feed, visit)
        if visit.listed is not None and not problem:
            problem = subscriptions.doubt(self.session, feed, visit.listed.outlines, now)
        policy = policy_of(self.session, feed, self.options)
        memory = policy.restore(feed.memory)
        new: list[FeedItem] = []
        if problem in (feed_visit.OFFLINE, BUSY, OVERLOADED):
            self._uncounted(feed, visit, problem)
            return
        if problem:
            schedule.count(feed, visit, problem)
        else:
            new = self._accept(feed, visit)
            changed = visit.content_hash != feed.content_hash
            if visit.listed is not None:
                self.lists.append((feed, visit))
            memory = policy.remember(memory, answer_of(visit, new, changed), int(now.timestamp()))
            feed.content_hash, feed.memory = visit.content_hash, memory.as_json()
        self._note(feed, visit, problem, len(new))
        stakes = None if problem else self._stakes(feed, visit, new)
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
        elif problem == ANOTHER_FEED:
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

    def _weigh(self, feed: FeedRow, visit: Visit) -> str:
        """Handle the address that a poll was permanently redirected to; "" or the problem with it.

        It is taken after the quarantine, and only for the same feed. A feed that was never read has
        nothing to lose and moves at once; an unchanged answer is the same feed by its validator.
        """
        offered, now = visit.fetched.permanent_url, visit.job.at
        if offered is None or offered == feed.url:
            _forget_offer(feed)
            return ""
        if feed.last_success_at is None:
            take_address(self.session, feed, offered, now)
            return ""
        stored = select(RiverItem.key).where(RiverItem.feed_id == feed.id)
        if visit.document is not None and not is_same_feed(
            feed, visit.document, frozenset(self.session.scalars(stored))
        ):
            return ANOTHER_FEED
        if feed.offered_url != offered or feed.offered_at is None:
            feed.offered_url, feed.offered_at, feed.offers = offered, now, 0
        feed.offers += 1
        patient = now - feed.offered_at >= timedelta(hours=self.options.quarantine_hours)
        if patient and feed.offers >= self.options.quarantine_polls:
            take_address(self.session, feed, offered, now)
        return ""

    def _accept(self, feed: FeedRow, visit: Visit) -> list[FeedItem]:
        """Apply a good answer: items, title, validators; returns the new items."""
        document, now = visit.document, visit.job.at
        new: list[FeedItem] = []
        if document is not None:
            new = item_store.keep(self.session, feed, document.items, now, self.items)
            if (gap := item_store.gap(feed, document, new, now)) is not None:
                self.gaps[feed.id] = gap
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
        if new:
            feed.last_new_at = now
        if visit.fetched.auth_scheme:
            feed.auth_scheme = visit.fetched.auth_scheme
        return new

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
        feed.reasons = [*said, *visit.listed.refused[:_COMPLAINTS], *feed.reasons]
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
