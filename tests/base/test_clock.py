"""Clocks: our own, a shifted one, and one that is asked for."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from publisher.base.clock import AskedClock, ShiftedClock
from publisher.base.errors import StorageUnavailable

NOON = datetime(2024, 3, 4, 12, tzinfo=UTC)


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What the machine's counter says."""
    seconds = [100.0]
    monkeypatch.setattr("time.clock_gettime", lambda _: seconds[0])
    return seconds


def test_another_clock_is_counted_on(running: list[float]) -> None:
    """Between two questions our own counter goes on; what our own clock says is nobody's matter."""
    clock = AskedClock(lambda: NOON)
    running[0] += 12.5
    assert clock() == NOON + timedelta(seconds=12.5)


def test_another_clock_is_asked_again(running: list[float]) -> None:
    """A little behind: it stands still until it is right; far behind: it has been set back."""
    answers: Iterator[datetime] = iter([NOON, NOON + timedelta(seconds=9.6), NOON])
    clock = AskedClock(lambda: next(answers))
    running[0] += 10
    assert clock() == NOON + timedelta(seconds=10)
    clock.ask_again()
    assert clock() == NOON + timedelta(seconds=10)
    running[0] += 1
    assert clock() == NOON + timedelta(seconds=10.6)
    clock.ask_again()
    assert clock() == NOON


def test_a_slow_first_answer_is_asked_for_again(running: list[float]) -> None:
    """The first question has to connect; an answer of five seconds tells no moment. The quicker one
    counts from the middle of its question."""
    slow = iter([5.0, 0.2])

    def source() -> datetime:
        moment = NOON + timedelta(seconds=running[0] - 100)
        running[0] += next(slow)
        return moment

    clock = AskedClock(source)
    assert clock() == NOON + timedelta(seconds=5.1)


def test_a_server_that_is_always_slow_is_believed(running: list[float]) -> None:
    """As well as it can be: the quickest answer so far, when the next is no better."""

    def source() -> datetime:
        running[0] += 4.0
        return NOON + timedelta(seconds=running[0] - 102)

    clock = AskedClock(source)
    assert clock() == NOON + timedelta(seconds=8)


def test_a_server_that_does_not_answer_changes_nothing(running: list[float]) -> None:
    """The clock goes on by itself."""
    there = True

    def source() -> datetime:
        if not there:
            raise StorageUnavailable("gone")
        return NOON

    clock = AskedClock(source)
    there = False
    clock.ask_again()
    running[0] += 5
    assert clock() == NOON + timedelta(seconds=5)


def test_a_shifted_clock_follows_the_clock_that_all_share() -> None:
    """Twice as fast, from a start of its own."""
    shifted = ShiftedClock(NOON, NOON + timedelta(days=1), 2.0, lambda: NOON + timedelta(hours=1))
    assert shifted() == NOON + timedelta(days=1, hours=2)
