"""The day strip as numbers: 24 bars with height, ttl and figures, in the author's local time.

x runs from 0 to 1440, the minutes of the civil day; heights from 0 to 100. A tone (shade) stands
for the same ttl in every strip, so that two strips can be compared. A polite reader waits after
each visit as long as the feed then asks; its visits assume that nothing is published meanwhile.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache

from sqlalchemy.orm import Session

from publisher.blog import update_log
from publisher.core.civil import instant, local_second, seconds, zone_table
from publisher.core.menu import band
from publisher.core.replay.coming_hours import DayHour, day_hours, max_age_at
from publisher.core.ttl.activity import Activity
from publisher.core.ttl.counts import WARM_UP_DAYS, WARM_UP_UPDATES
from publisher.core.ttl.decision import WARM_UP, Decision, build_moment, decide
from publisher.core.ttl.rule import TtlRule
from publisher.installation.settings import load_settings

FULL = 100.0
LEAST = 3.0  # height of an hour without updates, so that its tone is visible
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, slots=True)
class Bar:
    """One hour: its height and tone, and the figures behind them.

    updates: expected in the hour. ttl_minutes: the feed's ttl in that hour; 0 in a strip that shows
    the visits of a polite reader instead.
    """

    hour: int
    height: float
    tone: int
    updates: float
    ttl_minutes: int


@dataclass(frozen=True, slots=True)
class ExpectedVisit:
    """One visit of a polite reader: its minute of the day, and the author's local time."""

    minute: float
    clock: str


@dataclass(frozen=True, slots=True)
class Day:
    """The strip: its bars by hour, the minute of the day now, and the minutes of scheduled posts.

    why: sentences for the author.
    """

    bars: tuple[Bar, ...]
    zone: str
    now_minute: float
    scheduled_minutes: tuple[float, ...] = ()
    sentence: str = ""
    visits: tuple[ExpectedVisit, ...] = ()
    why: tuple[str, ...] = ()


def tone(ttl_minutes: int) -> int:
    """The tone of a ttl: 5 for the shortest, 1 for the longest."""
    return 5 - band(ttl_minutes)


def bars(hours: Sequence[DayHour], ttls: Mapping[int, int] | None = None) -> tuple[Bar, ...]:
    """The bars of a table of hours; `ttls`: minutes by hour, if their tones are to show them."""
    # A blog with hardly any updates must not show full bars.
    most = max([RARE, *(row.expected_updates for row in hours)])
    return tuple(_bar(row, most, ttls[row.hour] if ttls else 0) for row in hours)


