"""Folds flushes into tables: polls of all workers, in order of time, are added to readers' days.

What is needed is read and computed without a lock. One transaction then deletes the flushes, writes
the sums of all readers together, and stores the readers' rows in parts, each of which is written in
a short transaction of its own. Parts that a stopped process has left are written by the next fold.
If another process has folded meanwhile, nothing is written, and the flushes are read anew.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from math import inf
from typing import Any

from sqlalchemy import delete, exists, func, select
from sqlalchemy.orm import Session

from publisher.base.clock import Clock, real_seconds
from publisher.base.dates import format_rfc822
from publisher.part import other_feed_at
from publisher.parts.readers import store
from publisher.parts.readers.agents import parse_agent
from publisher.parts.readers.counter import BURST_MS, FLUSH_SECONDS
from publisher.parts.readers.identification import Attribution, ReaderIndex, unexpected
from publisher.parts.readers.poll_batches import (
    BROUGHT,
    NOBODY,
    FlushedPolls,
    PollGroup,
    bare,
    pack,
    to_bytes,
    unpack,
)
from publisher.parts.readers.reporting.push_arrivals import Arrivals
from publisher.parts.readers.reporting.reach import News
from publisher.parts.readers.sums import (
    DAY_SECONDS,
    HOUR_SECONDS,
    VISIT_SECONDS,
    ReaderSums,
    Versions,
    add_up,
    count_answers,
    count_interval,
    remember,
    same_burst,
    same_visit,
)
from publisher.parts.readers.tables import FoldPart, PollFlush, ReaderFeed
from publisher.storage.database import Database
from publisher.storage.tables.publishing import DocumentVersion
from publisher.storage.upserts import add_to, overwrite, run_rows

# Computed at once, in some 20 MB for 5,000 readers and twice as many where all are different.
BURSTS_AT_ONCE, GROUPS_AT_ONCE = 60_000, 20_000
ROWS_AT_ONCE = 800  # written in one transaction
MOST_WAITING_BYTES = 3_000_000  # some 60,000 groups
LATE_SECONDS = 1.0  # real ones after the time for it, by then every worker has flushed
NEW_READERS_A_DAY = 50_000  # beyond it a day's new readers are counted without a name


def keep_up(
    database: Database,
    clock: Clock,
    smallest_ttl: Callable[[Session], int],
    behind_seconds: float,
    few_bytes: int = 0,
) -> float:
    """Fold if polls wait for longer than `behind_seconds`, or too many; before, only look.

    Readers of the tables call it first: a fold costs less a poll the more polls a reader has made.
    Fewer than `few_bytes` do not wait: then polls that another worker still holds may be folded
    out of order, which costs an interval of a reader that came to both.
    Returns the seconds by the clock until the next fold is due.
    """
    now = clock()
    lag = timedelta(seconds=FLUSH_SECONDS + LATE_SECONDS / real_seconds(clock, 1.0))
    latest = now - lag - timedelta(seconds=behind_seconds)
    _write_parts(database)
    with database.read() as session:
        waiting = session.scalar(select(func.sum(func.length(PollFlush.payload))))
        if not waiting:
            return behind_seconds
        if waiting < few_bytes:
            lag = timedelta()
        elif waiting < MOST_WAITING_BYTES:
            oldest = select(PollFlush.payload).order_by(PollFlush.id).limit(1)
            first_ms = FlushedPolls(session.scalars(oldest).one()).first_ms
            seconds = first_ms / 1000 - latest.timestamp()
            if seconds > 0:
                return seconds
        smallest = smallest_ttl(session)
    fold(database, smallest, now - lag)
    return behind_seconds


def fold(database: Database, smallest_ttl_minutes: int, until: datetime | None = None) -> int:
    """Fold what the workers have flushed; returns the number of polls.

    Polls later than `until` wait for the next time, so that another worker's earlier ones can
    still come in before them.
    """
    # Whole parts of the clock's time, so that no burst is cut.
    until_ms = inf if until is None else until.timestamp() * 1000 // BURST_MS * BURST_MS
    total = after = 0
    while True:
        _write_parts(database)
        with database.read() as session:
            if session.scalar(select(exists().where(FoldPart.id > 0))):
                continue  # another process has begun to write its parts
            due = _Due(session, after, until_ms)
            if not due.flushes:
                return total
            if not due.groups and not due.lost:  # newer flushes may be from a late worker
                after = due.last
                continue
            changed, groups = store.with_keys_of_this_week(session, due.groups)
            folding = _Folding(session, groups, changed, smallest_ttl_minutes)
        folding.run()
        with database.read() as session:
            parts = [(pack(part),) for part in folding.parts(session)]
        with database.write(quiet=True) as session:
            if due.differs(session):
                continue
            session.execute(delete(PollFlush).where(due.among))
            if due.waiting:  # in their old place: before what was stored since
                session.add(PollFlush(id=due.last, payload=to_bytes(due.waiting)))
            run_rows(session, "INSERT INTO fold_parts (payload) VALUES (?)", parts)
            folding.save(session, due.lost)
        total += folding.polls


def _write_parts(database: Database) -> None:
    """Write the parts of folds that wait for it, each unpacked before the lock is taken."""
    with database.read() as session:
        parts = session.execute(select(FoldPart.id, FoldPart.payload).order_by(FoldPart.id)).all()
    for number, payload in parts:
        if number != parts[0].id:
            database.give_way()
        left, *tables = unpack(payload)
        with database.write(quiet=True) as session:
            part = session.get(FoldPart, number)
            if part is None or part.payload != payload:  # another process has written it
                continue
            for name, rows in zip(_TABLES, tables, strict=True):
                overwrite(session, name, rows)
            store.delete_origins(session, left)
            session.delete(part)


class _Due:
    """The flushes after this number that are folded next, with what they hold.

    `flushes`: by number, up to `last`; `among`: the condition for them. `groups`: the polls that
    are due, `waiting`: those that are not; `lost`: how many were not kept.
    """

    def __init__(self, session: Session, after: int, until_ms: float) -> None:
        polls = FlushedPolls()
        self.flushes: dict[int, bytes] = {}
        flushes = select(PollFlush.id, PollFlush.payload).where(PollFlush.id > after)
        query = flushes.order_by(PollFlush.id).limit(GROUPS_AT_ONCE)
        for number, payload in session.execute(query):
            if polls.bursts >= BURSTS_AT_ONCE or len(polls.groups) >= GROUPS_AT_ONCE:
                break
            polls.add(payload)
            self.flushes[number] = payload
        self.last = max(self.flushes, default=after)
        self.among = PollFlush.id.between(after + 1, self.last)
        self.groups, self.waiting = polls.split(until_ms)
        self.lost = polls.lost

    def differs(self, session: Session) -> bool:
        """Whether another process has folded since they were read. Their contents are compared, as
        SQLite gives a number again."""
        stored = session.execute(select(PollFlush.id, PollFlush.payload).where(self.among))
        return dict(stored.all()) != self.flushes


_HOUR_MS, _DAY_MS = HOUR_SECONDS * 1000, DAY_SECONDS * 1000
# What `_Folding.parts` are rows of.
_TABLES = ("reader_clients", "reader_origins", "reader_feeds", "reader_days")


class _Folding:
    """One fold's sums, and the readers they are about.

    `changed`: the numbers of origins under last week's key, with those under this week's.
    """

    def __init__(
        self,
        session: Session,
        groups: Sequence[PollGroup],
        changed: Mapping[int, int],
        smallest_ttl_minutes: int,
    ) -> None:
        self.polls = sum(burst[1] for group in groups for burst in group.bursts)
        self._groups = groups
        self._smallest = smallest_ttl_minutes
        self._origins: dict[tuple[int, int], float] = {}
        self._left: set[tuple[int, int]] = set()
        clients_at = store.load_origins(
            session, {group.origin for group in groups} | changed.keys()
        )
        for before, now in changed.items():
            clients_at[now] = clients_at.pop(before)
            self._origins |= {(now, client): at for client, at in clients_at[now].items()}
            self._left |= {(before, client) for client in clients_at[now]}
        self._readers, self._first_at = _readers(session, groups, clients_at, changed)
        self._versions = _versions(session, groups)
        held = [feed.seen_at for feed in self._readers.feeds.values()]
        self._news = News(session, [*held, *(group.document.modified for group in groups)])
        times = [burst[0] for group in groups for burst in group.bursts]
        self._arrivals = Arrivals(session, min(times, default=0), max(times, default=0))
        self._days: dict[tuple[int, int], ReaderSums] = defaultdict(ReaderSums)
        self._hours: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
        self._programs: dict[tuple[int, str], list[int]] = defaultdict(lambda: [0, 0, 0])
        self._sources: dict[tuple[int, str], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
        # What these three are made of: polls by hour, of one source, agent ("": nameless), path,
        # status, with validators or without, and size.
        self._alike: dict[tuple[str, str, str, int, bool, int], dict[int, int]]
        self._alike = defaultdict(lambda: defaultdict(int))
        self._last: dict[int, tuple[float, int, PollGroup]] = {}
        self._touched: set[tuple[int, str]] = set()

    def run(self) -> None:
        """Count every poll in the order of time."""
        lines = [_Line(*numbered, self._readers) for numbered in enumerate(self._groups)]
        bursts = [(at, line.index, polls) for line in lines for at, polls in line.poll.bursts]
        for at_ms, index, polls in sorted(bursts):
            self._count(at_ms, lines[index], polls)
        for line in lines:
            self._add(line)
        self._days = {key: add_up(sums) for key, sums in self._days.items() if sums.requests}
        for (source, agent, path, status, validated, size), hours in self._alike.items():
            program = parse_agent(agent).name if agent else ""
            for hour, polls in hours.items():
                shown, sent = polls * (status == 304), polls * size
                _add_to(self._sources[hour // 24, source], (polls, shown, polls * validated, sent))
                if not other_feed_at(path):
                    for table in (self._hours[hour], self._programs[hour // 24, program]):
                        _add_to(table, (polls, shown, sent))

    def parts(self, session: Session) -> list[list[Any]]:
        """The readers' rows, in parts that are written in a short time each."""
        feeds = {key: self._readers.feeds[key] for key in self._touched | self._readers.changed}
        left = self._left | self._readers.left
        self._program_rows = store.program_rows(session, self._programs)
        tables: list[list[store.Row]] = [
            self._client_rows(),
            [(*pair, at) for pair, at in self._origins.items() if pair not in left],
            store.feed_rows(feeds),
            store.day_rows(session, self._days),
        ]
        rows = [(place, row) for place, table in enumerate(tables) for row in table]
        parts = []
        for start in range(0, len(rows) or 1, ROWS_AT_ONCE):
            cut: list[list[Any]] = [[] for _ in tables]
            for place, row in rows[start : start + ROWS_AT_ONCE]:
                cut[place].append(row)
            parts.append([[] if start else list(left), *cut])
        return parts

    def _client_rows(self) -> list[store.Row]:
        rows = []
        for client, (at, _, poll) in self._last.items():
            agent = parse_agent("" if client == NOBODY else poll.agent)
            mirror = "" if client == NOBODY else other_feed_at(poll.path)
            rows.append(
                (
                    client, agent.text, agent.name, agent.version, mirror,
                    agent.subscribers, agent.subscribers_capped, self._first_at[client], at,
                )
            )  # fmt: skip
        return rows

    def save(self, session: Session, lost: int) -> None:
        """Write the sums that are not of one reader."""
        add_to(session, "poll_hours", [(hour, *sums) for hour, sums in self._hours.items()])
        add_to(session, "program_days", self._program_rows)
        sources = [(*key, *sums) for key, sums in self._sources.items()]
        add_to(session, "poll_sources", sources)
        store.add_lost(session, lost)
        self._news.save(session)
        self._arrivals.save(session)

    def _count(self, at_ms: int, line: "_Line", polls: int) -> None:
        """Add the polls of one burst to their readers, their day and their hour.

        One after the other, until the rest is usual, or two in a row are told to be of one reader's
        present visit, or of an earlier one (a slice may go back in time): the second changes
        nothing about it, so the others are like the second.
        """
        at, hour, date = at_ms / 1000, at_ms // _HOUR_MS, at_ms // _DAY_MS
        if date != line.date and len(line.clients) == 1:
            self._switch(line, line.clients[0], date, at)  # most likely
        poll, readers, left, previous = line.poll, self._readers, polls, None
        while left:
            if date == line.date and self._count_usual(line, at, left):
                line.hours[hour] += left
                return
            attribution = readers.identify(poll, line.document, at)
            if attribution.client != line.client or date != line.date:
                self._switch(line, attribution.client, date, at)
            feed = line.feed
            present = feed is None or same_visit(feed, at) or (at < feed.last_at and line.tags)
            alike = left if attribution == previous and present else 1
            if feed and any(tag and tag in line.tags for tag in (feed.tag, feed.tag_before)):
                line.with_tag += alike
            else:
                line.without_tag += alike
            line.hours[hour] += alike
            line.at = at
            if attribution.client != NOBODY:
                self._update_feed(line, attribution, at, alike)
            elif poll.method != "HEAD":
                line.sums.first += alike
            left, previous = left - alike, attribution

    def _count_usual(self, line: "_Line", at: float, polls: int) -> bool:
        """Note polls as nearly all are: alone at its address, a reader names the tag that it was
        given and gets a 304, again in its visit or when it is expected; or it names none, again in
        its visit.

        Returns False, with nothing changed, for others. `_count` would find the same, step by step.
        """
        feed, poll = line.feed, line.poll
        if feed is None or line.clients != [line.client]:
            return False
        visit, document = same_visit(feed, at), poll.document
        if visit and not poll.conditional and not parse_agent(poll.agent).one_program:
            self._update_feed(line, Attribution(line.client, provisional=True), at, polls)
            line.without_tag, line.at = line.without_tag + polls, at
            return True
        if poll.status != 304:
            return False
        tag, max_age = document.announced(at)
        keeps = tag == feed.tag and tag in line.tags and document.modified <= feed.seen_at
        if not (tag and keeps and (visit or not unexpected(feed, at))):
            return False
        if not visit:
            count_interval(line.sums, feed, at, self._smallest)
        feed.returned, feed.origin, line.at = True, poll.origin, at
        feed.told_minutes, feed.max_age, feed.asked_back_at = document.ttl_minutes, max_age, None
        line.with_tag += polls
        return True

    def _switch(self, line: "_Line", client: int, date: int, at: float) -> None:
        """Let the line hold this reader's polls of this day, after adding those that it holds."""
        self._add(line)
        poll = line.poll
        if client != line.client or line.date < 0:
            agent = "" if client == NOBODY else poll.agent
            alike = poll.source, agent, poll.path, poll.status, poll.has_validators, poll.sent
            line.hours = self._alike[alike]
        line.client, line.date, line.with_tag, line.without_tag = client, date, 0, 0
        line.feed = self._readers.feeds.get((client, line.document))
        line.sums = self._days[client, date]
        self._first_at.setdefault(client, at)

    def _add(self, line: "_Line") -> None:
        """Add the line's polls to their reader."""
        if not line.with_tag and not line.without_tag:
            return
        client, poll, at = line.client, line.poll, line.at
        latest = at, line.index, poll
        self._last[client] = max(self._last.get(client, latest), latest)
        if client != NOBODY:
            pair = poll.origin, client
            self._origins[pair] = max(self._origins.get(pair, at), at)
            self._touched.add((client, line.document))
        for own_tag, number in ((True, line.with_tag), (False, line.without_tag)):
            if number:
                count_answers(line.sums, poll, self._versions, own_tag, number)

    def _update_feed(self, line: "_Line", attribution: Attribution, at: float, polls: int) -> None:
        """Update what the reader knows after this answer."""
        poll, sums, feed = line.poll, line.sums, line.feed
        document = poll.document
        tag, max_age = document.announced(at, poll.tags, poll.status)
        news = feed is not None and document.modified > feed.seen_at
        self._arrivals.count(at, poll, news, polls)
        if feed is None:
            sums.first += poll.method != "HEAD"
            feed = line.feed = ReaderFeed(
                at, document.ttl_minutes, max_age, document.modified, at, foreign=poll.conditional
            )
            self._readers.feeds[attribution.client, line.document] = feed
            self._readers.holds(attribution.client, line.document, feed, tag, poll.origin)
            return
        if attribution.provisional:
            sums.first += polls
            remember(feed, (at, document.ttl_minutes, max_age, document.modified, tag), polls)
            return
        if not same_visit(feed, at):
            count_interval(sums, feed, at, self._smallest)
            sums.unsure += attribution.unsure * polls
        if news:
            self._news.count(feed, at, poll)
        feed.returned = feed.returned or poll.status == 304 or feed.tag in line.tags
        feed.told_minutes, feed.max_age, feed.asked_back_at = document.ttl_minutes, max_age, None
        if poll.status == 429:
            feed.asked_back_at = feed.full_at + self._smallest * 60.0
            return
        if poll.status in BROUGHT and not same_burst(feed.full_at, at):
            feed.full_at = at
        self._readers.holds(attribution.client, line.document, feed, tag, poll.origin)


