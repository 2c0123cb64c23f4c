"""Folds batches into tables: polls of all workers, in order of time, are added to readers' days.

What is needed is read and computed without a lock. One transaction then deletes the batches and
writes the sums of all readers together. The readers' own rows follow in further short ones: until
it is written, a part of them waits among the batches, with a number below 0, and the next fold
begins with what is left of them. If another process has folded meanwhile, nothing is written, and
the fold begins anew.
"""

import json
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import CursorResult, delete, func, insert, select
from sqlalchemy.orm import Session

from publisher.base.clock import Clock, real_seconds
from publisher.base.dates import format_rfc822
from publisher.readers import store
from publisher.readers.agents import parse_agent
from publisher.readers.counter import BURST_MS, FLUSH_SECONDS
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

BATCHES_AT_ONCE, BURSTS_AT_ONCE = 15_000, 60_000  # computed at once, in some 75 MB
ROWS_AT_ONCE = 500  # written in one transaction
MOST_WAITING_BYTES = 3_000_000  # some 60,000 groups
LAG_SECONDS = FLUSH_SECONDS + 1.0  # by then every worker has flushed
NEW_READERS_A_DAY = 50_000  # beyond it a day's new readers are counted without a name


def keep_up(
    database: Database, clock: Clock, smallest_ttl: Callable[[Session], int], behind_seconds: float
) -> float:
    """Fold if polls wait for longer than `behind_seconds`, or too many; before, only look.

    Readers of the tables call it first: a fold costs less a poll the more polls a reader has made.
    Returns the seconds by the clock until the next fold is due.
    """
    now, lag = clock(), timedelta(seconds=LAG_SECONDS / real_seconds(clock, 1.0))
    latest = now - lag - timedelta(seconds=behind_seconds)
    size = func.sum(func.length(PollBatch.payload))
    with database.read() as session:
        first_id, waiting = session.execute(select(func.min(PollBatch.id), size)).one()
        if first_id is None:
            return behind_seconds
        first = session.get_one(PollBatch, first_id)
        if first_id > 0 and waiting < MOST_WAITING_BYTES:
            rest = FlushedPolls.from_bytes(first.payload).first_ms / 1000 - latest.timestamp()
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
    until_ms = None if until is None else int(until.timestamp() * 1000) // BURST_MS * BURST_MS
    total, after, more, again = 0, -1, True, False
    while more or again:
        again = False
        _finish(database)
        with database.read() as session:
            batches, more = _next(session, after)
            ready, waiting, lost = _due(batches.values(), until_ms)
            if not ready and not lost:  # newer batches may have been stored by a late worker
                after = max(batches, default=after)
                continue
            present = _present(session, batches)
            if again := present[0] < 0:
                continue
            changed, ready = store.under_this_week(session, ready)
            folding = _Folding(session, ready, changed, smallest_ttl_minutes)
        folding.run()
        with database.read() as session:
            first, *later = folding.parts(session)
        packed = [(-number, _pack(part)) for number, part in enumerate(later, 1)]
        try:
            with database.write(quiet=True) as session:
                same = _present(session, batches) == present
                gone = session.execute(delete(PollBatch).where(PollBatch.id.in_(batches)))
                if not same or cast("CursorResult[Any]", gone).rowcount != len(batches):
                    raise _OvertakenError
                if waiting:
                    payload = FlushedPolls(tuple(waiting)).to_bytes()
                    session.execute(insert(PollBatch).values(payload=payload))
                if later:
                    numbered = [{"id": number, "payload": payload} for number, payload in packed]
                    session.execute(insert(PollBatch), numbered)
                folding.save(session, lost)
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
            oldest = select(PollBatch.id, PollBatch.payload).where(PollBatch.id < 0)
            row = session.execute(oldest.order_by(PollBatch.id).limit(1)).first()
        if row is None:
            return
        part = json.loads(zlib.decompress(row.payload))
        _write_waiting(database, row.id, row.payload, part)


def _pack(part: list[Any]) -> bytes:
    return zlib.compress(json.dumps(part, separators=(",", ":")).encode(), 1)


def _write_waiting(database: Database, number: int, payload: bytes, part: list[Any]) -> None:
    """Write a part that waits, packed, under this number, unless another process has done so."""
    waiting = (PollBatch.id == number) & (PollBatch.payload == payload)
    with database.write(quiet=True) as session:
        gone = session.execute(delete(PollBatch).where(waiting))
        if cast("CursorResult[Any]", gone).rowcount:
            _write(session, part)
    database.give_way()


def _write(session: Session, part: list[Any]) -> None:
    """Write one of the `parts` of a fold."""
    left, *tables = part
    for name, rows in zip(_TABLES, tables, strict=True):
        store.overwrite(session, name, rows)
    store.leave_origins(session, left)


def _present(session: Session, batches: Iterable[int]) -> tuple[int, int, bytes | None]:
    """The first number that is stored, how many are up to the last of these batches, and what that
    one holds (SQLite may give its number again): whatever another process folds changes it."""
    last = max(batches)
    found = select(func.min(PollBatch.id), func.count()).where(PollBatch.id <= last)
    first, number = session.execute(found).one()
    payload = session.scalar(select(PollBatch.payload).where(PollBatch.id == last))
    return first or 0, number, payload


