"""From batches to tables: polls of all workers in the order of time, added to each reader's days.

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
from publisher.readers.poll_batches import Answered, FlushedPolls
from publisher.readers.reach import News
from publisher.readers.sums import (
    DAY_SECONDS,
    HOUR_SECONDS,
    ReaderState,
    ReaderSums,
    Versions,
    count_answer,
    count_interval,
)
from publisher.storage.database import Database
from publisher.storage.tables.publishing import DocumentVersion
from publisher.storage.tables.readers import PollBatch

BATCHES_AT_ONCE, GROUPS_AT_ONCE = 20, 2_000  # the write lock is held for a moment only
NEW_READERS_A_DAY = 50_000  # beyond it a day's new readers are summed up as nobody in particular


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
    groups = _limited(session, store.hand_over(session, ready))
    folding = _Folding(session, groups, smallest_ttl_minutes)
    folding.run()
    folding.save(lost)
    return folding.polls, more


def _due(
    batches: Iterable[FlushedPolls], until: datetime | None
) -> tuple[list[Answered], list[Answered], int]:
    """The polls that may be folded, those that must wait, and the number of lost ones."""
    ready: list[Answered] = []
    waiting: list[Answered] = []
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


def _limited(session: Session, groups: Sequence[Answered]) -> Sequence[Answered]:
    """The groups, those of new readers beyond the day's limit without their names."""
    if not groups:
        return groups
    clients = {group.client for group in groups}
    day_start = min(group.times_ms[0] for group in groups) / 1000 // DAY_SECONDS * DAY_SECONDS
    room = NEW_READERS_A_DAY - store.new_since(session, day_start)
    if len(clients) <= room:
        return groups
    new = sorted(clients - store.known(session, clients))
    nameless = set(new[max(room, 0) :])
    return [
        group._replace(client=NOBODY, agent="") if group.client in nameless else group
        for group in groups
    ]


class _Folding:
    """One transaction's sums, and the states they start from."""

    def __init__(
        self, session: Session, groups: Sequence[Answered], smallest_ttl_minutes: int
    ) -> None:
        self.polls = 0
        self._session, self._groups = session, groups
        self._smallest = smallest_ttl_minutes
        self._states = store.load_states(session, {group.client for group in groups})
        self._versions = _versions(session, groups)
        held = [state.seen_at for state in self._states.values()]
        self._news = News.since(session, [*held, *(group.modified for group in groups)])
        self._days: dict[tuple[int, int], ReaderSums] = defaultdict(ReaderSums)
        self._hours: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
        self._seen: dict[int, tuple[float, float]] = {}

    def run(self) -> None:
        """Count every poll, each reader's in the order of time."""
        by_reader: dict[tuple[int, str], list[tuple[float, int]]] = defaultdict(list)
        for index, group in enumerate(self._groups):
            by_reader[group.client, group.document].extend(
                (at_ms / 1000, index) for at_ms in group.times_ms
            )
        for (client, document), polls in by_reader.items():
            polls.sort()
            self.polls += len(polls)
            self._note_seen(client, polls[0][0], polls[-1][0])
            state = self._states.get((client, document))
            for at, index in polls:
                state = self._count(state, at, self._groups[index])
            if state is not None and client != NOBODY:
                self._states[client, document] = state

    def save(self, lost: int) -> None:
        """Write everything."""
        agents = {group.client: parse_agent(group.agent) for group in self._groups}
        store.save_clients(self._session, agents, self._seen)
        store.save_states(self._session, self._states)
        store.save_days(self._session, self._days)
        store.save_hours(self._session, self._hours)
        store.add_lost(self._session, lost)
        self._news.save(self._session)

    def _note_seen(self, client: int, first: float, last: float) -> None:
        before = self._seen.get(client, (first, last))
        self._seen[client] = (min(first, before[0]), max(last, before[1]))

    def _count(self, state: ReaderState | None, at: float, poll: Answered) -> ReaderState:
        """Add one poll to its day and its hour; returns what its reader knows afterwards."""
        day = self._days[poll.client, int(at // DAY_SECONDS)]
        hour = self._hours[int(at // HOUR_SECONDS)]
        hour[0] += 1
        hour[1] += poll.status == 304
        hour[2] += poll.sent
        count_answer(day, poll, self._versions)
        if state is None or poll.client == NOBODY:
            day.first += 1
            return ReaderState(at, poll.ttl_minutes, poll.modified, at)
        count_interval(day, state, at, self._smallest)
        self._news.count(state, at, poll)
        state.last_at = max(state.last_at, at)
        state.told_minutes = poll.ttl_minutes
        state.asked_back_at = None
        if poll.status == 429:
            state.asked_back_at = state.full_at + self._smallest * 60.0
        elif poll.status == 200:
            state.full_at = at
        return state


def _versions(session: Session, groups: Sequence[Answered]) -> Versions:
    """The known versions, if any answer needs them: a body in spite of validators."""
    versions = Versions({}, {})
    if any(group.status == 200 and (group.tags or group.since) for group in groups):
        for tag, modified, content in session.execute(
            select(
                DocumentVersion.etag, DocumentVersion.last_modified, DocumentVersion.content_hash
            )
        ):
            versions.by_tag[tag.removeprefix("W/").strip('"')] = content
            versions.by_date[format_rfc822(modified)] = content
    return versions
