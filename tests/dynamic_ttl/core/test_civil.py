"""Clock changes and half-hour zones, against the standard library's zone data."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from publisher.dynamic_ttl.core import civil
from publisher.dynamic_ttl.core.civil import (
    NEVER,
    hour_end,
    hour_start,
    instant,
    local_second,
    period,
    period_end,
    period_from,
    seconds,
    week_hour,
    zone_table,
)

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


def test_a_zone_is_read_with_few_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    """One for each week, and about four for each change, most of which are found a year after the
    last: a search would take twenty."""
    asked = 0

    class Counted(ZoneInfo):
        def utcoffset(self, moment: datetime | None) -> timedelta | None:
            nonlocal asked
            asked += 1
            return super().utcoffset(moment)

    monkeypatch.setattr(civil, "ZoneInfo", Counted)
    for zone in ("America/New_York", "Europe/Berlin"):
        asked = 0
        changes = len(zone_table.__wrapped__(zone).starts)
        assert 250 < changes < 300
        assert asked < (2**32 - 1) // (7 * 86_400) + 4 * changes


def test_the_entry_in_force_is_found_from_an_earlier_one() -> None:
    """Forward over any number of changes, and at the last one, which never ends."""
    table = zone_table("Europe/Berlin")
    last = len(table.starts) - 1
    for known, at in ((0, 0), (0, last), (7, 7), (7, 8), (last, last)):
        assert period_from(table, known, table.starts[at]) == at
        assert period(table, table.starts[at]) == at
        if at > known:
            assert period_from(table, known, table.starts[at] - 1) == at - 1
    assert period_from(table, 0, 2**32) == last
    assert period_end(table, last) == NEVER > 2**32
    assert period_end(table, 0) == table.starts[1]


def test_seconds_are_rounded_down() -> None:
    """Also before 1970, and back again."""
    moments = ("1970-01-01T00:00:01.9Z", "1969-12-31T23:59:59.1Z", "1970-01-05T00:00Z")
    assert [seconds(datetime.fromisoformat(moment)) for moment in moments] == [1, -1, 345_600]
    assert instant(-1) == datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)
    assert [week_hour(345_600 + 3600 * hour - 1) for hour in (0, 1, 168)] == [167, 0, 167]
