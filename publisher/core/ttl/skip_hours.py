"""Hours in which nothing is ever posted: what RSS `skipHours` may say.

The element means "do not read in these hours", so an hour is named only on solid evidence, and
never where the clock change, a scheduled post or a slightly late author could make it wrong.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from publisher.core.civil import DAY_SECONDS, HOUR_SECONDS, period, seconds
from publisher.core.ttl.activity import Activity
from publisher.core.ttl.counts import History, decay

WATCHED_DAYS, WATCHED_UPDATES = 28, 20
ALL_HOURS = (1 << 24) - 1
MOST_HOURS = 16  # more would leave obedient readers less than a working day
NO_WEIGHT = 0.01  # with a half-life of 90 days, a single update more than 600 days old
COPY_SECONDS = 2 * DAY_SECONDS  # no copy is obeyed longer: a day of ttl, then the hours skipped


def quiet_hours(
    activity: Activity,
    now: datetime,
    scheduled: Iterable[datetime] = (),
    harmless: int = ALL_HOURS,
) -> tuple[int, ...]:
    """The hours of the day in GMT, ascending, in which readers need not come: those of `harmless`
    (bits, see `harmless_hours`) in which nothing is ever posted.

    Empty before 28 days and 20 updates are known, and where nothing is posted any more. An hour
    next to an active one is not quiet; neither is one in which a post of `scheduled` will appear.
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
    """What is said to readers of the hours to skip, as a sentence."""
    if not hours:
        return "No hours are named to skip: none are quiet that cost readers nothing."
    named = ", ".join(f"{hour:02}" for hour in hours)
    return f"Readers are asked to skip {named} h GMT, which cost none a minute in the last weeks."


def active_bits(history: History, now: int, half_life: int) -> int:
    """GMT hours (bit 0 = 00 h) that touch an active local hour, under every offset that a copy may
    live to see."""
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
    """Of the hours not next to an active one the farthest from any, 16 at most; 0 for no `active`.

    Plain numbers, as the simulator compiles this very function.
    """
    quiet = named = 0
    for distance in range(12, 1, -1):
        for hour in range(24):
            if named < MOST_HOURS and apart(active, hour) == distance:
                quiet |= 1 << hour
                named += 1
    return quiet


def apart(active: int, hour: int) -> int:
    """Hours to the nearest active one, either way round; 13 where there is none."""
    for distance in range(13):
        if active >> (hour + distance) % 24 & 1 or active >> (hour - distance) % 24 & 1:
            return distance
    return 13
