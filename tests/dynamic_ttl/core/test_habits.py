"""The author's week as a rule of calendars, and when there is none."""

from datetime import UTC, datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

import pytest
from dateutil.rrule import rrulestr

from publisher.dynamic_ttl.core.habits import Rhythm, shares, weekly_rhythm
from publisher.dynamic_ttl.core.ttl.activity import histogram

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
    weekly_habit = rhythm(weekly(days, 20, missed=0.1))
    assert weekly_habit is not None
    assert (weekly_habit.rrule, weekly_habit.words) == (rule, words)
    assert weekly_habit.dtstart.weekday() in days
    assert weekly_habit.dtstart.hour == 18
    assert weekly_habit.dtstart >= MONDAY


@pytest.mark.parametrize(("zone", "hour"), [("America/New_York", 21), ("Asia/Tokyo", 7)])
def test_the_days_of_the_rule_are_the_authors(zone: str, hour: int) -> None:
    """His Monday, though it is Tuesday or Sunday by UTC: a calendar finds the hours he keeps."""
    monday = datetime(2024, 4, 1, hour, 5, tzinfo=ZoneInfo(zone))
    log = [monday + timedelta(days=7 * week) for week in range(20)]
    weekly_habit = weekly_rhythm(histogram(log, log[-1], zone), log[-1])
    assert weekly_habit is not None
    assert weekly_habit.rrule == "FREQ=WEEKLY;BYDAY=MO"
    assert rrulestr(weekly_habit.rrule, dtstart=weekly_habit.dtstart)[0] == monday.replace(minute=0)


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


def test_the_rule_begins_on_the_day_of_the_first_post() -> None:
    """Its first day of the week that has posts from then on, at the busiest hour of his clock."""
    weekly_habit = rhythm(weekly([1, 4], 20)[1:])  # the first is on a Friday
    assert weekly_habit is not None
    assert weekly_habit.dtstart == MONDAY + timedelta(days=4, hours=16)
    stray = rhythm([MONDAY + timedelta(hours=9), *weekly([1, 4], 20)])
    assert stray is not None
    assert stray.rrule == "FREQ=WEEKLY;BYDAY=TU,FR"
    assert stray.dtstart == MONDAY + timedelta(days=1, hours=16)


def test_four_weeks_and_six_posts_are_needed() -> None:
    """28 days after the first post, with the sixth."""
    log = [MONDAY + timedelta(days=day, hours=16) for day in (0, 2, 7, 9, 14, 16, 21, 23)]
    first = log[0] + timedelta(days=28)
    assert weekly_rhythm(histogram(log, first, ZONE), first) is not None
    before = first - timedelta(seconds=1)
    assert weekly_rhythm(histogram(log, before, ZONE), before) is None
    weeks = [MONDAY + timedelta(days=7 * week, hours=16) for week in range(6)]
    assert rhythm(weeks[:5]) is None
    assert rhythm(weeks) is not None


def test_shares_of_the_busiest_hours_are_shares_of_all() -> None:
    """Each update is in three of the spans of three hours, however many there are."""
    for counts in ([5.0] * 24, [0.0] * 23 + [7.0], [float(hour) for hour in range(24)]):
        assert sum(shares(counts)) == pytest.approx(3.0)
    assert shares([0.0] * 23 + [7.0])[21:] == [1.0, 1.0, 1.0]
