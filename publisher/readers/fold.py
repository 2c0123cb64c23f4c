"""Folds batches into tables: polls of all workers, in order of time, are added to readers' days.

What is needed is read and computed without a lock; then the batches are deleted and the sums
written in one short transaction. Batches that another process has folded meanwhile are missing by
then: nothing is written, and the fold begins anew.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from sqlalchemy import CursorResult, delete, insert, select
from sqlalchemy.orm import Session

from publisher.base.dates import format_rfc822
from publisher.readers import store
from publisher.readers.agents import parse_agent
from publisher.readers.counter import BURST_MS
from publisher.readers.identity import NOBODY
from publisher.readers.poll_batches import BROUGHT, FlushedPolls, PollGroup, bare
from publisher.readers.reporting import poll_sources
from publisher.readers.reporting.push_arrivals import Arrivals
from publisher.readers.reporting.reach import News
from publisher.readers.sums import (
    DAY_SECONDS,
    HOUR_SECONDS,
    ReaderSums,
    Versions,
    count_answers,
    count_interval,
)
from publisher.readers.telling_apart import Made, Readers
from publisher.readers.visits import (
    VISIT_SECONDS,
    remember,
    rhythm_after,
    same_burst,
    same_visit,
)
from publisher.storage.database import Database
from publisher.storage.tables.mirror import mirror_at
from publisher.storage.tables.publishing import DocumentVersion
from publisher.storage.tables.readers import PollBatch, ReaderFeed

BATCHES_AT_ONCE, GROUPS_AT_ONCE = 500, 250  # written in one transaction
NEW_READERS_A_DAY = 50_000  # beyond it a day's new readers are counted without a name


def fold(database: Database, smallest_ttl_minutes: int, until: datetime | None = None) -> int:
    """Fold what the workers have flushed; returns the number of polls.

    Polls later than `until` wait for the next time, so that another worker's earlier ones can
    still come in before them.
    """
    # Whole parts of the clock's time, so that no burst is cut.
    until_ms = None if until is None else int(until.timestamp() * 1000) // BURST_MS * BURST_MS
    total, after = 0, -1
    while True:
        with database.read() as session:
            batches, more = _next(session, after)
            ready, waiting, lost = _due(batches.values(), until_ms)
            if not ready and not lost:  # newer batches may have been stored by a late worker
                if not more:
                    return total
                after = max(batches)
                continue
            changed, ready = store.under_this_week(session, ready)
            folding = _Folding(session, ready, changed, smallest_ttl_minutes)
        folding.run()
        with database.write(quiet=True) as session:
            gone = session.execute(delete(PollBatch).where(PollBatch.id.in_(batches)))
            if again := cast("CursorResult[Any]", gone).rowcount != len(batches):
                session.rollback()
            else:
                if waiting:
                    payload = FlushedPolls(tuple(waiting)).to_bytes()
                    session.execute(insert(PollBatch).values(payload=payload))
                folding.save(session, lost)
        if not again:
            total += folding.polls
            if not more:
                return total
        database.give_way()


def _next(session: Session, after: int) -> tuple[dict[int, FlushedPolls], bool]:
    """The batches that are folded in the next transaction, and whether there are more."""
    query = select(PollBatch.id, PollBatch.payload).where(PollBatch.id > after)
    batches: dict[int, FlushedPolls] = {}
    groups = 0
    for row in session.execute(query.order_by(PollBatch.id).limit(BATCHES_AT_ONCE + 1)):
        if len(batches) == BATCHES_AT_ONCE or groups >= GROUPS_AT_ONCE:
            return batches, True
        batches[row.id] = FlushedPolls.from_bytes(row.payload)
        groups += len(batches[row.id].groups)
    return batches, False


def _due(
    batches: Iterable[FlushedPolls], until_ms: int | None
) -> tuple[list[PollGroup], list[PollGroup], int]:
    """The polls that may be folded, those that must wait, and the number of lost ones."""
    ready: list[PollGroup] = []
    waiting: list[PollGroup] = []
    lost = 0
    for batch in batches:
        due, rest = (batch, FlushedPolls(())) if until_ms is None else batch.until(until_ms)
        ready += due.groups
        waiting += rest.groups
        lost += batch.lost
    return ready, waiting, lost


class _Folding:
    """One transaction's sums, and the readers they are about.

    `changed`: the numbers of origins under last week's key, with those under this week's.
    """

    def __init__(
        self,
        session: Session,
        groups: Sequence[PollGroup],
        changed: Mapping[int, int],
        smallest_ttl_minutes: int,
    ) -> None:
        self.polls = 0
        self._groups, self._changed = groups, changed
        self._smallest = smallest_ttl_minutes
        self._readers = _readers(session, groups, changed)
        self._versions = _versions(session, groups)
        held = [feed.seen_at for feed in self._readers.feeds.values()]
        self._news = News.since(session, [*held, *(group.document.modified for group in groups)])
        times = [burst[0] for group in groups for burst in group.bursts]
        self._arrivals = Arrivals.between(session, min(times, default=0), max(times, default=0))
        self._days: dict[tuple[int, int], ReaderSums] = defaultdict(ReaderSums)
        self._hours: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
        self._programs: dict[tuple[int, str], list[int]] = defaultdict(lambda: [0, 0, 0])
        self._sources: dict[tuple[int, str], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
        self._seen: dict[int, tuple[float, float]] = {}
        self._agents: dict[int, str] = {NOBODY: ""}
        self._mirrors: dict[int, str] = {}
        self._origins: dict[tuple[int, int], float] = {}
        self._touched: set[tuple[int, str]] = set()

    def run(self) -> None:
        """Count every poll in the order of time."""
        bursts = sorted(
            (at_ms, index, polls)
            for index, group in enumerate(self._groups)
            for at_ms, polls in group.bursts
        )
        for at_ms, index, polls in bursts:
            self._count(at_ms, self._groups[index], polls)
            self.polls += polls

    def save(self, session: Session, lost: int) -> None:
        """Write everything."""
        feeds = {key: self._readers.feeds[key] for key in self._touched | self._readers.changed}
        agents = {client: parse_agent(agent) for client, agent in self._agents.items()}
        store.move_origins(session, self._changed)
        store.save_clients(session, agents, self._mirrors, self._seen)
        store.save_origins(session, self._origins, self._readers.left)
        store.save_feeds(session, feeds)
        store.save_days(session, self._days)
        store.save_hours(session, self._hours)
        store.save_programs(session, self._programs)
        poll_sources.add(session, self._sources)
        store.add_lost(session, lost)
        self._news.save(session)
        self._arrivals.save(session)

    def _count(self, at_ms: int, poll: PollGroup, polls: int) -> None:
        """Add the polls of one burst to their readers, their day and their hour.

        One after the other, until two in a row are told to be of one reader's present visit: the
        second changes nothing about it, so the others are like the second.
        """
        at = at_ms / 1000
        document = poll.path if poll.method != "HEAD" else f"HEAD {poll.path}"
        left, before = polls, None
        while left:
            made = self._readers.who(poll, document, at)
            feed = self._readers.feeds.get((made.client, document))
            settled = made == before and (feed is None or same_visit(feed, at))
            alike = left if settled else 1
            self._add(made, document, at, poll, alike)
            left, before = left - alike, made

    def _add(self, made: Made, document: str, at: float, poll: PollGroup, polls: int) -> None:
        """Add polls by one reader, of which all but the first change nothing about it."""
        client, agent = made.client, "" if made.client == NOBODY else poll.agent
        day_number = int(at // DAY_SECONDS)
        day = self._days[client, day_number]
        self._note_seen(client, poll, agent, at)
        feed = self._readers.feeds.get((client, document))
        tags = poll.bare_tags
        given = feed is not None and any(tag and tag in tags for tag in (feed.tag, feed.tag_before))
        count_answers(day, poll, self._versions, given, polls)
        not_modified, sent = polls * (poll.status == 304), poll.sent * polls
        source = (polls, not_modified, polls * poll.has_validators, sent)
        _add_to(self._sources[day_number, poll.source], source)
        if not mirror_at(poll.path):
            name = parse_agent(agent).name if agent else ""
            _add_to(self._hours[int(at // HOUR_SECONDS)], (polls, not_modified, sent))
            _add_to(self._programs[day_number, name], (polls, not_modified, sent))
        if client == NOBODY:
            day.first += polls * (poll.method != "HEAD")
        else:
            self._touched.add((client, document))
            self._learn(day, made, document, at, poll, polls)

    def _learn(
        self,
        day: ReaderSums,
        made: Made,
        document: str,
        at: float,
        poll: PollGroup,
        polls: int,
    ) -> None:
        """Update what the reader knows after this answer."""
        given, key = poll.document, (made.client, document)
        feed, tag = self._readers.feeds.get(key), given.tag(at)
        max_age = given.max_age(at, poll.tags, poll.status)
        news = feed is not None and given.modified > feed.seen_at
        self._arrivals.count(at, poll, news, polls)
        if feed is None:
            day.first += poll.method != "HEAD"
            feed = ReaderFeed(
                at, given.ttl_minutes, max_age, given.modified, at, foreign=poll.conditional
            )
            self._readers.feeds[key] = feed
            self._readers.holds(made.client, document, feed, tag, poll.origin)
            return
        if made.aside:
            day.first += polls
            remember(feed, (at, given.ttl_minutes, max_age, given.modified, tag), polls)
            return
        if not same_visit(feed, at):
            count_interval(day, feed, at, self._smallest)
            day.unsure += made.unsure * polls
            feed.rhythm = rhythm_after(feed, at - feed.last_at)
            feed.last_at = max(feed.last_at, at)
        self._news.count(feed, at, poll)
        feed.returned = feed.returned or feed.tag in poll.bare_tags or poll.status == 304
        feed.told_minutes, feed.max_age, feed.asked_back_at = given.ttl_minutes, max_age, None
        if poll.status == 429:
            feed.asked_back_at = feed.full_at + self._smallest * 60.0
            return
        if poll.status in BROUGHT and not same_burst(feed.full_at, at):
            feed.full_at = at
        self._readers.holds(made.client, document, feed, tag, poll.origin)

    def _note_seen(self, client: int, poll: PollGroup, agent: str, at: float) -> None:
        first, last = self._seen.get(client, (at, at))
        self._seen[client] = (min(first, at), max(last, at))
        self._agents[client] = agent
        if client != NOBODY:
            self._origins[poll.origin, client] = at
            self._mirrors[client] = mirror_at(poll.path)


def _add_to(sums: list[int], more: Sequence[int]) -> None:
    for place, number in enumerate(more):
        sums[place] += number


def _readers(session: Session, groups: Sequence[PollGroup], changed: Mapping[int, int]) -> Readers:
    """The readers that may have made these polls."""
    here = store.load_origins(session, {group.origin for group in groups} | changed.keys())
    for before, now in changed.items():
        here[now] = here.pop(before)
    feeds = store.load_feeds(session, {client for clients in here.values() for client in clients})
    known: dict[int, set[str | float]] = defaultdict(set)
    for (client, _), feed in feeds.items():
        feed.origin = changed.get(feed.origin, feed.origin)
        known[client] |= {feed.tag, feed.seen_at}
    strange = [
        (parse_agent(group.agent).name, held)
        for group in groups
        for held in group.validators
        if not any(held in known[client] for client in here.get(group.origin, ()))
    ]
    begin = min((group.bursts[0][0] for group in groups), default=0) / 1000
    tags = {held for _, held in strange if isinstance(held, str)}
    lately = store.came_since(session, begin - VISIT_SECONDS, tags)
    feeds |= store.load_feeds(session, (lately | store.holders(session, strange)) - known.keys())
    names, roaming = store.names_and_roaming(session, {client for client, _ in feeds})
    day_start = begin // DAY_SECONDS * DAY_SECONDS
    room = NEW_READERS_A_DAY - store.new_since(session, day_start)
    return Readers(here, feeds, names, roaming, room)


def _versions(session: Session, groups: Sequence[PollGroup]) -> Versions:
    """The served versions, if any are needed: for requests with validators that got a body."""
    versions = Versions({}, {})
    if any(group.status in BROUGHT and group.has_validators for group in groups):
        for tag, modified, content in session.execute(
            select(
                DocumentVersion.etag, DocumentVersion.last_modified, DocumentVersion.content_hash
            )
        ):
            versions.by_tag[bare(tag)] = content
            versions.by_date[format_rfc822(modified)] = content
    return versions
