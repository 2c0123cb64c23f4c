"""Folds batches into tables: polls of all workers, in order of time, are added to readers' days.

What is needed is read and computed without a lock. One transaction then deletes the batches and
writes the sums of all readers together. The readers' own rows follow in further short ones: those
not written yet are parked in `poll_batches` under negative ids, and the next fold begins with them.
If another process has folded meanwhile, nothing is written, and the fold begins anew.
"""

import json
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from math import inf
from typing import Any, cast

from sqlalchemy import CursorResult, delete, func, select
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
    to_bytes,
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
from publisher.parts.readers.tables import PollFlush, ReaderFeed
from publisher.storage.database import Database
from publisher.storage.tables.publishing import DocumentVersion
from publisher.storage.upserts import add_to, overwrite, run_rows

# Computed at once, in some 20 MB for 5,000 readers and twice as many where all are different.
BATCHES_AT_ONCE, BURSTS_AT_ONCE, GROUPS_AT_ONCE = 15_000, 60_000, 20_000
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
    size = func.sum(func.length(PollFlush.payload))
    with database.read() as session:
        first_id, waiting = session.execute(select(func.min(PollFlush.id), size)).one()
        if first_id is None:
            return behind_seconds
        first = session.get_one(PollFlush, first_id)
        if waiting < few_bytes:
            lag = timedelta()
        elif first_id > 0 and waiting < MOST_WAITING_BYTES:
            rest = FlushedPolls(first.payload).first_ms / 1000 - latest.timestamp()
            if rest > 0:
                return rest
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
    total, after, more, again = 0, -1, True, False
    while more or again:
        again = False
        _finish(database)
        with database.read() as session:
            due = _Due(session, after, until_ms)
            more = due.more
            if not due.groups and not due.lost:  # newer batches may be from a late worker
                after = max(due.batches, default=after)
                continue
            present = _present(session, due.batches)
            if again := present[0] < 0:
                continue
            changed, groups = store.under_this_week(session, due.groups)
            folding = _Folding(session, groups, changed, smallest_ttl_minutes)
        folding.run()
        with database.read() as session:
            first, *later = folding.parts(session)
        packed = [(-number, _pack(part)) for number, part in enumerate(later, 1)]
        # In their old place: before what was stored since these batches were read.
        waiting = [(due.batches[-1], to_bytes(due.waiting))] if due.waiting else []
        try:
            with database.write(quiet=True) as session:
                same = _present(session, due.batches) == present
                gone = session.execute(delete(PollFlush).where(PollFlush.id.in_(due.batches)))
                if not same or cast("CursorResult[Any]", gone).rowcount != len(due.batches):
                    raise _OvertakenError
                run_rows(session, _INSERT, waiting + packed)
                folding.save(session, due.lost)
                _write(session, first)
        except _OvertakenError:
            again = True
            continue
        total += folding.polls
        if later or more:
            database.give_way()
        # -1 comes last: SQLite gives a new batch the number after the highest one.
        for (number, payload), part in reversed(list(zip(packed, later, strict=True))):
            _write_waiting(database, number, payload, part)
    return total


def _finish(database: Database) -> None:
    """Write the parts of a fold that are still waiting, each in a transaction of its own."""
    while True:
        with database.read() as session:
            oldest = select(PollFlush.id, PollFlush.payload).where(PollFlush.id < 0)
            row = session.execute(oldest.order_by(PollFlush.id).limit(1)).first()
        if row is None:
            return
        part = json.loads(zlib.decompress(row.payload))
        _write_waiting(database, row.id, row.payload, part)


def _pack(part: list[Any]) -> bytes:
    return zlib.compress(json.dumps(part, separators=(",", ":")).encode(), 1)


def _write_waiting(database: Database, number: int, payload: bytes, part: list[Any]) -> None:
    """Write a part that waits, packed, under this number, unless another process has done so."""
    waiting = (PollFlush.id == number) & (PollFlush.payload == payload)
    with database.write(quiet=True) as session:
        gone = session.execute(delete(PollFlush).where(waiting))
        if cast("CursorResult[Any]", gone).rowcount:
            _write(session, part)
    database.give_way()


def _write(session: Session, part: list[Any]) -> None:
    """Write one of the `parts` of a fold."""
    left, *tables = part
    for name, rows in zip(_TABLES, tables, strict=True):
        overwrite(session, name, rows)
    store.leave_origins(session, left)


def _present(session: Session, batches: Iterable[int]) -> tuple[int, int, bytes | None]:
    """The first number that is stored, how many are up to the last of these batches, and what that
    one holds (SQLite may give its number again): whatever another process folds changes it."""
    last = max(batches)
    found = select(func.min(PollFlush.id), func.count()).where(PollFlush.id <= last)
    first, number = session.execute(found).one()
    payload = session.scalar(select(PollFlush.payload).where(PollFlush.id == last))
    return first or 0, number, payload


