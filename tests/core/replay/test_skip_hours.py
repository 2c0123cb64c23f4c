"""The hours that a feed may tell its readers to skip (R3)."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from publisher.core.replay.skip_hours import MOST_HOURS, quiet_hours
from publisher.core.ttl.activity import Activity, fold, histogram

START = datetime(2024, 1, 8, tzinfo=UTC)


def weeks(hours: list[int], days: int = 35, zone: str = "UTC", start: datetime = START) -> Activity:
    """An author who posts every day at these local hours."""
    first = start.astimezone(ZoneInfo(zone)).replace(hour=0)
    updates = [
        (first + timedelta(days=day)).replace(hour=hour, minute=20).astimezone(UTC)
        for day in range(days)
        for hour in hours
    ]
    return histogram(updates, max(updates), zone)


def after(activity: Activity) -> datetime:
    """An hour after the last update."""
    assert activity.last_update is not None
    return activity.last_update + timedelta(hours=1)


def test_nothing_beside_an_active_hour() -> None:
    """The hour before and the hour after an active one are not skipped."""
    known = weeks(list(range(7, 23)))
    assert quiet_hours(known, after(known)) == (0, 1, 2, 3, 4, 5)


def test_never_more_than_sixteen() -> None:
    """One active hour leaves 21 candidates; the sixteen farthest from it are named."""
    known = weeks([12])
    quiet = quiet_hours(known, after(known))
    assert len(quiet) == MOST_HOURS
    assert quiet == (0, 1, 2, 3, 4, 5, 6, 7, 8, 17, 18, 19, 20, 21, 22, 23)[: len(quiet)]


@pytest.mark.parametrize(
    ("hours", "days"),
    [([9, 12], 27), ([12], 19), ([], 0)],
    ids=["27 days", "19 updates in warm-up", "nothing"],
)
def test_not_without_evidence(hours: list[int], days: int) -> None:
    """Under 28 days or 20 updates nothing is said."""
    known = weeks(hours, days) if hours else Activity.empty("UTC")
    assert quiet_hours(known, START + timedelta(days=days)) == ()


def test_gone_at_once_when_a_post_lands_there() -> None:
    """A single post in the night takes its hour and both neighbours out."""
    known = weeks(list(range(7, 23)))
    night = after(known).replace(hour=3, minute=0) + timedelta(days=1)
    assert 3 in quiet_hours(known, night)
    assert quiet_hours(fold(known, [night]), night) == (0, 1, 5)


def test_a_scheduled_post_is_not_slept_through() -> None:
    """The hour of a scheduled post is treated as active."""
    known = weeks(list(range(7, 23)))
    now = after(known)
    post = (now + timedelta(days=1)).replace(hour=2, minute=30)
    assert quiet_hours(known, now, [post]) == (0, 4, 5)


def test_a_half_hour_zone_spoils_both_hours() -> None:
    """In Kolkata a local hour touches two hours of GMT; both count as active."""
    known = weeks(list(range(7, 23)), zone="Asia/Kolkata")  # 01:30 to 17:30 GMT
    assert quiet_hours(known, after(known)) == (19, 20, 21, 22, 23)


def test_both_sides_of_a_clock_change() -> None:
    """Just before summer time begins an hour is named only if it is quiet on both sides of it."""
    change = datetime(2024, 3, 31, 1, tzinfo=UTC)
    known = weeks(list(range(7, 23)), 60, "Europe/Berlin", change - timedelta(days=61))
    winter = quiet_hours(known, change - timedelta(days=3))
    near = quiet_hours(known, change - timedelta(hours=4))
    summer = quiet_hours(known, change + timedelta(hours=1))
    assert winter == (0, 1, 2, 3, 4, 23)
    assert summer == (0, 1, 2, 3, 22, 23)
    assert near == (0, 1, 2, 3, 23)


def test_an_abandoned_blog_says_nothing() -> None:
    """Where nothing has weight any more there is no pattern to speak of."""
    known = weeks([9, 12])
    assert quiet_hours(known, after(known) + timedelta(days=2000)) == ()


@settings(deadline=None)  # weeks of history; a busy machine is no fault
@given(
    st.lists(st.integers(0, 23), min_size=1, max_size=24, unique=True),
    st.sampled_from(["UTC", "Asia/Kolkata", "America/New_York", "Australia/Lord_Howe"]),
    st.integers(0, 48),
)
def test_no_update_of_the_author_is_ever_skipped(hours: list[int], zone: str, ahead: int) -> None:
    """Whoever keeps to his hours never posts in one that readers were told to skip."""
    known = weeks(sorted(hours), zone=zone)
    now = after(known) + timedelta(hours=ahead)
    quiet = quiet_hours(known, now)
    day = now.astimezone(ZoneInfo(zone)).replace(minute=0, second=0)
    for hour in hours:
        for minute in (0, 59):
            post = day.replace(hour=hour, minute=minute).astimezone(UTC)
            assert post.hour not in quiet
    assert quiet == tuple(sorted(set(quiet)))
    assert len(quiet) <= MOST_HOURS
