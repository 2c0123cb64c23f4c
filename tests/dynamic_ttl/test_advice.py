"""What `ttl_for` makes of the times that programs hand it."""

from datetime import UTC, datetime, timedelta

import pytest

from publisher.dynamic_ttl import ttl_for

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
NAIVE = NOW.replace(tzinfo=None)
DAILY = [NOW - timedelta(days=days, hours=3) for days in range(20)]


def test_order_does_not_matter() -> None:
    """Any iterable in any order; updates to come are not looked at."""
    backwards = (at for at in [NOW + timedelta(hours=1), *reversed(DAILY)])
    assert ttl_for(backwards, NOW) == ttl_for(DAILY, NOW)


@pytest.mark.parametrize("year", [1, 1899, 1969])
def test_dates_that_stand_for_none_are_left_out(year: int) -> None:
    """A date before 1970 is somebody's zero, not an update."""
    assert ttl_for([datetime(year, 1, 1, tzinfo=UTC), *DAILY], NOW) == ttl_for(DAILY, NOW)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"updates": [NAIVE]}, "without a time zone"),
        ({"scheduled": [NAIVE]}, "without a time zone"),
        ({"now": NAIVE}, "without a time zone"),
        ({"timezone": "Mars/Olympus"}, "unknown time zone"),
        ({"timezone": "../../etc/passwd"}, "unknown time zone"),
        ({"menu": "0"}, "not between 1 and 10080"),
    ],
)
def test_what_makes_no_sense_is_a_value_error(wrong: dict[str, object], words: str) -> None:
    """One line that names the thing."""
    right = {"updates": DAILY, "now": NOW, "timezone": "UTC"}
    with pytest.raises(ValueError, match=words):
        ttl_for(**(right | wrong))  # type: ignore[arg-type]
