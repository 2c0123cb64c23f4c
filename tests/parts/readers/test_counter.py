"""The counter on the request path, its limits, and its thread."""

import threading
from datetime import UTC, datetime, timedelta

import pytest

from publisher.access_logs.line_formats import LONGEST_AGENT
from publisher.base.errors import StorageUnavailable
from publisher.parts.readers import counter as module
from publisher.parts.readers.counter import FLUSH_SECONDS, PollCounter, Polls
from publisher.parts.readers.poll_batches import bursts_of
from tests.parts.readers.polls import FULL, FakeDocument, request

NOW = datetime(2024, 3, 4, 9, 30, tzinfo=UTC)


def number_of(polls: Polls) -> int:
    """How many polls a flush holds."""
    return sum(count for bursts in polls.bursts.values() for _, count in bursts)


def test_equal_polls_of_the_same_second_are_one_number() -> None:
    """A million of them take no more memory than one; a flush begins a new burst."""
    flushes: list[Polls] = []
    counter, document = PollCounter(flushes.append), FakeDocument()
    group = counter.count(document, FULL, request(), NOW)
    for millisecond in range(1, 1_400):
        counter.again(group, document, NOW + timedelta(milliseconds=millisecond))
    counter.flush()
    counter.again(group, document, NOW + timedelta(milliseconds=1_401))
    counter.flush()
    first_ms = int(NOW.timestamp() * 1000)
    assert list(flushes[0].bursts.values()) == [[[first_ms, 1_000], [first_ms + 1_000, 400]]]
    assert list(flushes[1].bursts.values()) == [[[first_ms + 1_401, 1]]]


def test_the_polls_of_a_log_are_put_together_by_the_second() -> None:
    """As those that are counted live, whatever their order."""
    assert bursts_of([2_000, 1_500, 999, 1_000]) == [[999, 1], [1_000, 2], [2_000, 1]]


def test_like_polls_share_a_group() -> None:
    """The same reader with the same question and answer costs one list entry more."""
    flushes: list[Polls] = []
    counter, document = PollCounter(flushes.append), FakeDocument()
    for minute in range(3):
        counter.count(document, FULL, request(), NOW + timedelta(minutes=minute))
    counter.count(document, FULL, request(agent="other"), NOW)
    counter.flush()
    assert sorted(len(bursts) for bursts in flushes[0].bursts.values()) == [1, 3]
    counter.flush()
    assert len(flushes) == 1


def test_a_failed_store_keeps_the_polls() -> None:
    """What the database could not take is stored with the next flush."""
    flushes: list[Polls] = []

    def store(polls: Polls) -> None:
        if not flushes:
            flushes.append(Polls())
            raise StorageUnavailable("the disk is full; nothing was changed")
        flushes.append(polls)

    counter = PollCounter(store)
    counter.count(FakeDocument(), FULL, request(), NOW)
    counter.flush()
    counter.flush()
    assert [polls.held for polls in flushes] == [0, 1]


def test_a_flood_of_agents_is_summed_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers beyond the limit become one nameless group; every poll is still counted."""
    monkeypatch.setattr(module, "MOST_GROUPS", 10)
    flushes: list[Polls] = []
    counter, document = PollCounter(flushes.append), FakeDocument()
    for number in range(100):
        counter.count(document, FULL, request(agent=f"bot-{number}"), NOW)
    counter.flush()
    assert len(flushes[0].bursts) == 11
    assert number_of(flushes[0]) == 100


def test_polls_of_a_failed_flush_keep_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """What came while the database refused joins what it refused, and no more than fits."""
    monkeypatch.setattr(module, "MOST_HELD", 5)
    flushes: list[Polls] = []
    away = ["the database is busy"]

    def store(polls: Polls) -> None:
        if away:
            for minute in range(3, 7):  # while the database is busy
                counter.count(document, FULL, request(), NOW + timedelta(minutes=minute))
            raise StorageUnavailable(away.pop())
        flushes.append(polls)

    counter, document = PollCounter(store), FakeDocument()
    for minute in range(3):
        counter.count(document, FULL, request(), NOW + timedelta(minutes=minute))
    counter.flush()
    counter.flush()
    assert (flushes[0].held, flushes[0].lost) == (5, 2)


def test_an_absent_database_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is held between two flushes has a limit; beyond it polls are counted as lost."""
    monkeypatch.setattr(module, "MOST_HELD", 5)
    flushes: list[Polls] = []
    counter = PollCounter(flushes.append)
    document = FakeDocument()
    for minute in range(8):
        counter.count(document, FULL, request(), NOW + timedelta(minutes=minute))
    counter.flush()
    assert (flushes[0].held, flushes[0].lost) == (5, 3)