def _next(session: Session, after: int) -> tuple[dict[int, FlushedPolls], bool]:
    """The batches that are folded next, and whether there are more."""
    query = select(PollBatch.id, PollBatch.payload).where(PollBatch.id > after)
    batches: dict[int, FlushedPolls] = {}
    bursts = 0
    for row in session.execute(query.order_by(PollBatch.id).limit(BATCHES_AT_ONCE + 1)):
        if len(batches) == BATCHES_AT_ONCE or bursts >= BURSTS_AT_ONCE:
            return batches, True
        batches[row.id] = FlushedPolls.from_bytes(row.payload)
        bursts += sum(len(group.bursts) for group in batches[row.id].groups)
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
    return _merged(ready), waiting, lost


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
        self.polls = 0
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
        self._news = News.since(session, [*held, *(group.document.modified for group in groups)])
        times = [burst[0] for group in groups for burst in group.bursts]
        self._arrivals = Arrivals.between(session, min(times, default=0), max(times, default=0))
        self._days: dict[tuple[int, int], ReaderSums] = defaultdict(ReaderSums)
        self._hours: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
        self._programs: dict[tuple[int, str], list[int]] = defaultdict(lambda: [0, 0, 0])
        self._sources: dict[tuple[int, str], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
        self._last: dict[int, tuple[float, PollGroup]] = {}
        # Equal answers within an hour, by (client, group, hour, whether its tag was given to it).
        self._alike: Counter[tuple[int, int, int, bool]] = Counter()
        self._touched: set[tuple[int, str]] = set()

    def run(self) -> None:
        """Count every poll in the order of time."""
        bursts = sorted(
            (at_ms, index, polls)
            for index, group in enumerate(self._groups)
            for at_ms, polls in group.bursts
        )
        for at_ms, index, polls in bursts:
            self._count(at_ms, index, polls)
            self.polls += polls
        self._add_together()

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
        for client, (at, poll) in self._last.items():
            agent = parse_agent("" if client == NOBODY else poll.agent)
            mirror = "" if client == NOBODY else mirror_at(poll.path)
            rows.append(
                (
                    client, agent.text, agent.name, agent.version, mirror,
                    agent.subscribers, agent.subscribers_capped, self._first_at[client], at,
                )
            )  # fmt: skip
        return rows

    def save(self, session: Session, lost: int) -> None:
        """Write the sums that are not of one reader."""
        store.add_hours(session, self._hours)
        store.add_programs(session, self._program_rows)
        poll_sources.add(session, self._sources)
        store.add_lost(session, lost)
        self._news.save(session)
        self._arrivals.save(session)

    def _count(self, at_ms: int, index: int, polls: int) -> None:
        """Add the polls of one burst to their readers, their day and their hour.

        One after the other, until two in a row are told to be of one reader's present visit: the
        second changes nothing about it, so the others are like the second.
        """
        at, poll = at_ms / 1000, self._groups[index]
        document = poll.path if poll.method != "HEAD" else f"HEAD {poll.path}"
        hour, tags = int(at // HOUR_SECONDS), poll.bare_tags
        left, before = polls, None
        while left:
            made = self._readers.who(poll, document, at)
            client = made.client
            feed = self._readers.feeds.get((client, document))
            settled = left > 1 and made == before and (feed is None or same_visit(feed, at))
            alike = left if settled else 1
            given = feed is not None and (
                (feed.tag in tags and feed.tag != "")
                or (feed.tag_before in tags and feed.tag_before != "")
            )
            self._alike[client, index, hour, given] += alike
            self._last[client] = at, poll
            self._first_at.setdefault(client, at)
            day = self._days[client, hour // 24]
            if client == NOBODY:
                day.first += alike * (poll.method != "HEAD")
            else:
                self._origins[poll.origin, client] = at
                self._learn(day, made, document, at, poll, alike, feed)
            left, before = left - alike, made

    def _add_together(self) -> None:
        """Add the sums of equal answers to their readers, hours, programs and sources."""
        for (client, index, hour, given), polls in self._alike.items():
            poll, day = self._groups[index], hour // 24
            count_answers(self._days[client, day], poll, self._versions, given, polls)
            not_modified, sent = polls * (poll.status == 304), poll.sent * polls
            source = (polls, not_modified, polls * poll.has_validators, sent)
            _add_to(self._sources[day, poll.source], source)
            if not mirror_at(poll.path):
                name = parse_agent(poll.agent).name if poll.agent and client != NOBODY else ""
                _add_to(self._hours[hour], (polls, not_modified, sent))
                _add_to(self._programs[day, name], (polls, not_modified, sent))

    def _learn(
        self,
        day: ReaderSums,
        made: Made,
        document: str,
        at: float,
        poll: PollGroup,
        polls: int,
        feed: ReaderFeed | None,
    ) -> None:
        """Update what the reader knows after this answer; `feed`: what it knew before."""
        given, key = poll.document, (made.client, document)
        self._touched.add(key)
        tag = given.tag(at)
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


def _merged(groups: Iterable[PollGroup]) -> list[PollGroup]:
    """The groups of several flushes, each once."""
    same: dict[tuple[Any, ...], PollGroup] = {}
    for group in groups:
        one = same.setdefault((*group[:11], group.source), group)
        if one is not group:
            one.bursts.extend(group.bursts)
    return list(same.values())


def _add_to(sums: list[int], more: Sequence[int]) -> None:
    for place, number in enumerate(more):
        sums[place] += number


def _readers(
    session: Session,
    groups: Sequence[PollGroup],
    here: Mapping[int, Mapping[int, float]],
    changed: Mapping[int, int],
) -> tuple[Readers, dict[int, float]]:
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
    readers = Readers(here, feeds, names, roaming, room)
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