class _Line:
    """A group's polls; since they were added last (`_Folding._add`), of one reader in one day.

    `clients`: the readers at its address; `client`: the one that made the last poll, at `at`;
    `feed`: what it knows, None before its first poll; `date`: days since 1970. `with_tag`: its
    polls with a tag that it was given, `without_tag`: all others; `hours`: all polls of this kind,
    by hour.
    """

    __slots__ = (
        "at", "client", "clients", "date", "document", "feed", "hours", "index", "poll", "sums",
        "tags", "with_tag", "without_tag",
    )  # fmt: skip
    sums: ReaderSums
    hours: dict[int, int]

    def __init__(self, index: int, poll: PollGroup, readers: ReaderIndex) -> None:
        self.index, self.poll, self.tags = index, poll, poll.bare_tags
        self.clients = readers.clients_at[poll.origin]
        self.document = poll.path if poll.method != "HEAD" else f"HEAD {poll.path}"
        self.client, self.date, self.at = NOBODY, -1, 0.0  # no day at all
        self.with_tag = self.without_tag = 0
        self.feed: ReaderFeed | None = None


def _add_to(sums: list[int], more: Sequence[int]) -> None:
    for place, number in enumerate(more):
        sums[place] += number


def _readers(
    session: Session,
    groups: Sequence[PollGroup],
    clients_at: Mapping[int, Mapping[int, float]],
    changed: Mapping[int, int],
) -> tuple[ReaderIndex, dict[int, float]]:
    """The readers that may have made these polls, and when those known before first came."""
    feeds = store.load_feeds(session, set[int]().union(*clients_at.values()))
    moved = {key for key, feed in feeds.items() if feed.origin in changed}
    for key in moved:
        feeds[key].origin = changed[feeds[key].origin]
    held_by: dict[int, set[str | float]] = defaultdict(set)
    for (client, _), feed in feeds.items():
        held_by[client] |= {feed.tag, feed.seen_at}
    strange = [
        (parse_agent(group.agent).name, held)
        for group in groups
        for held in group.validators
        if not any(held in held_by[client] for client in clients_at.get(group.origin, ()))
    ]
    begin = min((group.bursts[0][0] for group in groups), default=0) / 1000
    tags = {held for _, held in strange if isinstance(held, str)}
    lately = store.seen_since(session, begin - VISIT_SECONDS, tags)
    feeds |= store.load_feeds(session, (lately | store.holders(session, strange)) - held_by.keys())
    clients = {client for client, _ in feeds}.union(*clients_at.values())
    names, first_at, roaming = store.load_clients(session, clients)
    day_start = begin // DAY_SECONDS * DAY_SECONDS
    room = NEW_READERS_A_DAY - store.new_since(session, day_start)
    readers = ReaderIndex(clients_at, feeds, names, roaming, room)
    readers.changed |= moved
    return readers, first_at


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
