"""Winer's rule of 2002 after its warm-up: a 24-slot hourly histogram, read forwards.

"Algorithm for ttl element": a persistent array of 24 counters, one for each local hour; each update
adds one to the counter of its hour. The ttl is predicted "by looking forward through the persistent
array, to predict how often I'll update in the coming hours". The text names no threshold; here it
is one update: the longest of 15, 60 and 480 minutes in which fewer than one is expected, else 15.
On the day that the text describes this gives the values that it asks for.
"""

from collections.abc import Sequence

from ..civil import DAY_SECONDS, HOUR_SECONDS, end_of_hour, period, period_from
from .counts import History


def winers_minutes(history: History, now: int, values: Sequence[int]) -> int:
    """The ttl in minutes of a document built at `now`: one of three ascending `values`."""
    for place in range(2, 0, -1):
        if expected_by_hours(history, now, values[place]) < 1.0:
            return values[place]
    return values[0]


def expected_by_hours(history: History, now: int, minutes: int) -> float:
    """Updates that the 24 counters predict for so many minutes from `now` on."""
    total, at, end, zone = 0.0, now, now + 60 * minutes, history.zone
    clock = period(zone, now)
    while at < end:
        clock = period_from(zone, clock, at)
        until = min(end_of_hour(zone, clock, at), end)
        hour = (at + zone.offsets[clock]) // HOUR_SECONDS % 24
        total += history.tables.winer[hour] * (until - at)
        at = until
    return total / HOUR_SECONDS / _days(history, now)


def _days(history: History, now: int) -> float:
    """Days observed since the first update, at least one."""
    observed, holes = now - history.past.first, history.holes
    for hole in range(0, len(holes), 2):
        observed -= max(min(holes[hole + 1], now) - max(holes[hole], history.past.first), 0)
    return max(observed / DAY_SECONDS, 1.0)
