"""Which hours a feed may ask its readers to skip without loss, from a replay of the last weeks.

Readers that skip hours all come back at the full hour at which these end, and with a ttl of 60
minutes they keep polling at full hours: an update a second later waits an hour each time. So it is
not enough that an hour is quiet. At the beginning of each of the author's weeks the last eight are
replayed for readers that obey a ttl, with and without the skipped hours. The hours are named only
if no reader, whatever its ttl, would have had the updates later. The same must hold if each update
had come a minute later, so that updates exactly at a full hour do not decide.

Plain functions over indexable sequences of numbers: the simulator compiles the same functions.
"""

from collections.abc import Sequence
from functools import lru_cache

from publisher.core.civil import DAY_SECONDS, HOUR_SECONDS, Zone, local_second, period
from publisher.core.ttl.skip_hours import quiet_bits

REPLAYED_SECONDS = 56 * DAY_SECONDS
GUARD_SECONDS = 60  # by which updates come later in the second replay
PHASES = 4  # readers of each ttl, whose first polls are spread over it
ATTEMPTS = 3  # each skips an hour less at the end of each run of hours than the one before


def week_start(zone: Zone, now: int) -> int:
    """Start (Monday 00 h) of the author's week that contains `now`."""
    days = local_second(zone, now) // DAY_SECONDS
    monday = (days - (days + 3) % 7) * DAY_SECONDS
    before = monday - zone.offsets[period(zone, now)]
    return monday - zone.offsets[period(zone, before)]


@lru_cache(maxsize=8)
def harmless_hours(times: tuple[int, ...], week: int, ttls: tuple[int, ...]) -> int:
    """`harmless_bits`, cached, as it holds for a week."""
    return harmless_bits(times, week, ttls)


def harmless_bits(times: Sequence[int], week: int, ttls: Sequence[int]) -> int:
    """Hours of the day in GMT (bit 0 = 00 h) that may be named in the week that begins at `week`.

    times: updates, ascending; those of the eight weeks before are replayed. ttls: minutes, one kind
    of reader for each. 0 where nothing was posted in these weeks.
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
    """Whether readers of any of the `ttls` would have had the updates ``times[first:last]`` later
    if they had skipped the hours `skip`."""
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
    """Seconds in sum that the updates ``times[first:last]``, each `late` seconds later, waited for
    a reader that polls at `at` and `wait` seconds after each poll; a poll in a skipped hour moves
    to the end of the skipped hours."""
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
    """Index of the first of `times` (ascending) that is not before `at`."""
    low, high = 0, len(times)
    while low < high:
        middle = (low + high) // 2
        if times[middle] < at:
            low = middle + 1
        else:
            high = middle
    return low
