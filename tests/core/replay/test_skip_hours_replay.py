"""Which hours may be skipped without loss, by a replay of the last weeks."""

from datetime import UTC, datetime
from random import Random

import pytest

from publisher.core.civil import DAY_SECONDS, HOUR_SECONDS, zone_table
from publisher.core.replay.skip_hours import (
    PHASES,
    REPLAYED_SECONDS,
    safe_bits,
    waited,
    week_start,
)

WEEK = int(datetime(2026, 3, 2, tzinfo=UTC).timestamp())  # a Monday
TTLS = (15, 60, 480)


def daily(second: int, days: int = 56, late: int = 1) -> list[int]:
    """An update on each of the last days, so many seconds after midnight and up to `late` more."""
    rng = Random(second)
    return [WEEK - (days - day) * DAY_SECONDS + second + rng.randrange(late) for day in range(days)]


def test_a_post_right_after_the_skipped_hours_forbids_them() -> None:
    """Readers would come at 12:00:00 and miss what is posted a second later by a whole ttl."""
    assert safe_bits(daily(12 * HOUR_SECONDS + 1), WEEK, TTLS) == 0
    assert safe_bits(daily(12 * HOUR_SECONDS), WEEK, TTLS) == 0  # it may be a second later


def test_a_post_at_the_end_of_its_hour_allows_them() -> None:
    """What comes just before a full hour is seen at once by readers that come at full hours."""
    bits = safe_bits(daily(13 * HOUR_SECONDS - 60), WEEK, TTLS)
    assert bits >> 3 & 1
    assert not bits >> 12 & 1


@pytest.mark.parametrize("seed", range(5))
def test_what_is_named_costs_no_reader_anything(seed: int) -> None:
    """Whatever the author's hours: the replay with the named hours is not later for any ttl."""
    rng = Random(seed)
    times = sorted(
        time for _ in range(3) for time in daily(rng.randrange(DAY_SECONDS), late=HOUR_SECONDS * 2)
    )
    bits = safe_bits(times, WEEK, TTLS)
    begin = WEEK - REPLAYED_SECONDS
    for ttl in TTLS:
        with_them, without = (
            sum(
                waited(times, 0, len(times), 0, begin + ttl * 15 * phase, ttl * 60, skip)
                for phase in range(PHASES)
            )
            for skip in (bits, 0)
        )
        assert with_them <= without


def test_only_the_eight_weeks_before_count() -> None:
    """What comes in the week itself, or came long before, changes nothing; no updates, no hours."""
    times = daily(13 * HOUR_SECONDS - 60)
    old = [time - REPLAYED_SECONDS - 7 * HOUR_SECONDS for time in times]
    later = [WEEK, WEEK + 3 * HOUR_SECONDS]
    assert safe_bits([*old, *times, *later], WEEK, TTLS) == safe_bits(times, WEEK, TTLS)
    assert safe_bits(later, WEEK, TTLS) == 0


@pytest.mark.parametrize("name", ["UTC", "Asia/Kolkata", "America/New_York"])
def test_a_week_begins_on_the_authors_monday(name: str) -> None:
    """Also in the week in which the clocks change: one beginning for all its moments."""
    zone = zone_table(name)
    begin = week_start(zone, int(datetime(2026, 3, 5, 12, tzinfo=UTC).timestamp()))
    local = datetime.fromtimestamp(begin, UTC).timestamp() + zone.offsets[-1]
    assert {week_start(zone, at) for at in range(begin, begin + 6 * DAY_SECONDS, 5000)} == {begin}
    assert week_start(zone, begin - 1) < begin
    assert name != "UTC" or local == WEEK
