"""Which hours a feed may ask its readers to skip without loss: a replay of the last weeks.

Readers that skip hours come back all together when these end, on the full hour, and with a ttl of
60 minutes they stay there: an update a second later waits an hour each time. So no hour is named
because it is quiet alone. At the beginning of each week of the author the last eight are replayed:
readers that obey a ttl, with and without the skipped hours. They are named only where none of these
readers, quick or slow, would have had the updates later, nor if each had come a minute later: what
comes at a full hour by the second must not decide.

Plain functions over indexable sequences of numbers: the simulator compiles these very functions.
"""

from collections.abc import Sequence
from functools import lru_cache

from publisher.core.civil import DAY_SECONDS, HOUR_SECONDS, Zone, local_second, period
from publisher.core.ttl.skip_hours import quiet_bits

REPLAYED_SECONDS = 56 * DAY_SECONDS
GUARD_SECONDS = 60  # by which updates come later in the second replay
PHASES = 4
ATTEMPTS = 3  # each with readers that come an hour sooner than in the one before


def week_start(zone: Zone, now: int) -> int:
    """Start of the author's week, which begins on Monday, that `now` lies in."""
    days = local_second(zone, now) // DAY_SECONDS
    monday = (days - (days + 3) % 7) * DAY_SECONDS
    before = monday - zone.offsets[period(zone, now)]
    return monday - zone.offsets[period(zone, before)]


@lru_cache(maxsize=8)
def harmless_hours(times: tuple[int, ...], week: int, ttls: tuple[int, ...]) -> int:
    """`harmless_bits`, kept for the week."""
    return harmless_bits(times, week, ttls)


def harmless_bits(times: Sequence[int], week: int, ttls: Sequence[int]) -> int:
    """Hours of the day in GMT (bit 0 = 00 h) that may be named in the `week` that begins then.

    times: updates, ascending; those of the eight weeks before are replayed. ttls: minutes, of the
    readers. 0 where nothing was posted in these weeks.
    """
    first, last = place_of(times, week - REPLAYED_SECONDS), place_of(times, week)
    active = 0
    for place in range(first, last):
        active |= 1 << int(times[place]) % DAY_SECONDS // HOUR_SECONDS
    skip = quiet_bits(active) if active != 0 else 0
    for _ in range(ATTEMPTS):
        if skip != 0 and loses(times, first, last, week, ttls, skip):
            skip &= skip >> 1 | (skip & 1) << 23
        else:
            return skip
    return 0


def loses(
    times: Sequence[int], first: int, last: int, week: int, ttls: Sequence[int], skip: int
) -> bool:
    """Whether readers of any of the `ttls` would have had the updates later by skipping."""
    later = False
    for ttl in ttls:
        for late in range(0, GUARD_SECONDS + 1, GUARD_SECONDS):
            plain = skipping = 0
            for phase in range(PHASES):
                start = week - REPLAYED_SECONDS + int(ttl) * 60 * phase // PHASES
                plain += waited(times, first, last, late, start, int(ttl) * 60, 0)
                skipping += waited(times, first, last, late, start, int(ttl) * 60, skip)
            later = later or skipping > plain
    return later


def waited(
    times: Sequence[int], first: int, last: int, late: int, at: int, wait: int, skip: int
) -> int:
    """Seconds for which the updates from `first` to before `last`, each that `late`, waited in sum
    for a reader that comes at `at` and so many seconds after each visit, but not in the skipped
    hours."""
    place, total = first, 0
    while place < last:
        while skip >> at // HOUR_SECONDS % 24 & 1:
            at = (at // HOUR_SECONDS + 1) * HOUR_SECONDS
        while place < last and times[place] + late <= at:
            total += at - late - int(times[place])
            place += 1
        at += wait
    return total


def place_of(times: Sequence[int], at: int) -> int:
    """Place of the first of `times` that is not before `at`."""
    low, high = 0, len(times)
    while low < high:
        middle = (low + high) // 2
        if times[middle] < at:
            low = middle + 1
        else:
            high = middle
    return low
