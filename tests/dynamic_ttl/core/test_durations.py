"""Durations in words, and a ttl as the syndication module says it."""

import pytest

from publisher.dynamic_ttl.core.durations import duration, update_rate

SAID = {
    0: "0 s",
    0.4: "0 s",
    0.6: "1 s",
    59: "59 s",
    60: "1 min",
    61.4: "1 min 1 s",
    3599.6: "1 h",
    3600: "1 h",
    5400: "1 h 30 min",
    3661: "1 h 1 min",  # the two largest units
    86_399: "23 h 59 min",
    86_400: "1 d",
    90_000: "1 d 1 h",
    86_461: "1 d 1 min",
    7 * 86_400 + 2: "7 d 2 s",
}


def test_a_duration_has_two_units() -> None:
    assert {seconds: duration(seconds) for seconds in SAID} == SAID


@pytest.mark.parametrize(
    ("minutes", "rate"),
    [
        (1, ("hourly", 60)),
        (15, ("hourly", 4)),
        (60, ("hourly", 1)),
        (90, ("daily", 16)),
        (480, ("daily", 3)),
        (1440, ("daily", 1)),
        (42, None),
        (2880, None),
    ],
)
def test_a_rate_is_the_ttl(minutes: int, rate: tuple[str, int] | None) -> None:
    """A whole number of times an hour or a day, or nothing is said."""
    assert update_rate(minutes) == rate
