"""Property test: however polls are spread over workers, flushes and folds, the tables are the same.

The sums are also compared with a log that is kept beside the counter and knows nothing of it.
"""

import random
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select, text

from publisher.installation import Site
from publisher.parts.readers import store
from publisher.parts.readers.counter import BURST_MS, FLUSH_SECONDS
from publisher.parts.readers.fold import LATE_SECONDS, ROWS_AT_ONCE, _Folding, fold, keep_up
from publisher.parts.readers.identification import Attribution, ReaderIndex
from publisher.parts.readers.poll_batches import PollGroup, pack
from publisher.parts.readers.tables import (
    FoldPart,
    PollFlush,
    PollHour,
    PollSource,
    ProgramDay,
    ReaderClient,
    reader_days,
)
from publisher.storage.columns import Base
from publisher.storage.schema import upgrade
from tests.parts.readers.polls import FULL, NOT_MODIFIED, PACKED, REFUSED, Counting, FakeDocument

MONDAY = datetime(2024, 3, 4, 9, 30, tzinfo=UTC)
LAG_SECONDS = FLUSH_SECONDS + LATE_SECONDS
DOCUMENTS = [FakeDocument(), FakeDocument('W/"two"', MONDAY, 3600, 4321, 1234)]
ANSWERS = (FULL, PACKED, NOT_MODIFIED, REFUSED)
TABLES = ("reader_clients", "reader_origins", "reader_feeds", "reader_days", "poll_hours",
          "program_days", "poll_sources")  # fmt: skip