def test_long_headers_are_cut_before_they_wait() -> None:
    """An agent of ten kilobytes takes a few hundred bytes of the queue."""
    flushes: list[Polls] = []
    counter = PollCounter(flushes.append)
    counter.count(FakeDocument(), FULL, request(agent="x" * 10_000, if_none_match="y" * 9999), NOW)
    counter.flush()
    (group,) = flushes[0].bursts
    assert max(len(part) for part in group if isinstance(part, str)) == LONGEST_AGENT


def test_stop_flushes_what_is_left() -> None:
    """A worker that ends writes what it has counted; polls may come from many threads."""
    flushes: list[Polls] = []
    counter, document = PollCounter(flushes.append), FakeDocument()
    counter.start()

    def work() -> None:
        for _ in range(500):
            counter.count(document, FULL, request(), NOW)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counter.stop()
    assert sum(map(number_of, flushes)) == 2000


def test_a_flush_during_shutdown_is_neither_lost_nor_doubled() -> None:
    """The worker is told to stop while the database takes its time with a flush."""
    flushes: list[Polls] = []
    storing, go_on = threading.Event(), threading.Event()

    def store(polls: Polls) -> None:
        storing.set()
        go_on.wait(60)
        flushes.append(polls)

    counter, document = PollCounter(store), FakeDocument()
    counter.count(document, FULL, request(), NOW)
    counter.start()
    assert storing.wait(60)
    stopping = threading.Thread(target=counter.stop)
    stopping.start()
    counter.count(document, FULL, request(agent="in the last moment"), NOW)
    go_on.set()
    stopping.join(60)
    assert not stopping.is_alive()
    assert [polls.held for polls in flushes] == [1, 1]
    counter.stop()
    assert len(flushes) == 2


def test_a_store_that_breaks_does_not_end_the_counting() -> None:
    """An error that nobody foresaw: the polls are kept, and stored at the end."""
    flushes: list[Polls] = []
    broken = threading.Event()

    def store(polls: Polls) -> None:
        if not broken.is_set():
            broken.set()
            raise ZeroDivisionError
        flushes.append(polls)

    counter = PollCounter(store)
    counter.count(FakeDocument(), FULL, request(), NOW)
    counter.start()
    assert broken.wait(60)
    counter.stop()
    assert [polls.held for polls in flushes] == [1]


def test_few_polls_are_stored_soon_after_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pause between two flushes is as long as what the first one stored was much."""
    monkeypatch.setattr(module, "SOON_SECONDS", 0.01)
    monkeypatch.setattr(module, "FULL_FLUSH", 10**6)
    stored = threading.Semaphore(0)
    counter = PollCounter(lambda _: stored.release())
    counter.start()
    try:
        for _ in range(3):
            counter.count(FakeDocument(), FULL, request(), NOW)
            assert stored.acquire(timeout=FLUSH_SECONDS / 2)
    finally:
        counter.stop()


def test_a_counter_that_is_half_full_flushes_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_HELD", 4)
    monkeypatch.setattr(module, "SOON_SECONDS", 0.01)
    monkeypatch.setattr(module, "FULL_FLUSH", 1)
    flushes = list[Polls]()
    stored = threading.Semaphore(0)

    def store(polls: Polls) -> None:
        flushes.append(polls)
        stored.release()

    counter = PollCounter(store)
    counter.start()
    try:
        for number in range(3):
            counter.count(FakeDocument(), FULL, request(agent=f"reader-{number}"), NOW)
            if number != 1:  # the first is stored soon, the second waits for FLUSH_SECONDS
                assert stored.acquire(timeout=5)
    finally:
        counter.stop()
    assert [polls.held for polls in flushes] == [1, 2]
