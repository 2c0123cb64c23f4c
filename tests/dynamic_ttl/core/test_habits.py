"""The author's week as a rule of calendars, and when there is none."""

from datetime import UTC, datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

import pytest
from dateutil.rrule import rrulestr

from publisher.dynamic_ttl.core.habits import (
    MovedHours,
    Rhythm,
    moved_hours,
    shares,
    weekly_rhythm,
)
from publisher.dynamic_ttl.core.ttl.activity import NO_COUNTS, Activity, histogram

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


def test_the_rule_begins_at_the_authors_hour_also_where_clocks_change_before() -> None:
    """A stray post on the last Saturday of winter; the rule's first day is one of summer."""
    saturday = MONDAY - timedelta(days=2, hours=-12)
    stray = rhythm([saturday, *weekly([0], 20)])
    assert stray is not None
    assert stray.dtstart == MONDAY + timedelta(hours=16)
    assert f"{stray.dtstart:%H:%M %z}" == "18:00 +0200"


def counted(*weekdays: float) -> Rhythm | None:
    """The rule where in ten weeks so many updates came on Mondays, on Tuesdays, and so on."""
    last = 70 * 86_400
    tables = NO_COUNTS._replace(weekdays=[*weekdays, *[0.0] * (7 - len(weekdays))])
    slow = 10**6  # days; at such a half-life all count alike
    known = Activity("UTC", slow, first=0, last=last, updates=99, tables=tables)
    return weekly_rhythm(known, datetime.fromtimestamp(last, UTC))


def test_a_day_of_the_rule_has_six_to_fifteen_posts_in_ten_weeks() -> None:
    """Fewer are no habit of that day, more are several in one."""
    for posts, rule in ((5.9, False), (6.1, True), (10.0, True), (14.9, True), (15.1, False)):
        assert (counted(0.0, posts) is not None) == rule, posts
    both = counted(6.1, 14.9)
    assert both is not None
    assert both.words == "Every Monday and Tuesday"
    assert counted(9.0, 9.0, 5.9) is None  # too many to be strays


def test_a_tenth_of_all_posts_may_come_on_other_days() -> None:
    for strays, rule in (
        ([0.99], True), ([1.01], False), ([0.5, 0.49], True), ([0.5, 0.51], False),
    ):  # fmt: skip
        assert (counted(9.0, *strays) is not None) == rule, strays


@pytest.mark.parametrize(
    ("lately", "recent", "belief", "age_days", "told"),
    [
        (15, 8.0, 0.5, 0, True),
        (15, 7.99, 0.5, 0, False),
        (15, 16.0, 0.5, 12, True),  # half of it twelve days later
        (15, 15.9, 0.5, 12, False),
        (15, 8.0, 0.49, 0, False),
        (11, 8.0, 0.5, 0, True),
        (10, 8.0, 0.5, 0, False),
        (7, 8.0, 0.5, 0, True),
        (8, 8.0, 0.5, 0, False),
    ],
)
def test_hours_have_moved_from_two_hours_and_eight_posts_on(
    lately: int, recent: float, belief: float, age_days: int, told: bool
) -> None:
    """The new hours are believed at least half, and known by eight posts of the last weeks."""
    assert moved(9, lately, recent, belief, age_days) == (MovedHours(9, lately) if told else None)


def moved(
    before: int, lately: int, recent: float = 8.0, belief: float = 0.5, age_days: int = 0,
    share: float = 0.0,
) -> MovedHours | None:  # fmt: skip
    """What is found where so many posts came `recent`ly, and this share of all at these hours."""
    usual, new = [0.0] * 24, [0.0] * 24
    for place in range(3):
        usual[(before + place) % 24] += (1.0 - share) / 3
        usual[(lately + place) % 24] += share / 3
        new[(lately + place) % 24] += recent / 3
    tables = NO_COUNTS._replace(hours=usual, recent=new)
    last = 10**9
    return moved_hours(
        Activity(
            "UTC", as_of=last - age_days * 86_400, first=0, last=last, updates=99, tables=tables,
            beliefs=(1.0 - belief, belief, 0.0, 0.0),
        )
    )  # fmt: skip


def test_hours_move_around_midnight() -> None:
    """From 23 to midnight is one hour, from 23 to one are two, and back."""
    assert moved(23, 0) is None
    assert moved(0, 23) is None
    assert moved(23, 1) == MovedHours(23, 1)
    assert moved(1, 23) == MovedHours(1, 23)


def test_hours_that_always_had_many_posts_are_no_new_ones() -> None:
    """They had at most two thirds of the share that they have now."""
    assert moved(9, 15, share=0.4) == MovedHours(9, 15)
    assert moved(9, 15, share=0.49) == MovedHours(9, 15)
    both, new = [0.0] * 24, [0.0] * 24
    both[9], both[15] = 3.0, 2.0
    new[15], new[3] = 5.0, 4.0
    for enough, rest in ((True, 3.3), (False, 3.4)):
        new[3] = rest  # 5 / 8.3 is more than 1.5 times 2 / 5, and 5 / 8.4 is less
        tables = NO_COUNTS._replace(hours=both, recent=new)
        known = Activity("UTC", first=0, last=0, tables=tables, beliefs=(0.0, 1.0, 0.0, 0.0))
        assert (moved_hours(known) is not None) == enough


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
