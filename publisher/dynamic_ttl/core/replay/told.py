"""What apps are told at a moment, and why, in sentences: the same words wherever an author asks.

Most apps read the headers, which are exact to the minute. Simple ones know the feed's ttl only,
one of a few values (the menu). Times of day are the author's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ..civil import instant, local_second, seconds, zone_table
from ..ttl.counts import WARM_UP_DAYS, WARM_UP_UPDATES
from ..ttl.decision import WARM_UP, Decision
from ..ttl.headers import TICK_SECONDS
from .coming_hours import DayHour

RARE, OFTEN = 0.25, 0.75  # updates an hour
PURPOSE = (
    "This blog learns your hours: apps look soon when you usually post, and rarely while you sleep."
)
NOTHING_YET = f"{PURPOSE} After five posts a chart here shows your hours, and when apps will look."


@dataclass(frozen=True, slots=True)
class Told:
    """Sentences with their reasons: what most apps are told, what simple ones are told ("" where
    that is the same), and when it is decided again."""

    most: str
    simple: str = ""
    again: str = ""


def told_at(
    decision: Decision, now: datetime, hours: Sequence[DayHour], post: datetime | None = None
) -> Told:
    """What an app that looks at `now` is told by the document of `decision`, with the reason.

    hours: `day_hours` at that moment; post: the next one scheduled.
    """
    if decision.last_update is None:
        return Told(NOTHING_YET)
    zone = decision.zone
    back = now + timedelta(seconds=decision.max_age_seconds(now))
    until = time_of_day(back + timedelta(seconds=59), now, zone)  # seconds are not shown
    most = f"An app that looks now, at {time_of_day(now, now, zone)}, is told to wait until"
    most = f"{most} {until}. {_reason(decision, now, back, hours, post)}"
    return Told(most, _simple(decision, now, hours), _again(decision, now))


def time_of_day(at: datetime, now: datetime, zone: str) -> str:
    """The time of day, with its day where that is not the day of `now`."""
    today, day = (instant(local_second(zone_table(zone), seconds(moment))) for moment in (now, at))
    days = (day.date() - today.date()).days
    return f"{day:%H:%M}" + ("" if days == 0 else " tomorrow" if days == 1 else f" on {day:%A}")


def progress(decision: Decision) -> str:
    """How far the learning is: 2 of 5 posts, day 1 of 2."""
    days = (decision.decided_at - (decision.first_update or decision.decided_at)).days + 1
    return (
        f"{min(decision.updates, WARM_UP_UPDATES)} of {WARM_UP_UPDATES} posts,"
        f" day {min(days, WARM_UP_DAYS)} of {WARM_UP_DAYS}"
    )


def span(minutes: int) -> str:
    """A number of minutes in words: 15 minutes, 60 minutes, 8 hours."""
    if minutes == 1:
        return "1 minute"
    if minutes < 120 or minutes % 60:
        return f"{minutes} minutes"
    return f"{minutes // 60} hours"


def _reason(
    decision: Decision,
    now: datetime,
    back: datetime,
    hours: Sequence[DayHour],
    post: datetime | None,
) -> str:
    cut = post is not None and 0 <= (back - post).total_seconds() <= TICK_SECONDS
    if decision.expiries is None:
        cut = decision.scheduled_at is not None
    if cut and post is not None:
        return f"Your next post is scheduled for {time_of_day(post, now, decision.zone)}."
    if decision.phase == WARM_UP:
        return (
            f"Learning your hours: {progress(decision)}. Until then, the longer you are quiet, the"
            " longer the pause."
        )
    rate = _rate(now, decision.zone, hours)
    if rate < RARE:
        return "You rarely post at this hour."
    return f"Not longer: you {'sometimes' if rate < OFTEN else 'usually'} post at this hour."


def _simple(decision: Decision, now: datetime, hours: Sequence[DayHour]) -> str:
    """The feed's ttl, and what a longer one would cost a post of the busiest hour."""
    if decision.expiries is None:
        return ""
    known = f"Simple apps, which know only the feed’s ttl, are told {span(decision.ttl_minutes)}"
    if decision.phase == WARM_UP:
        return f"{known}."
    if decision.scheduled_at is not None:
        return f"{known}, because of the scheduled post."
    if decision.refused is None:
        return f"{known}, the longest pause."
    longer = decision.refused.ttl_minutes
    end = now + timedelta(minutes=longer)
    covered = [row for row in hours if now < row.starts_at < end]
    post = max(covered, key=lambda row: row.expected_updates).starts_at if covered else now
    said = "now" if post == now else f"at {time_of_day(post, now, decision.zone)}"
    wait = _long(round((end - post).total_seconds() / 60))
    return f"{known}: with {span(longer)}, a post {said} could wait {wait}."


def _again(decision: Decision, now: datetime) -> str:
    at = time_of_day(decision.valid_until, now, decision.zone)
    return f"This is decided again at {at}, and when you post."


def _rate(at: datetime, zone: str, hours: Sequence[DayHour]) -> float:
    hour = local_second(zone_table(zone), seconds(at)) % 86_400 // 3_600
    return next(row.expected_updates for row in hours if row.hour == hour)


def _long(minutes: int) -> str:
    """Minutes in words, in hours where they are many: 90 minutes, 3 hours 27 minutes."""
    whole, rest = divmod(minutes, 60)
    if minutes < 120 or not rest:
        return span(minutes)
    return f"{whole} hours {span(rest)}"
