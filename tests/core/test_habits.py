"""The author's week as a rule of calendars, and when there is none."""

from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from publisher.core.habits import Rhythm, weekly_rhythm
from publisher.core.ttl.activity import histogram

MONDAY = datetime(2024, 4, 1, tzinfo=UTC)  # Berlin is at +2, since the day before
ZONE = "Europe/Berlin"


def weekly(days: list[int], weeks: int, hour: int = 16, missed: float = 0.0) -> list[datetime]:
    """An update on those weekdays, some minutes after the hour (UTC)."""
    rng = Random(4)
    return [
        MONDAY + timedelta(days=7 * week + day, hours=hour, minutes=rng.randrange(50))
        for week in range(weeks)
        for day in days
        if rng.random() >= missed
    ]


def rhythm(log: list[datetime], later: timedelta = timedelta(hours=2)) -> Rhythm | None:
    return weekly_rhythm(histogram(log, log[-1] + later, ZONE), log[-1] + later)


@pytest.mark.parametrize(
    ("days", "rule", "words"),
    [
        ([1], "FREQ=WEEKLY;BYDAY=TU", "Every Tuesday"),
        ([0, 3], "FREQ=WEEKLY;BYDAY=MO,TH", "Every Monday and Thursday"),
        ([0, 1, 2, 3, 4], "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "Every weekday"),
        (list(range(7)), "FREQ=DAILY", "Every day"),
    ],
)
def test_a_clear_week_is_a_rule(days: list[int], rule: str, words: str) -> None:
    """Some weeks may be missed; the first occurrence is on such a day, at the usual local hour."""
    found = rhythm(weekly(days, 20, missed=0.1))
    assert found is not None
    assert (found.rrule, found.words) == (rule, words)
    assert found.dtstart.weekday() in days
    assert found.dtstart.hour == 16
    assert found.dtstart >= MONDAY


def test_what_is_not_clear_is_not_told() -> None:
    """Too little is known, days at random, several a day, or long overdue."""
    assert rhythm(weekly([1], 3)) is None
    rng = Random(2)
    assert rhythm(sorted(MONDAY + timedelta(hours=rng.uniform(0, 3000)) for _ in range(40))) is None
    busy = sorted([*weekly([1], 20), *weekly([1], 20, 9), *weekly([1], 20, 12)])
    assert rhythm(busy) is None
    minute = timedelta(minutes=1)
    for days, longest in (([1], 7), ([0, 3], 4)):  # the pause of the week; two days late are fine
        limit = timedelta(days=longest + 2)
        assert rhythm(weekly(days, 20), limit) is not None
        assert rhythm(weekly(days, 20), limit + minute) is None