class _Due:
    """The batches after this number that are folded next, BATCHES_AT_ONCE at most.

    `groups`: the polls that are due, `waiting`: those that are not; `lost`: how many were not kept;
    `more`: whether there are further batches.
    """

    def __init__(self, session: Session, number: int, until_ms: float) -> None:
        self.batches: list[int] = []
        self.more = False
        polls = FlushedPolls()
        query = select(PollFlush.id, PollFlush.payload).where(PollFlush.id > number)
        for row in session.execute(query.order_by(PollFlush.id).limit(BATCHES_AT_ONCE + 1)):
            full = polls.bursts >= BURSTS_AT_ONCE or len(polls.groups) >= GROUPS_AT_ONCE
            if full or len(self.batches) == BATCHES_AT_ONCE:
                self.more = True
                break
            polls.add(row.payload)
            self.batches.append(row.id)
        self.groups, self.waiting = polls.split(until_ms)
        self.lost = polls.lost


_INSERT = "INSERT INTO poll_flushes (id, payload) VALUES (?, ?)"
_HOUR_MS, _DAY_MS = HOUR_SECONDS * 1000, DAY_SECONDS * 1000
# What `_Folding.parts` are rows of.
_TABLES = ("reader_clients", "reader_origins", "reader_feeds", "reader_days")


