"""Civil time of the author: hours of the local clock, daylight saving time included.

Instants are whole seconds since 1970-01-01T00:00:00Z. A zone is a table of its clock changes, so
that the same functions run in plain Python and in compiled code.

The civil hour begins at minute 0 of the *local* clock (Asia/Kolkata: at half past, in UTC) and at
each clock change, so that no hour is longer than 60 minutes even where clocks change by 30.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from math import floor
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

HOUR_SECONDS = 3600
DAY_SECONDS = 86_400
LAST_SECOND = 2**32 - 1  # in 2106: the largest unsigned 32-bit number
NEVER = 1 << 40  # an instant later than all others
_SCAN_SECONDS = 7 * DAY_SECONDS  # no zone has changed its clock twice within a week and back


class Zone(NamedTuple):
    """An IANA zone as a table: from `starts[i]` on, local time is UTC + `offsets[i]` seconds."""

    starts: Sequence[int]
    offsets: Sequence[int]


@lru_cache(maxsize=64)
def zone_table(name: str) -> Zone:
    """The clock changes of the IANA zone `name` from 1970 to 2106; ValueError if there is none."""
    try:
        info = ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"unknown time zone: {name!r}") from error

    def offset(at: int) -> int:
        delta = datetime.fromtimestamp(at, info).utcoffset()
        return 0 if delta is None else int(delta.total_seconds())

    starts, offsets = [0], [offset(0)]
    for later in range(_SCAN_SECONDS, LAST_SECOND, _SCAN_SECONDS):
        if offset(later) != offsets[-1]:
            low, high = later - _SCAN_SECONDS, later
            before = starts[-2] if len(starts) > 1 else 0
            # Most clocks change 52 or 53 weeks after the last time that they did so, by the second.
            likely = [
                before + weeks * _SCAN_SECONDS - late for weeks in (52, 53) for late in (1, 0)
            ]
            while high - low > 1:
                middle = likely.pop() if likely else (low + high) // 2
                if low < middle < high:
                    low, high = (middle, high) if offset(middle) == offsets[-1] else (low, middle)
            starts.append(high)
            offsets.append(offset(later))
    return Zone(tuple(starts), tuple(offsets))


def period(zone: Zone, at: int) -> int:
    """Index of the `zone` entry in force at `at`: the last one that starts at or before it."""
    low, high = 0, len(zone.starts)
    while high - low > 1:
        middle = (low + high) // 2
        if zone.starts[middle] <= at:
            low = middle
        else:
            high = middle
    return low


def period_from(zone: Zone, known: int, at: int) -> int:
    """`period(zone, at)`, searched forward from entry `known`, which starts at or before `at`."""
    while known + 1 < len(zone.starts) and zone.starts[known + 1] <= at:
        known += 1
    return known


def period_end(zone: Zone, place: int) -> int:
    """Instant at which entry `place` of the `zone` ends; `NEVER` for the last one."""
    return zone.starts[place + 1] if place + 1 < len(zone.starts) else NEVER


def hour_start(zone: Zone, at: int) -> int:
    """Start of the civil hour that contains `at`."""
    now = period(zone, at)
    top = at - (at + zone.offsets[now]) % HOUR_SECONDS
    return max(top, zone.starts[now])


def hour_end(zone: Zone, at: int) -> int:
    """End of the civil hour that contains `at`: the start of the next one."""
    return end_of_hour(zone, period(zone, at), at)


def end_of_hour(zone: Zone, now: int, at: int) -> int:
    """`hour_end(zone, at)` where the `period` of `at` is already known as `now`."""
    top = at + HOUR_SECONDS - (at + zone.offsets[now]) % HOUR_SECONDS
    return min(top, period_end(zone, now))


def local_second(zone: Zone, at: int) -> int:
    """What the local clock shows at `at`, counted in seconds since 1970 on that clock."""
    return at + zone.offsets[period(zone, at)]


def week_hour(local: int) -> int:
    """Hour of the week, 0 to 167 from Monday 00 h, of a `local_second` (day 0 is a Thursday)."""
    return (local // HOUR_SECONDS + 72) % 168


def seconds(at: datetime) -> int:
    """Whole seconds of an aware datetime, rounded down; ValueError for a naive one."""
    if at.tzinfo is None:
        raise ValueError("a datetime without a time zone")
    return floor(at.timestamp())


def instant(at: int) -> datetime:
    """The aware UTC datetime of whole seconds."""
    return datetime.fromtimestamp(at, UTC)
