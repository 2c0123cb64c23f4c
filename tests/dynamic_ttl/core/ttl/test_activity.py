"""Counting the author's day: decay, civil time, and a checkpoint that does not depend on how the
log was cut."""

import json
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from publisher.dynamic_ttl.core.ttl.activity import Activity, fold, histogram

START = datetime(2020, 1, 1, tzinfo=UTC)
ZONES = ["America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "UTC"]
logs = st.lists(st.integers(0, 3 * 365 * 86_400), max_size=40).map(sorted)


def updates_of(log: list[int]) -> list[datetime]:
    return [START + timedelta(seconds=second) for second in log]


@given(log=logs, cut=st.integers(0, 40), zone=st.sampled_from(ZONES))
def test_a_log_may_be_cut_anywhere(log: list[int], cut: int, zone: str) -> None:
    """Folded in two parts, through JSON in between, gives the very same bits."""
    updates = updates_of(log)
    half = fold(Activity.empty(zone), updates[:cut])
    stored = Activity.from_dict(json.loads(json.dumps(half.to_dict())))
    assert fold(stored, updates[cut:]) == fold(Activity.empty(zone), updates)


@given(log=logs, now=st.integers(0, 3 * 365 * 86_400))
def test_the_future_is_not_counted(log: list[int], now: int) -> None:
    """Updates later than `now` change nothing."""
    moment = START + timedelta(seconds=now)
    known = [update for update in updates_of(log) if update <= moment]
    assert histogram(updates_of(log), moment, "UTC") == histogram(known, moment, "UTC")


@given(log=logs.filter(bool))
def test_counts_halve_every_half_life(log: list[int]) -> None:
    """The sum of the slots is the sum of 2 ** -(age / half-life) over the updates."""
    updates = updates_of(log)
    now = updates[-1] + timedelta(days=10)
    ages = [(now - update) / timedelta(days=30) for update in updates]
    total = sum(histogram(updates, now, "UTC", 30).decayed(now))
    assert total == pytest.approx(sum(2.0**-age for age in ages))


def test_a_short_half_life_forgets_and_a_year_of_silence_is_no_mistake() -> None:
    """With a half-life of a week 1970 is 2,600 of them ago: a factor too small for a number."""
    updates = [START + timedelta(days=7 * week) for week in (0, 1, 2, 60)]
    known = fold(Activity.empty("UTC", 7), updates)
    assert sum(known.decayed(updates[-1])) == pytest.approx(1.0 + 2.0**-58)
    assert sum(known.tables.winer) == 4.0


@pytest.mark.parametrize(
    ("zone", "utc", "hour"),
    [
        ("America/New_York", "2020-03-08T06:59:59", 1),  # before the spring change
        ("America/New_York", "2020-03-08T07:00:00", 3),  # 2 h does not exist
        ("America/New_York", "2020-11-01T05:30:00", 1),  # 1 h, the first time
        ("America/New_York", "2020-11-01T06:30:00", 1),  # and the second
        ("Asia/Kolkata", "2020-06-01T03:29:59", 8),
        ("Asia/Kolkata", "2020-06-01T03:30:00", 9),
        ("Australia/Lord_Howe", "2020-10-03T15:29:59", 1),
        ("Australia/Lord_Howe", "2020-10-03T15:30:00", 2),  # 2 h 30 on the local clock
    ],
)
def test_an_update_counts_in_its_civil_hour(zone: str, utc: str, hour: int) -> None:
    """The slot is what the author's clock shows, daylight saving included."""
    activity = fold(Activity.empty(zone), [datetime.fromisoformat(utc + "+00:00")])
    assert [slot for slot, count in enumerate(activity.tables.hours) if count] == [hour]
    assert [slot % 24 for slot, count in enumerate(activity.tables.week) if count] == [hour]


def test_bad_input_is_refused() -> None:
    """Unknown zones, naive times, half-lives of nothing and old checkpoints are ValueErrors."""
    with pytest.raises(ValueError, match="unknown time zone"):
        Activity.empty("Europe/Atlantis")
    with pytest.raises(ValueError, match="without a time zone"):
        fold(Activity.empty("UTC"), [datetime(2020, 1, 1)])  # noqa: DTZ001
    with pytest.raises(ValueError, match="at least one day"):
        Activity.empty("UTC", 0)
    with pytest.raises(ValueError, match="another format"):
        Activity.from_dict({"format": 0})
    with pytest.raises(ValueError, match="a checkpoint with 23 hours, not 24"):
        Activity.from_dict(Activity.empty("UTC").to_dict() | {"hours": [0.0] * 23})


def test_weekdays_are_the_authors() -> None:
    """Sunday evening in New York is Monday in UTC and still counts for Sunday."""
    sunday = datetime(2021, 11, 7, 22, tzinfo=ZoneInfo("America/New_York"))
    activity = fold(Activity.empty("America/New_York"), [sunday])
    assert [slot for slot, count in enumerate(activity.tables.week) if count] == [6 * 24 + 22]


def test_the_tables_have_the_documented_sizes() -> None:
    """Hours, weekdays, hours of the week, five minutes of the day, and so on, one slot for each."""
    sizes = {name: len(table) for name, table in Activity.empty("UTC").tables._asdict().items()}
    assert sizes == {
        "hours": 24, "weekdays": 7, "week": 168, "minutes": 288, "seen": 13, "due": 13,
        "recent": 24, "early": 12, "winer": 24,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("second", "early"), [(299, False), (300, True), (304, True), (305, False)]
)
def test_the_first_five_seconds_of_five_minutes_are_early(second: int, early: bool) -> None:
    """Counted in the slot of the hour in which they are; dates of items say nothing of seconds."""
    activity = fold(Activity.empty("UTC"), [START + timedelta(seconds=second)])
    assert [bool(count) for count in activity.tables.early] == [False, early, *[False] * 10]
    assert not any(activity.by_dates().tables.early)