@dataclass(frozen=True)
class Poll:
    """So many equal polls, evenly spread over so many milliseconds.

    Those within the same second come together: a burst has the time of its first poll.
    """

    after_ms: int
    reader: int
    document: int
    answer: int
    tag: int
    head: bool
    number: int
    span_ms: int

    def times(self, begin: datetime) -> list[datetime]:
        """When they come."""
        step = timedelta(milliseconds=max(10, self.span_ms // self.number // 10 * 10))
        first: dict[int, datetime] = {}
        begin += timedelta(milliseconds=self.reader)  # so that no two readers come at once
        times = (begin + step * place for place in range(self.number))
        return [first.setdefault(int(at.timestamp() * 1000) // BURST_MS, at) for at in times]


bursts = st.lists(
    st.builds(
        Poll,
        after_ms=st.one_of(st.integers(0, 3_000), st.integers(0, 4_000_000)),
        reader=st.integers(0, 4),
        document=st.integers(0, 1),
        answer=st.integers(0, len(ANSWERS) - 1),
        tag=st.integers(0, 3),
        head=st.sampled_from([False, False, False, True]),
        number=st.one_of(st.integers(1, 3), st.integers(1, 30)),
        span_ms=st.integers(1, 20_000),
    ),
    min_size=1,
    max_size=12,
)


def polls_of(bursts: Sequence[Poll]) -> list[tuple[datetime, Poll]]:
    """All polls in the order of time. A reader's next kind of poll begins after the second of
    its last one: a burst stands where its first poll was, so only within them is an order lost."""
    now, polls, free = MONDAY, list[tuple[datetime, Poll]](), dict[int, datetime]()
    for burst in bursts:
        now += timedelta(milliseconds=burst.after_ms // 10 * 10)
        times = burst.times(max(now, free.get(burst.reader, now)))
        polls += [(at, burst) for at in times]
        free[burst.reader] = times[-1] + timedelta(milliseconds=BURST_MS - burst.reader)
    return sorted(polls, key=lambda poll: poll[0])


def count(counting: Counting, at: datetime, poll: Poll) -> None:
    """Count one poll; each reader has an address and a program of its own."""
    headers: dict[str, str] = {"method": "HEAD"} if poll.head else {}
    if poll.tag:
        headers["if_none_match"] = ["", 'W/"one"', 'W/"two"', '"made up"'][poll.tag]
    agent = f"program-{poll.reader}/1.0"
    counting.poll(
        at, ANSWERS[poll.answer], DOCUMENTS[poll.document], agent=agent,
        address=f"192.0.2.{poll.reader}", **headers,
    )  # fmt: skip


@contextmanager
def known_numbers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keys and readers' numbers are drawn anew for each site: here from the same row."""
    rng = random.Random(7)
    with monkeypatch.context() as patch:
        patch.setattr(secrets, "token_bytes", rng.randbytes)
        patch.setattr(secrets, "randbits", rng.getrandbits)
        yield


def tables(site: Site, monkeypatch: pytest.MonkeyPatch, work: Callable[[], None]) -> list[str]:
    """The rows after `work`, which begins without any."""
    with site.database.write() as session:
        store.erase(session)
    with known_numbers(monkeypatch):
        work()
    with site.database.read() as session:
        for table in (PollFlush, FoldPart):
            assert session.scalar(select(func.count()).select_from(table)) == 0
        return [
            f"{name}: {row._asdict()}"
            for name in TABLES
            for row in session.execute(select(Base.metadata.tables[name]))
        ]


def differing(first: list[str], second: list[str]) -> list[str]:
    """The rows that only one of two results has."""
    return sorted(set(first) ^ set(second))


@settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(script=bursts, seed=st.integers(0, 1000))
def test_parts_make_no_difference(
    site: Site, monkeypatch: pytest.MonkeyPatch, script: list[Poll], seed: int
) -> None:
    """Folded at once, with no poll taken for a usual one, in any number of flushes and folds, and
    counted by two workers."""
    polls = polls_of(script)

    def at_once() -> None:
        counting = Counting(site)
        for at, poll in polls:
            count(counting, at, poll)
        assert counting.fold() == len(polls)

    def one_by_one() -> None:
        rng, counting = random.Random(seed), Counting(site)
        for at, poll in polls:
            count(counting, at, poll)
            if rng.random() < min(1.0, 8 / len(polls)):
                counting.fold()
        counting.fold()

    def two_workers() -> None:
        rng, workers = random.Random(seed), [Counting(site), Counting(site)]
        for at, poll in polls:
            worker = workers[rng.random() < 0.5]
            count(worker, at, poll)
            if rng.random() < 0.05:
                worker.counter.flush()
        workers[0].counter.flush()
        assert workers[1].fold() == len(polls)

    def step_by_step() -> None:
        with monkeypatch.context() as patch:
            patch.setattr(_Folding, "_count_usual", lambda *_: False)
            at_once()

    first = tables(site, monkeypatch, at_once)
    assert differing(tables(site, monkeypatch, step_by_step), first) == []
    assert differing(tables(site, monkeypatch, one_by_one), first) == []
    assert differing(tables(site, monkeypatch, two_workers), first) == []


@settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(script=bursts)
def test_sums_are_those_of_a_log(
    site: Site, monkeypatch: pytest.MonkeyPatch, script: list[Poll]
) -> None:
    """To the poll and the byte: by reader, hour, program and source."""
    polls = polls_of(script)
    log: dict[str, Counter[Any]] = {
        name: Counter() for name in ("polls", "bytes", "304", "HEAD", "304 to HEAD")
    }
    for at, poll in polls:
        answer = ANSWERS[poll.answer]
        hour = int(at.timestamp() // 3600)
        for key in (f"program-{poll.reader}", hour, "all"):
            log["polls"][key] += 1
            log["bytes"][key] += answer.sent_bytes
            log["304"][key] += answer.code == 304
            log["HEAD"][key] += poll.head
            log["304 to HEAD"][key] += poll.head and answer.code == 304

    def work() -> None:
        counting = Counting(site)
        for at, poll in polls:
            count(counting, at, poll)
        counting.fold()
        with site.database.read() as session:
            sums_of = {kind: Counter[str]() for kind in ("polls", "bytes", "304", "HEAD")}
            for client, name in session.execute(select(ReaderClient.client, ReaderClient.name)):
                newest = (
                    select(reader_days)
                    .where(reader_days.c.client == client)
                    .order_by(reader_days.c.day.desc())
                )
                day = session.execute(newest).first()
                assert day is not None  # a program may be told to be two readers
                sums_of["polls"][name] += day.requests
                sums_of["bytes"][name] += day.bytes
                sums_of["304"][name] += day.not_modified
                sums_of["HEAD"][name] += day.heads
            for kind, sums_by_name in sums_of.items():
                for name, number in sums_by_name.items():
                    expected = log[kind][name]
                    if kind == "304":
                        expected -= log["304 to HEAD"][name]
                    assert number == expected
            for row in session.scalars(select(PollHour)):
                counted = [row.requests, row.bytes, row.not_modified]
                assert counted == [log[kind][row.hour] for kind in ("polls", "bytes", "304")]
            for table in (PollHour, ProgramDay, PollSource):
                sums = select(
                    func.sum(table.requests), func.sum(table.bytes), func.sum(table.not_modified)
                )
                counted = list(session.execute(sums).one())
                assert counted == [log[kind]["all"] for kind in ("polls", "bytes", "304")]

    tables(site, monkeypatch, work)


def test_more_readers_than_one_transaction_takes(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is counted once, whatever the transactions are cut into."""
    number = ROWS_AT_ONCE

    def work() -> None:
        monkeypatch.setattr(site.database, "give_way", lambda: None)
        counting = Counting(site)
        for minute in range(2):
            for reader in range(number):
                at = MONDAY + timedelta(minutes=15 * minute, milliseconds=reader)
                address = f"10.0.{reader // 250}.{reader % 250}"
                agent = f"program-{reader}/1.0"
                counting.poll(at, agent=agent, address=address, if_none_match='W/"one"')
        assert counting.fold() == 2 * number
        with site.database.read() as session:
            days = session.execute(select(reader_days)).all()
            assert len(days) == number
            assert {(day.requests, day.intervals) for day in days} == {(2, 1)}

    tables(site, monkeypatch, work)


def test_a_fold_that_is_stopped_between_its_parts(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next one writes what is left, before it counts new polls: each once."""
    number, pauses = 20, list[int]()

    def count_all(counting: Counting, minute: int) -> None:
        for reader in range(number):
            at = MONDAY + timedelta(minutes=minute, milliseconds=reader)
            counting.poll(at, agent=f"program-{reader}/1.0", address=f"10.0.0.{reader}")
        counting.counter.flush()

    def killed() -> None:
        pauses.append(1)
        if len(pauses) == 3:
            raise KeyboardInterrupt

    def stopped() -> None:
        monkeypatch.setattr("publisher.parts.readers.fold.ROWS_AT_ONCE", 7)
        monkeypatch.setattr(site.database, "give_way", killed)
        counting = Counting(site)
        count_all(counting, 0)
        with pytest.raises(KeyboardInterrupt):
            fold(site.database, 15)
        with site.database.read() as session:
            assert session.scalar(select(func.count()).select_from(PollFlush)) == 0
            assert session.scalar(select(func.count()).select_from(FoldPart))
        count_all(counting, 15)
        assert fold(site.database, 15) == number

    def at_once() -> None:
        counting = Counting(site)
        for minute in (0, 15):
            count_all(counting, minute)
            assert fold(site.database, 15) == number

    first = tables(site, monkeypatch, at_once)
    assert len(pauses) == 0
    assert differing(tables(site, monkeypatch, stopped), first) == []


def test_a_fold_in_slices(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """However few readers are folded at once, to bound memory, the tables are the same."""
    sizes = list[int]()
    run = _Folding.run

    def noted(folding: _Folding) -> None:
        run(folding)
        sizes.append(folding.polls)

    def work() -> None:
        monkeypatch.setattr(_Folding, "run", noted)
        monkeypatch.setattr(site.database, "give_way", lambda: None)
        counting = Counting(site)
        for minute in range(0, 90, 15):
            for reader in range(20):
                at = MONDAY + timedelta(minutes=minute, milliseconds=reader)
                counting.poll(at, agent=f"program-{reader}/1.0", address=f"10.0.0.{reader}")
            counting.counter.flush()
        assert fold(site.database, 15) == 120

    first = tables(site, monkeypatch, work)
    assert sizes == [120]
    monkeypatch.setattr("publisher.parts.readers.fold.GROUPS_AT_ONCE", 7)
    assert differing(tables(site, monkeypatch, work), first) == []
    assert sizes[1:] == [20] * 6


def test_equal_polls_of_the_past_are_identified_together(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slice may go back in time: a burst before the last visit is not told poll by poll."""
    who, moments = ReaderIndex.identify, list[float]()

    def noted(readers: ReaderIndex, poll: PollGroup, document: str, at: float) -> Attribution:
        moments.append(at)
        return who(readers, poll, document, at)

    def work() -> None:
        counting, document = Counting(site), FakeDocument()
        tag, half = document.etag, timedelta(minutes=30)
        counting.poll(MONDAY, FULL, document)
        counting.poll(MONDAY + 2 * half, NOT_MODIFIED, document, if_none_match=tag)
        counting.fold()
        monkeypatch.setattr(ReaderIndex, "identify", noted)
        for _ in range(100):
            counting.poll(MONDAY + half, NOT_MODIFIED, document, if_none_match=tag)
        assert counting.fold() == 100
        with site.database.read() as session:
            day = session.execute(select(reader_days)).one()
            assert (day.requests, day.not_modified, day.intervals) == (102, 101, 1)

    tables(site, monkeypatch, work)
    assert len(moments) == 2


def test_a_fold_that_was_overtaken(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another process has folded meanwhile is not counted again."""
    run = _Folding.run

    def overtaken(folding: _Folding) -> None:
        monkeypatch.setattr(_Folding, "run", run)
        fold(site.database, 15)
        run(folding)

    def work() -> None:
        monkeypatch.setattr(_Folding, "run", overtaken)
        counting = Counting(site)
        counting.poll(MONDAY)
        assert counting.fold() == 0
        with site.database.read() as session:
            assert session.scalars(select(reader_days.c.requests)).all() == [1]

    tables(site, monkeypatch, work)


def test_polls_wait_for_the_hour_or_for_somebody_who_asks(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fold is due when the first poll has waited long enough, or when too many wait."""
    now = [MONDAY]

    def due(behind_seconds: float) -> float:
        return keep_up(site.database, lambda: now[0], lambda _: 15, behind_seconds)

    def hours() -> int:
        with site.database.read() as session:
            return session.scalar(select(func.sum(PollHour.requests))) or 0

    def work() -> None:
        assert due(3600) == 3600
        counting = Counting(site)
        counting.poll(MONDAY)
        counting.counter.flush()
        assert due(3600) == 3600 + LAG_SECONDS
        now[0] = MONDAY + timedelta(seconds=60 + LAG_SECONDS)
        assert due(3600) == 3540
        assert hours() == 0
        assert due(60) == 60
        assert hours() == 1
        counting.poll(now[0])
        counting.counter.flush()
        now[0] += timedelta(seconds=LAG_SECONDS + 1)
        monkeypatch.setattr("publisher.parts.readers.fold.MOST_WAITING_BYTES", 1)
        assert due(3600) == 3600
        assert hours() == 2

    tables(site, monkeypatch, work)


def test_parts_among_the_flushes_are_moved(site: Site) -> None:
    """The migration of an earlier schema, in which they had numbers below 0."""
    rows = [[7, "newsboat/2", "newsboat", "2", "", 0, False, 1.0, 2.0]]
    with site.database.write() as session:
        session.execute(text("DROP TABLE fold_parts"))
        session.execute(text("UPDATE alembic_version SET version_num = '0039_reader_follows'"))
        session.add(PollFlush(id=-1, payload=pack([[], rows, [], [], []])))
    upgrade(site.database)
    assert fold(site.database, 15) == 0
    with site.database.read() as session:
        assert session.scalar(select(func.count()).select_from(PollFlush)) == 0
        assert session.scalars(select(ReaderClient.name)).all() == ["newsboat"]