class _OvertakenError(Exception):
    """Another process has folded meanwhile."""


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
        here = store.load_origins(session, {group.origin for group in groups} | changed.keys())
        for before, now in changed.items():
            here[now] = here.pop(before)
            self._origins |= {(now, client): at for client, at in here[now].items()}
            self._left |= {(before, client) for client in here[now]}
        self._readers, self._first_at = _readers(session, groups, here, changed)
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
        for (source, agent, path, status, asked, size), hours in self._alike.items():
            program = parse_agent(agent).name if agent else ""
            for hour, polls in hours.items():
                shown, sent = polls * (status == 304), polls * size
                _add_to(self._sources[hour // 24, source], (polls, shown, polls * asked, sent))
                if not other_feed_at(path):
                    for table in (self._hours[hour], self._programs[hour // 24, program]):
                        _add_to(table, (polls, shown, sent))

    def parts(self, session: Session) -> list[list[Any]]:
        """The readers' rows, in parts that are written in a short time (see `_write`)."""
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
        if date != line.date and len(line.here) == 1:
            self._begin(line, line.here[0], date, at)  # most likely
        poll, readers, left, before = line.poll, self._readers, polls, None
        while left:
            if date == line.date and self._count_usual(line, at, left):
                line.hours[hour] += left
                return
            made = readers.identify(poll, line.document, at)
            if made.client != line.client or date != line.date:
                self._begin(line, made.client, date, at)
            feed = line.feed
            present = feed is None or same_visit(feed, at) or (at < feed.last_at and line.tags)
            alike = left if made == before and present else 1
            if feed and any(tag and tag in line.tags for tag in (feed.tag, feed.tag_before)):
                line.given += alike
            else:
                line.others += alike
            line.hours[hour] += alike
            line.at = at
            if made.client != NOBODY:
                self._learn(line, made, at, alike)
            elif poll.method != "HEAD":
                line.sums.first += alike
            left, before = left - alike, made

    def _count_usual(self, line: "_Line", at: float, polls: int) -> bool:
        """Note polls as nearly all are: alone at its address, a reader names the tag that it was
        given and gets a 304, again in its visit or when it is expected; or it names none, again in
        its visit.

        Returns False, with nothing changed, for others. `_count` would find the same, step by step.
        """
        feed, poll = line.feed, line.poll
        if feed is None or line.here != [line.client]:
            return False
        visit, given = same_visit(feed, at), poll.document
        if visit and not poll.conditional and not parse_agent(poll.agent).one_program:
            self._learn(line, Attribution(line.client, provisional=True), at, polls)
            line.others, line.at = line.others + polls, at
            return True
        if poll.status != 304:
            return False
        tag, max_age = given.told(at)
        keeps = tag == feed.tag and tag in line.tags and given.modified <= feed.seen_at
        if not (tag and keeps and (visit or not unexpected(feed, at))):
            return False
        if not visit:
            count_interval(line.sums, feed, at, self._smallest)
        feed.returned, feed.origin, line.at = True, poll.origin, at
        feed.told_minutes, feed.max_age, feed.asked_back_at = given.ttl_minutes, max_age, None
        line.given += polls
        return True

    def _begin(self, line: "_Line", client: int, date: int, at: float) -> None:
        """Let the line hold this reader's polls of this day, after adding what it holds."""
        self._add(line)
        poll = line.poll
        if client != line.client or line.date < 0:
            agent = "" if client == NOBODY else poll.agent
            alike = poll.source, agent, poll.path, poll.status, poll.has_validators, poll.sent
            line.hours = self._alike[alike]
        line.client, line.date, line.given, line.others = client, date, 0, 0
        line.feed = self._readers.feeds.get((client, line.document))
        line.sums = self._days[client, date]
        self._first_at.setdefault(client, at)

    def _add(self, line: "_Line") -> None:
        """Add the line's polls to their reader."""
        if not line.given and not line.others:
            return
        client, poll, at = line.client, line.poll, line.at
        latest = at, line.index, poll
        self._last[client] = max(self._last.get(client, latest), latest)
        if client != NOBODY:
            pair = poll.origin, client
            self._origins[pair] = max(self._origins.get(pair, at), at)
            self._touched.add((client, line.document))
        for given, number in ((True, line.given), (False, line.others)):
            if number:
                count_answers(line.sums, poll, self._versions, given, number)

    def _learn(self, line: "_Line", made: Attribution, at: float, polls: int) -> None:
        """Update what the reader knows after this answer."""
        poll, sums, feed = line.poll, line.sums, line.feed
        given = poll.document
        tag, max_age = given.told(at, poll.tags, poll.status)
        news = feed is not None and given.modified > feed.seen_at
        self._arrivals.count(at, poll, news, polls)
        if feed is None:
            sums.first += poll.method != "HEAD"
            feed = line.feed = ReaderFeed(
                at, given.ttl_minutes, max_age, given.modified, at, foreign=poll.conditional
            )
            self._readers.feeds[made.client, line.document] = feed
            self._readers.holds(made.client, line.document, feed, tag, poll.origin)
            return
        if made.provisional:
            sums.first += polls
            remember(feed, (at, given.ttl_minutes, max_age, given.modified, tag), polls)
            return
        if not same_visit(feed, at):
            count_interval(sums, feed, at, self._smallest)
            sums.unsure += made.unsure * polls
        if news:
            self._news.count(feed, at, poll)
        feed.returned = feed.returned or poll.status == 304 or feed.tag in line.tags
        feed.told_minutes, feed.max_age, feed.asked_back_at = given.ttl_minutes, max_age, None
        if poll.status == 429:
            feed.asked_back_at = feed.full_at + self._smallest * 60.0
            return
        if poll.status in BROUGHT and not same_burst(feed.full_at, at):
            feed.full_at = at
        self._readers.holds(made.client, line.document, feed, tag, poll.origin)


class _Line:
    """A group's polls; since they were added last (`_Folding._add`), of one reader in one day.

    `here`: the readers at its address; `client`: the one that made the last poll, at `at`; `feed`:
    what it knows, None before its first poll; `date`: days since 1970. `given`: its polls with a
    tag that it was given; `others`: the rest; `hours`: all polls of this kind, by hour.
    """

    __slots__ = (
        "at", "client", "date", "document", "feed", "given", "here", "hours", "index", "others",
        "poll", "sums", "tags",
    )  # fmt: skip
    sums: ReaderSums
    hours: dict[int, int]

    def __init__(self, index: int, poll: PollGroup, readers: ReaderIndex) -> None:
        self.index, self.poll, self.tags = index, poll, poll.bare_tags
        self.here = readers.here[poll.origin]
        self.document = poll.path if poll.method != "HEAD" else f"HEAD {poll.path}"
        self.client, self.date, self.at = NOBODY, -1, 0.0  # no day at all
        self.given = self.others = 0
        self.feed: ReaderFeed | None = None


def _add_to(sums: list[int], more: Sequence[int]) -> None:
    for place, number in enumerate(more):
        sums[place] += number


def _readers(
    session: Session,
    groups: Sequence[PollGroup],
    here: Mapping[int, Mapping[int, float]],
    changed: Mapping[int, int],
) -> tuple[ReaderIndex, dict[int, float]]:
    """The readers that may have made these polls, and when those known before first came."""
    feeds = store.load_feeds(session, {client for clients in here.values() for client in clients})
    moved = {key for key, feed in feeds.items() if feed.origin in changed}
    for key in moved:
        feeds[key].origin = changed[feeds[key].origin]
    known: dict[int, set[str | float]] = defaultdict(set)
    for (client, _), feed in feeds.items():
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
    clients = {client for client, _ in feeds} | {c for found in here.values() for c in found}
    names, first_at, roaming = store.load_clients(session, clients)
    day_start = begin // DAY_SECONDS * DAY_SECONDS
    room = NEW_READERS_A_DAY - store.new_since(session, day_start)
    readers = ReaderIndex(here, feeds, names, roaming, room)
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
