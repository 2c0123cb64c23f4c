"""Winer's counters, read forwards."""

from datetime import UTC, datetime, timedelta

import pytest

from publisher.dynamic_ttl.core.civil import DAY_SECONDS, seconds
from publisher.dynamic_ttl.core.ttl.activity import histogram
from publisher.dynamic_ttl.core.ttl.winer import expected_by_hours

NINE = datetime(2024, 4, 1, 9, tzinfo=UTC)


def test_days_that_nobody_observed_are_no_days_without_updates() -> None:
    """Five updates at nine in five observed days: one is expected; a gap before the first update
    takes nothing from them."""
    first, now = seconds(NINE), seconds(NINE + timedelta(days=10))
    log = [NINE + timedelta(days=day) for day in range(5)]
    known = histogram(log, NINE + timedelta(days=10), "UTC").history(now)
    assert expected_by_hours(known, now, 60) == pytest.approx(0.5)
    before = (first - 3 * DAY_SECONDS, first - 2 * DAY_SECONDS)
    unobserved = known._replace(holes=(*before, first + 5 * DAY_SECONDS, now + DAY_SECONDS))
    assert expected_by_hours(unobserved, now, 60) == pytest.approx(1.0)


def test_the_first_day_counts_as_a_whole_one() -> None:
    """An hour after the first update one update a day is expected, not one an hour."""
    now = seconds(NINE + timedelta(hours=1))
    known = histogram([NINE], NINE + timedelta(hours=1), "UTC").history(now)
    assert expected_by_hours(known, now, 24 * 60) == pytest.approx(1.0)
