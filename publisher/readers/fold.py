"""Folds batches into tables: polls of all workers, in order of time, are added to readers' days.

Runs in one place at a time (it holds the write lock), is idempotent (a batch is deleted in the
transaction that folds it) and bounded (a few batches a transaction).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from publisher.base.dates import format_rfc822
from publisher.readers import store
from publisher.readers.agents import parse_agent
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
    count_answer,
    count_interval,
)
from publisher.readers.telling_apart import Made, Readers
from publisher.readers.visits import VISIT_SECONDS, remember, rhythm_after, same_visit
from publisher.storage.database import Database
from publisher.storage.tables.mirror import mirror_at
from publisher.storage.tables.publishing import DocumentVersion
from publisher.storage.tables.readers import PollBatch, ReaderFeed

BATCHES_AT_ONCE, GROUPS_AT_ONCE = 20, 2_000  # the write lock is held for a moment only
NEW_READERS_A_DAY = 50_000  # beyond it a day's new readers are counted without a name


def fold(database: Database, smallest_ttl_minutes: int, until: datetime | None = None) -> int:
    """Fold what the workers have flushed; returns the number of polls.

    Polls later than `until` wait for the next time, so that another worker's earlier ones can
    still come in before them.
    """
    total, more = 0, True
    while more:
        with database.read() as session:
            if session.scalar(select(PollBatch.id).limit(1)) is None:
                return total
        with database.write() as session:
            polls, more = _fold_some(session, smallest_ttl_minutes, until)
        total += polls
    return total


def _fold_some(
    session: Session, smallest_ttl_minutes: int, until: datetime | None
) -> tuple[int, bool]:
    rows = session.execute(
        select(PollBatch.id, PollBatch.payload).order_by(PollBatch.id).limit(BATCHES_AT_ONCE + 1)
    ).all()
    batches: dict[int, FlushedPolls] = {}
    for row in rows[:BATCHES_AT_ONCE]:
        if sum(len(batch.groups) for batch in batches.values()) < GROUPS_AT_ONCE:
            batches[row.id] = FlushedPolls.from_bytes(row.payload)
    more = len(batches) < len(rows)
    ready, waiting, lost = _due(batches.values(), until)
    if not ready and not lost and len(batches) < 2:
        return 0, False
    session.execute(delete(PollBatch).where(PollBatch.id.in_(batches)))
    if waiting:
        session.execute(insert(PollBatch).values(payload=FlushedPolls(tuple(waiting)).to_bytes()))
    folding = _Folding(session, store.hand_over(session, ready), smallest_ttl_minutes)
    folding.run()
    folding.save(lost)
    return folding.polls, more


def _due(
    batches: Iterable[FlushedPolls], until: datetime | None
) -> tuple[list[PollGroup], list[PollGroup], int]:
    """The polls that may be folded, those that must wait, and the number of lost ones."""
    ready: list[PollGroup] = []
    waiting: list[PollGroup] = []
    lost = 0
    for batch in batches:
        due, rest = (
            (batch, FlushedPolls(()))
            if until is None
            else batch.until(int(until.timestamp() * 1000))
        )
        ready += due.groups
        waiting += rest.groups
        lost += batch.lost
    return ready, waiting, lost


class _Folding:
    """One transaction's sums, and the readers they are about."""

    def __init__(
        self, session: Session, groups: Sequence[PollGroup], smallest_ttl_minutes: int
    ) -> None:
        self.polls = 0
        self._session, self._groups = session, groups
        self._smallest = smallest_ttl_minutes
        self._readers = _readers(session, groups)
        self._versions = _versions(session, groups)
        held = [feed.seen_at for feed in self._readers.feeds.values()]
        self._news = News.since(session, [*held, *(group.document.modified for group in groups)])
        times = [at for group in groups for at in group.times_ms]
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
        polls = sorted(
            (at_ms, index) for index, group in enumerate(self._groups) for at_ms in group.times_ms
        )
        for at_ms, index in polls:
            self._count(at_ms / 1000, self._groups[index])
        self.polls = len(polls)

    def save(self, lost: int) -> None:
        """Write everything."""
        feeds = {key: self._readers.feeds[key] for key in self._touched}
        agents = {client: parse_agent(agent) for client, agent in self._agents.items()}
        store.save_clients(self._session, agents, self._mirrors, self._seen)
        store.save_origins(self._session, self._origins, self._readers.left)
        store.save_feeds(self._session, feeds)
        store.save_days(self._session, self._days)
        store.save_hours(self._session, self._hours)
        store.save_programs(self._session, self._programs)
        poll_sources.add(self._session, self._sources)
        store.add_lost(self._session, lost)
        self._news.save(self._session)
        self._arrivals.save(self._session)

    def _count(self, at: float, poll: PollGroup) -> None:
        """Add one poll to its reader, its day and its hour."""
        document = poll.path if poll.method != "HEAD" else f"HEAD {poll.path}"
        made = self._readers.who(poll, document, at)
        client, agent = made.client, "" if made.client == NOBODY else poll.agent
        self._note_seen(client, poll, agent, at)
        day = self._days[client, int(at // DAY_SECONDS)]
        if not mirror_at(poll.path):
            self._count_ours(at, poll, agent)
        source = self._sources[int(at // DAY_SECONDS), poll.source]
        for place, more in enumerate((1, poll.status == 304, poll.has_validators)):
            source[place] += more
        source[3] += poll.sent
        feed = self._readers.feeds.get((client, document))
        given = feed is not None and feed.tag in poll.bare_tags
        count_answer(day, poll, self._versions, given)
        if client == NOBODY:
            day.first += poll.method != "HEAD"
        else:
            self._touched.add((client, document))
            self._learn(day, made, document, at, poll)

    def _count_ours(self, at: float, poll: PollGroup, agent: str) -> None:
        """Add a poll of the blog's own feeds to its hour and its program."""
        name = parse_agent(agent).name if agent else ""
        for sums in (
            self._hours[int(at // HOUR_SECONDS)],
            self._programs[int(at // DAY_SECONDS), name],
        ):
            sums[0] += 1
            sums[1] += poll.status == 304
            sums[2] += poll.sent

    def _learn(
        self, day: ReaderSums, made: Made, document: str, at: float, poll: PollGroup
    ) -> None:
        """Update what the reader knows after this answer."""
        given, key = poll.document, (made.client, document)
        feed, tag = self._readers.feeds.get(key), given.tag(at)
        max_age = given.max_age(at, poll.tags, poll.status)
        news = feed is not None and given.modified > feed.seen_at
        self._arrivals.count(at, poll, news)
        if feed is None:
            day.first += poll.method != "HEAD"
            feed = ReaderFeed(
                at, given.ttl_minutes, max_age, given.modified, at, foreign=poll.conditional
            )
            self._readers.feeds[key] = feed
            self._readers.holds(made.client, document, feed, tag, poll.origin)
            return
        if made.aside:
            day.first += 1
            remember(feed, (at, given.ttl_minutes, max_age, given.modified, tag))
            return
        if not same_visit(feed, at):
            count_interval(day, feed, at, self._smallest)
            day.unsure += made.unsure
            feed.rhythm = rhythm_after(feed, at - feed.last_at)
            feed.last_at = max(feed.last_at, at)
        self._news.count(feed, at, poll)
        feed.returned = feed.returned or feed.tag in poll.bare_tags or poll.status == 304
        feed.told_minutes, feed.max_age, feed.asked_back_at = given.ttl_minutes, max_age, None
        if poll.status == 429:
            feed.asked_back_at = feed.full_at + self._smallest * 60.0
            return
        if poll.status in BROUGHT:
            feed.full_at = at
        self._readers.holds(made.client, document, feed, tag, poll.origin)

    def _note_seen(self, client: int, poll: PollGroup, agent: str, at: float) -> None:
        first, last = self._seen.get(client, (at, at))
        self._seen[client] = (min(first, at), max(last, at))
        self._agents[client] = agent
        if client != NOBODY:
            self._origins[poll.origin, client] = at
            self._mirrors[client] = mirror_at(poll.path)


def _readers(session: Session, groups: Sequence[PollGroup]) -> Readers:
    """The readers that may have made these polls."""
    here = store.load_origins(session, {group.origin for group in groups})
    feeds = store.load_feeds(session, {client for clients in here.values() for client in clients})
    known: dict[int, set[str | float]] = defaultdict(set)
    for (client, _), feed in feeds.items():
        known[client] |= {feed.tag, feed.seen_at}
    strange = [
        (parse_agent(group.agent).name, held)
        for group in groups
        for held in group.validators
        if not any(held in known[client] for client in here.get(group.origin, ()))
    ]
    begin = min((group.times_ms[0] for group in groups), default=0) / 1000
    tags = {held for _, held in strange if isinstance(held, str)}
    lately = store.came_since(session, begin - VISIT_SECONDS, tags)
    feeds |= store.load_feeds(session, lately | store.holders(session, strange))
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
