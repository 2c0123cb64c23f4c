"""The day strip as numbers: 24 bars with height, ttl and figures, in the author's local time.

x runs from 0 to 1440, the minutes of the civil day; heights from 0 to 100. A tone (shade) stands
for the same ttl in every strip, so that two strips can be compared. The visits are those of an app
that looks when the headers say, if nothing is posted meanwhile but what is scheduled.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache

from sqlalchemy.orm import Session

from publisher.base.clock import Clock
from publisher.blog import update_log
from publisher.dynamic_ttl.core.civil import instant, local_second, seconds, zone_table
from publisher.dynamic_ttl.core.menu import band
from publisher.dynamic_ttl.core.replay.coming_hours import DayHour, day_hours, max_age_at
from publisher.dynamic_ttl.core.replay.told import Told, told_at
from publisher.dynamic_ttl.core.ttl.activity import Activity, fold
from publisher.dynamic_ttl.core.ttl.counts import WARM_UP_UPDATES
from publisher.dynamic_ttl.core.ttl.decision import build_moment, decide
from publisher.dynamic_ttl.core.ttl.rule import TtlRule
from publisher.installation.settings import load_settings

FULL = 100.0
NOT_ASKED = Told("")
LOWEST = 0.05  # updates an hour that fill the strip, where no hour has more
LEAST = 3.0  # height of an hour without updates, so that its tone is visible


@dataclass(frozen=True, slots=True)
class Bar:
    """One hour: its height and tone, and the figures behind them.

    updates: expected in the hour. ttl_minutes: the feed's ttl in that hour; 0 in a strip that shows
    visits instead.
    """

    hour: int
    height: float
    tone: int
    updates: float
    ttl_minutes: int


@dataclass(frozen=True, slots=True)
class ExpectedVisit:
    """When an app that listens will look: the minute of the day, and the author's local time."""

    minute: float
    clock: str


@dataclass(frozen=True, slots=True)
class Day:
    """The strip: its bars by hour, the minute of the day now, and the minutes of scheduled posts.

    told: what apps are told now.
    """

    bars: tuple[Bar, ...]
    zone: str
    now_minute: float
    scheduled_minutes: tuple[float, ...] = ()
    visits: tuple[ExpectedVisit, ...] = ()
    told: Told = NOT_ASKED


def tone(ttl_minutes: int) -> int:
    """The tone of a ttl: 5 for the shortest, 1 for the longest."""
    return 5 - band(ttl_minutes)


def bars(hours: Sequence[DayHour], ttls: Mapping[int, int] | None = None) -> tuple[Bar, ...]:
    """The bars of a table of hours; `ttls`: minutes by hour, if their tones are to show them."""
    # A blog with hardly any updates must not show full bars.
    most = max([LOWEST, *(row.expected_updates for row in hours)])
    return tuple(_bar(row, most, ttls[row.hour] if ttls else 0) for row in hours)


def own_day(
    activity: Activity,
    now: datetime,
    rule: TtlRule,
    scheduled: Iterable[datetime] = (),
) -> Day:
    """The day strip of an activity, with what apps are told now; no bars, no visits before five
    updates.

    Scheduled posts more than a day after `now` are left out.
    """
    queue, zone = sorted(scheduled), activity.zone
    hours = day_hours(activity, now)
    decision = decide(activity, build_moment(activity.last_update, now, zone), rule, queue)
    visits = walk(activity, now, rule, queue)
    near = (at for at in queue if 0 < (at - now).total_seconds() < 86_400)
    drawn = Day(
        (),
        zone,
        minute_of_day(now, zone),
        tuple(minute_of_day(at, zone) for at in near),
        told=told_at(decision, now, hours, queue[0] if queue else None),
    )
    if decision.updates < WARM_UP_UPDATES:
        return drawn
    return replace(
        drawn,
        bars=bars(hours),
        visits=tuple(ExpectedVisit(minute_of_day(at, zone), clock(at, zone)) for at in visits),
    )


def minute_of_day(at: datetime, zone: str) -> float:
    """Minutes since local midnight."""
    return local_second(zone_table(zone), seconds(at)) % 86_400 / 60


def _bar(row: DayHour, most: float, ttl_minutes: int) -> Bar:
    return Bar(
        hour=row.hour,
        height=round(max(LEAST, FULL * row.expected_updates / most), 1),
        tone=tone(ttl_minutes),
        updates=row.expected_updates,
        ttl_minutes=ttl_minutes,
    )


def strip(session: Session, now: datetime) -> Day:
    """The day strip at `now`; computed at most once a minute."""
    activity = update_log.load(session)
    settings = load_settings(session)
    queue = tuple(update_log.scheduled(session, now))
    last = activity.last_update
    minute = now.replace(second=0, microsecond=0)
    moment = minute if last is None else max(minute, last)
    return _drawn(activity, moment, settings.rule, queue)


def public_strip(session: Session, clock: Clock, page: str) -> Day | None:
    """The day strip as readers see it on `page`, without scheduled posts; None unless the author
    shows the hours there and there is something to show. The time is asked only if they do."""
    if page not in load_settings(session).show_hours.split("+"):
        return None
    day = strip(session, clock())
    return replace(day, scheduled_minutes=()) if day.bars else None


_drawn = lru_cache(maxsize=8)(own_day)
AHEAD = timedelta(days=1)
MOST_VISITS = 200  # enough for a picture, though the shortest ttl values give more in a day


def walk(
    activity: Activity, now: datetime, rule: TtlRule, queue: Sequence[datetime]
) -> tuple[datetime, ...]:
    """The visits of the coming day, the one of this minute first.

    queue: scheduled posts, soonest first; each is an update from its moment on.
    """
    visits, at, waiting = [now], now, list(queue)
    while len(visits) < MOST_VISITS:
        out = bisect_right(waiting, at)
        activity, waiting = fold(activity, waiting[:out]), waiting[out:]
        at += timedelta(seconds=max(max_age_at(activity, at, rule, waiting), 60))
        at = (at + timedelta(seconds=59)).replace(second=0, microsecond=0)
        if at > now + AHEAD:
            break
        visits.append(at)
    return tuple(visits)


def clock(at: datetime, zone: str) -> str:
    """The time of day where the author lives."""
    return f"{instant(local_second(zone_table(zone), seconds(at))):%H:%M}"
