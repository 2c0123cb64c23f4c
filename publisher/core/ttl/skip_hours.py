"""Hours in which nothing is ever posted: the candidates for RSS `skipHours`.

The element means "do not read in these hours", so an hour is named only on solid evidence, and
never where a clock change, a scheduled post or a slightly late author could make it wrong.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from publisher.core.civil import DAY_SECONDS, HOUR_SECONDS, period, seconds
from publisher.core.ttl.activity import Activity
from publisher.core.ttl.counts import History, decay

WATCHED_DAYS, WATCHED_UPDATES = 28, 20
ALL_HOURS = (1 << 24) - 1
MOST_HOURS = 16  # more would leave obedient readers less than a working day
NO_WEIGHT = 0.01  # smaller counts are ignored: a single update from 600 days ago (half-life 90)
COPY_SECONDS = 2 * DAY_SECONDS  # longest that a copy is obeyed: a day of ttl, then skipped hours


def quiet_hours(
    activity: Activity,
    now: datetime,
    scheduled: Iterable[datetime] = (),
    harmless: int = ALL_HOURS,
) -> tuple[int, ...]:
    """The hours of the day in GMT, ascending, in which readers need not poll: those of `harmless`
    (bits, see `harmless_hours`) in which nothing is ever posted.

    Empty before 28 days and 20 updates are known, and for a blog without recent posts. Not quiet:
    an hour with a post of `scheduled`, and an hour next to an active one.
    """
    if activity.updates < WATCHED_UPDATES or activity.first is None:
        return ()
    if seconds(now) - activity.first < WATCHED_DAYS * DAY_SECONDS:
        return ()
    at = seconds(now)
    active = active_bits(activity.history(at), at, activity.half_life_days * DAY_SECONDS)
    if active == 0:
        return ()
    for post in scheduled:
        active |= 1 << seconds(post) % DAY_SECONDS // HOUR_SECONDS
    quiet = quiet_bits(active) & harmless
    return tuple(hour for hour in range(24) if quiet >> hour & 1)


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