def own_day(
    activity: Activity,
    now: datetime,
    rule: TtlRule,
    scheduled: Iterable[datetime] = (),
) -> Day:
    """The day strip of an activity, with the visits of a polite reader and sentences about them.

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
        describe(decision, hours, visits),
    )
    if decision.last_update is None:
        return drawn
    return replace(
        drawn,
        bars=bars(hours),
        visits=tuple(ExpectedVisit(minute_of_day(at, zone), clock(at, zone)) for at in visits),
        why=tuple(why(decision, hours, visits)),
    )


def describe(decision: Decision, hours: Sequence[DayHour], visits: Sequence[datetime]) -> str:
    """What the strip means now: two sentences for readers and author."""
    if decision.last_update is None:
        return (
            "The day is still empty. Later it shows when this blog publishes, and when"
            " a polite reader comes."
        )
    here, *later = (_when(at, visits[0], decision.zone) for at in visits)
    then = "at " + ", then at ".join(later[:2]) if later else "in a day"
    told = f"A polite reader that comes now, at {here}, is asked to come back {then}."
    if decision.phase == "warm-up":
        return f"{told} Still learning when this blog publishes ({progress(decision)})."
    return f"{told} {_habit(decision, hours).capitalize()}."


def span(minutes: int) -> str:
    """A ttl in words: 15 minutes, 60 minutes, 8 hours."""
    if minutes == 1:
        return "1 minute"
    if minutes < 120 or minutes % 60:
        return f"{minutes} minutes"
    return f"{minutes // 60} hours"


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


def _updates_at(at: datetime, zone: str, hours: Sequence[DayHour]) -> float:
    hour = int(minute_of_day(at, zone) // 60)
    return next((row.expected_updates for row in hours if row.hour == hour), 0.0)


def _habit(decision: Decision, hours: Sequence[DayHour]) -> str:
    updates = _updates_at(decision.decided_at, decision.zone, hours)
    if updates < RARE:
        return "updates are rare at this hour"
    return f"around this hour, expect {_frequency(updates)}"


def _frequency(updates: float) -> str:
    if updates >= 1.5:
        rounded = round(updates)
        number = NUMBERS[rounded] if rounded < len(NUMBERS) else str(rounded)
        return f"about {number} updates an hour"
    if updates >= 2 / 3:  # below, the hours between two updates are two or more
        return "about one update an hour"
    return f"an update every {round(1 / updates)} hours"


def strip(session: Session, now: datetime) -> Day:
    """The day strip at `now`; computed at most once a minute."""
    known = update_log.load(session)
    settings = load_settings(session)
    queue = tuple(update_log.scheduled(session, now))
    last = known.last_update
    minute = now.replace(second=0, microsecond=0)
    moment = minute if last is None else max(minute, last)
    return _drawn(known, moment, settings.rule, queue)


_drawn = lru_cache(maxsize=8)(own_day)
AHEAD = timedelta(days=1)
MOST_VISITS = 200  # enough for a picture, though the shortest ttl values give more in a day
RARE, OFTEN = 0.05, 1.0  # updates an hour


def walk(
    activity: Activity, now: datetime, rule: TtlRule, queue: Sequence[datetime]
) -> tuple[datetime, ...]:
    """The visits of the coming day, the one of this minute first."""
    visits, at = [now], now
    while len(visits) < MOST_VISITS:
        at += timedelta(seconds=max(max_age_at(activity, at, rule, queue), 60))
        at = (at + timedelta(seconds=59)).replace(second=0, microsecond=0)
        if at > now + AHEAD:
            break
        visits.append(at)
    return tuple(visits)


def clock(at: datetime, zone: str) -> str:
    """The time of day where the author lives."""
    return f"{instant(local_second(zone_table(zone), seconds(at))):%H:%M}"


def _when(at: datetime, now: datetime, zone: str) -> str:
    """The time of day, with its day where that is not today."""
    today, day = (instant(local_second(zone_table(zone), seconds(one))) for one in (now, at))
    days = (day.date() - today.date()).days
    return f"{day:%H:%M}" + ("" if days == 0 else " tomorrow" if days == 1 else f" on {day:%A}")


def progress(decision: Decision) -> str:
    """How far the warm-up is."""
    first = decision.first_update
    days = 1 if first is None else (decision.decided_at - first).days + 1
    return (
        f"{min(decision.updates, WARM_UP_UPDATES)} of {WARM_UP_UPDATES} updates,"
        f" day {min(days, WARM_UP_DAYS)} of {WARM_UP_DAYS}"
    )


def why(decision: Decision, hours: Sequence[DayHour], visits: Sequence[datetime]) -> list[str]:
    """Sentences for the author: why this ttl, what a longer one would cost, the next check."""
    zone, now = decision.zone, visits[0]
    if decision.last_update is None:
        return ["Nothing has been published yet, so readers are asked to come rarely."]
    back = f"at {_when(visits[1], now, zone)}" if len(visits) > 1 else "in a day"
    if decision.phase == WARM_UP:
        first = f"Still learning when you publish ({progress(decision)})."
        second = f"Until then the time since your last update decides: come back {back}."
    else:
        first = _habit_of_author(now, back, zone, hours)
        second = _cost(decision, now, hours)
    scheduled = decision.scheduled_at
    third = (
        f"Your next post is scheduled for {_when(scheduled, now, zone)}, and no reader is asked to"
        " sleep through it."
        if scheduled is not None and decision.unscheduled_ttl_minutes != decision.ttl_minutes
        else f"Next check: {clock(decision.valid_until, zone)}, or when you publish."
    )
    return [text for text in (first, second, third) if text]


def _habit_of_author(now: datetime, back: str, zone: str, hours: Sequence[DayHour]) -> str:
    rate = _updates_at(now, zone, hours)
    if rate < RARE:
        return f"You rarely publish at this hour; readers come back {back}."
    if rate < OFTEN:
        return f"At this hour you publish every {_hours(1 / rate)}; readers come back {back}."
    return f"You publish often at this hour, so readers come back soon, {back}."


def _cost(decision: Decision, now: datetime, hours: Sequence[DayHour]) -> str:
    """How long a post of the busiest hour would wait with the next larger ttl."""
    if decision.refused is None:
        return f"No ttl is longer than {span(decision.rule.menu.values[-1])}."
    end = now + timedelta(minutes=decision.refused.ttl_minutes)
    covered = [row for row in hours if now < row.starts_at < end]
    post = max(covered, key=lambda row: row.expected_updates).starts_at if covered else now
    zone, longer = decision.zone, span(decision.refused.ttl_minutes)
    said = "now" if post == now else f"at {clock(post, zone)}"
    until = _when(end, now, zone)
    return f"If they stayed away for {longer}, a post {said} would wait until {until}."


def _hours(count: float) -> str:
    whole = max(round(count), 1)
    return "hour" if whole == 1 else f"{whole} hours"
