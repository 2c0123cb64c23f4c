"""Hours in which nothing is ever posted, for the element `skipHours` of RSS.

It means "do not read in these hours". So an hour is named only on solid evidence, and never
where a clock change, a scheduled post or a slightly late author could make it wrong.

It must be quiet by the counts, and a replay must show that naming it delays nothing. Readers that
skip hours all come back at the full hour at which these end, and with a ttl of 60 minutes they keep
polling at full hours: an update a second later waits an hour each time. So at the beginning of each
of the author's weeks the last eight are replayed for readers that obey a ttl, with and without the
skipped hours. The hours are named only if no reader, whatever its ttl, would have had the updates
later; nor if each update had come a minute later, so that updates exactly at a full hour do not
decide.

The simulator compiles these functions of plain numbers.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache

from publisher.core.civil import DAY_SECONDS, HOUR_SECONDS, Zone, local_second, period, seconds
from publisher.core.ttl.activity import Activity
from publisher.core.ttl.counts import History, decay

WATCHED_DAYS, WATCHED_UPDATES = 28, 20
ALL_HOURS = (1 << 24) - 1
MOST_HOURS = 16  # more would leave obedient readers less than a working day
NO_WEIGHT = 0.01  # smaller counts are ignored: a single update from 600 days ago (half-life 90)
COPY_SECONDS = 2 * DAY_SECONDS  # longest that a copy is obeyed: a day of ttl, then skipped hours
REPLAYED_SECONDS = 56 * DAY_SECONDS
GUARD_SECONDS = 60  # by which updates come later in the second replay
PHASES = 4  # readers of each ttl, whose first polls are spread over it
ATTEMPTS = 3  # each skips an hour less at the end of each run of hours than the one before


def quiet_hours(
    activity: Activity,
    now: datetime,
    scheduled: Iterable[datetime] = (),
    safe: int = ALL_HOURS,
) -> tuple[int, ...]:
    """The hours of the day in GMT, ascending, in which readers need not poll: those of `safe`
    (bits, see `safe_bits`) in which nothing is ever posted.

    Empty before 28 days and 20 updates are known, and for a blog without recent posts. Not quiet:
    an hour with a post of `scheduled`, and an hour next to an active one.
    """
    at, queued = seconds(now), 0
    for post in scheduled:
        queued |= 1 << seconds(post) % DAY_SECONDS // HOUR_SECONDS
    half_life = activity.half_life_days * DAY_SECONDS
    quiet = learned_bits(activity.history(at), at, half_life, queued) & safe
    return tuple(hour for hour in range(24) if quiet >> hour & 1)


def learned_bits(history: History, now: int, half_life: int, queued: int) -> int:
    """The quiet hours as bits, by the rule of `quiet_hours`; 0 while too little is known. `queued`:
    the hours of scheduled posts."""
    watched = now - history.past.first >= WATCHED_DAYS * DAY_SECONDS
    if not watched or history.past.number < WATCHED_UPDATES:
        return 0
    active = active_bits(history, now, half_life)
    return quiet_bits(active | queued) if active != 0 else 0


def in_words(hours: Sequence[int]) -> str:
    """The hours that the feed asks its readers to skip, as a sentence."""
    if not hours:
        return "The feed names no hours to skip: none is known to be safe to skip."
    named = ", ".join(f"{hour:02}" for hour in hours)
    return f"Readers are asked to skip {named} h GMT, which delayed no post in the last weeks."


def active_bits(history: History, now: int, half_life: int) -> int:
    """GMT hours (bit 0 = 00 h) that overlap an active local hour, with every UTC offset in force
    within `COPY_SECONDS`."""
    zone, fading = history.zone, decay(now - history.past.as_of, half_life)
    first, last = period(zone, now), period(zone, now + COPY_SECONDS)
    active = 0
    for local_hour in range(24):
        if history.tables.hours[local_hour] * fading >= NO_WEIGHT:
            for entry in range(first, last + 1):
                begin = local_hour * HOUR_SECONDS - zone.offsets[entry]
                active |= 1 << begin % DAY_SECONDS // HOUR_SECONDS
                active |= 1 << (begin + HOUR_SECONDS - 1) % DAY_SECONDS // HOUR_SECONDS
    return active


def quiet_bits(active: int) -> int:
    """The up to 16 hours, as bits, that are farthest from any `active` one, and at least two from
    it; 0 if `active` is 0. Plain numbers, as the simulator compiles this function.
    """
    quiet = named = 0
    for distance in range(12, 1, -1):
        for hour in range(24):
            if named < MOST_HOURS and apart(active, hour) == distance:
                quiet |= 1 << hour
                named += 1
    return quiet


def apart(active: int, hour: int) -> int:
    """Hours from `hour` to the nearest active one, in either direction; 13 where there is none."""
    for distance in range(13):
        if active >> (hour + distance) % 24 & 1 or active >> (hour - distance) % 24 & 1:
            return distance
    return 13


def week_start(zone: Zone, now: int) -> int:
    """Start (Monday 00 h) of the author's week that contains `now`."""
    days = local_second(zone, now) // DAY_SECONDS
    monday = (days - (days + 3) % 7) * DAY_SECONDS
    before = monday - zone.offsets[period(zone, now)]
    return monday - zone.offsets[period(zone, before)]


@lru_cache(maxsize=8)
def safe_hours(times: tuple[int, ...], week: int, ttls: tuple[int, ...]) -> int:
    """`safe_bits`, cached, as it holds for a week."""
    return safe_bits(times, week, ttls)


def safe_bits(times: Sequence[int], week: int, ttls: Sequence[int]) -> int:
    """Hours of the day in GMT (bit 0 = 00 h) that may be named in the week that begins at `week`.

    times: updates, ascending; those of the eight weeks before are replayed. ttls: minutes, one kind
    of reader for each. 0 where nothing was posted in these weeks.
    """
    first, last = place_of(times, week - REPLAYED_SECONDS), place_of(times, week)
    active = 0
    for place in range(first, last):
        active |= 1 << int(times[place]) % DAY_SECONDS // HOUR_SECONDS
    skip = quiet_bits(active)
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
