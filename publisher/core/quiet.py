"""Hours in which nothing is ever posted: what RSS `skipHours` may say.

The element means "do not read in these hours", so an hour is named only on solid evidence, and
never where the clock change, a scheduled post or a slightly late author could make it wrong.
"""

from collections.abc import Iterable
from datetime import datetime

from publisher.core.civil import DAY_SECONDS, HOUR_SECONDS, period, seconds, zone_table
from publisher.core.histogram import Activity
from publisher.core.ttl import warming_up

WATCHED_DAYS = 28
MOST_HOURS = 16  # more would leave obedient readers less than a working day
NO_WEIGHT = 0.01  # with a half-life of 90 days, a single update more than 600 days old
COPY_SECONDS = 2 * DAY_SECONDS  # no copy is obeyed longer: a day of ttl, then the hours skipped


def quiet_hours(
    activity: Activity, now: datetime, scheduled: Iterable[datetime] = ()
) -> tuple[int, ...]:
    """The hours of the day in GMT, ascending, in which readers need not come.

    Empty during warm-up, before 28 days are known, and where nothing is posted any more. An hour
    next to an active one is not quiet; neither is one in which a post of `scheduled` will appear.
    """
    if warming_up(activity, now) or activity.first is None:
        return ()
    if seconds(now) - activity.first < WATCHED_DAYS * DAY_SECONDS:
        return ()
    active = _active_hours(activity, now)
    if not active:
        return ()
    active |= {seconds(post) % DAY_SECONDS // HOUR_SECONDS for post in scheduled}
    distance = {hour: min(_apart(hour, other) for other in active) for hour in range(24)}
    quiet = [hour for hour in range(24) if distance[hour] > 1]
    farthest = sorted(quiet, key=lambda hour: (-distance[hour], hour))[:MOST_HOURS]
    return tuple(sorted(farthest))


def _active_hours(activity: Activity, now: datetime) -> set[int]:
    """GMT hours that touch an active local hour, under every offset that a copy may live to see."""
    zone, at = zone_table(activity.zone), seconds(now)
    in_force = range(period(zone.starts, at), period(zone.starts, at + COPY_SECONDS) + 1)
    active = set()
    for local_hour, weight in enumerate(activity.decayed(now)):
        if weight < NO_WEIGHT:
            continue
        for offset in (zone.offsets[entry] for entry in in_force):
            begin = local_hour * HOUR_SECONDS - offset
            for second in (begin, begin + HOUR_SECONDS - 1):
                active.add(second % DAY_SECONDS // HOUR_SECONDS)
    return active


def _apart(hour: int, other: int) -> int:
    """Hours between two hours of the day, the shorter way round."""
    around = abs(hour - other)
    return min(around, 24 - around)
