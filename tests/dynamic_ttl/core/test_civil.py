"""Clock changes and half-hour zones, against the standard library's zone data."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from publisher.dynamic_ttl.core.civil import hour_end, hour_start, local_second, zone_table

ZONES = [
    "America/New_York",
    "Europe/London",
    "Asia/Kolkata",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Africa/Casablanca",
    "Pacific/Apia",
]


@given(zone=st.sampled_from(ZONES), at=st.integers(0, 2**32 - 1))
def test_local_time_is_what_the_zone_data_say(zone: str, at: int) -> None:
    """The table of clock changes gives the standard library's offset at every second."""
    table = zone_table(zone)
    offset = datetime.fromtimestamp(at, ZoneInfo(zone)).utcoffset()
    assert offset is not None
    assert local_second(table, at) - at == offset.total_seconds()


@given(zone=st.sampled_from(ZONES), at=st.integers(0, 2**32 - 1))
def test_civil_hours_tile_time(zone: str, at: int) -> None:
    """Every second lies in one hour of at most 60 minutes, which begins where the last ended and
    begins at minute 0 or at a clock change."""
    table = zone_table(zone)
    start = hour_start(table, at)
    end = hour_end(table, at)
    assert start <= at < end <= start + 3600
    assert hour_start(table, end) == end
    assert hour_end(table, start) == end
    whole = local_second(table, start) % 3600 == 0
    assert whole or start in table.starts


@pytest.mark.parametrize(
    ("zone", "at", "start", "end"),
    [
        ("Asia/Kolkata", "2020-06-01T03:45", "2020-06-01T03:30", "2020-06-01T04:30"),
        ("America/New_York", "2020-11-01T06:10", "2020-11-01T06:00", "2020-11-01T07:00"),
        ("Australia/Lord_Howe", "2020-10-03T15:40", "2020-10-03T15:30", "2020-10-03T16:00"),
        ("Australia/Lord_Howe", "2020-04-04T15:10", "2020-04-04T15:00", "2020-04-04T15:30"),
    ],
)
def test_the_top_of_the_hour_is_local(zone: str, at: str, start: str, end: str) -> None:
    """Half-hour zones turn over at half past, and a 30-minute clock change begins a short hour."""
    table = zone_table(zone)
    second = {
        name: int(datetime.fromisoformat(name).replace(tzinfo=UTC).timestamp())
        for name in (at, start, end)
    }
    assert hour_start(table, second[at]) == second[start]
    assert hour_end(table, second[at]) == second[end]


@pytest.mark.parametrize("zone", ZONES)
def test_clocks_change_in_the_second_that_the_zone_data_say(zone: str) -> None:
    """One second before each entry of the table the clock still shows another offset."""
    table, info = zone_table(zone), ZoneInfo(zone)
    for at in table.starts[1:]:
        before, since = (datetime.fromtimestamp(at - late, info).utcoffset() for late in (1, 0))
        assert before != since
