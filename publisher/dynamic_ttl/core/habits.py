"""What the counts say of an author's habits: a weekly schedule, and busiest hours that have moved.

The schedule ("every Tuesday") is a recurrence rule of RFC 5545 (rrule) with its first occurrence.
Podcast apps show it (`podcast:updateFrequency`).
"""

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import NamedTuple

from .civil import DAY_SECONDS, instant, local_second, seconds, zone_table
from .ttl.activity import Activity
from .ttl.counts import RECENT_SECONDS, bare_days, decay

LEAST_UPDATES, LEAST_DAYS = 6, 28
REGULAR = (0.6, 1.5)  # updates a week on a weekday of the rule, at least and at most
STRAY_SHARE = 0.1  # of all updates, at most, on other weekdays
LATE_DAYS = 2  # an update that is overdue by more than this ends the rule
CODES = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Rhythm(NamedTuple):
    """rrule: as in RFC 5545; dtstart: the first occurrence, with the author's offset, as weekdays
    are meant by the clock of dtstart; words: the same for people."""

    rrule: str
    dtstart: datetime
    words: str


def weekly_rhythm(activity: Activity, now: datetime) -> Rhythm | None:
    """The weekdays on which an update comes nearly every week; None where there is no clear rule.

    Clear: four weeks and six updates are known, each weekday named has about one update a week,
    hardly any update comes on another weekday, and the next one is not long overdue.
    """
    if activity.first is None or activity.last is None or activity.updates < LEAST_UPDATES:
        return None
    if seconds(now) - activity.first < LEAST_DAYS * DAY_SECONDS:
        return None
    half_life = activity.half_life_days * DAY_SECONDS
    weeks = bare_days((), activity.first, seconds(now), half_life) / 7
    fading = decay(seconds(now) - activity.as_of, half_life)
    rates = [count * fading / weeks for count in activity.tables.weekdays]
    days = [day for day in range(7) if rates[day] >= REGULAR[0]]
    stray = sum(rates) - sum(rates[day] for day in days)
    if not days or max(rates) > REGULAR[1] or stray > STRAY_SHARE * sum(rates):
        return None
    begin = _first_occurrence(activity, days)
    if _overdue(activity, now, days):
        return None
    return Rhythm(_rule(days), begin, _words(days))


def _first_occurrence(activity: Activity, days: list[int]) -> datetime:
    """The first of `days` (0 = Monday) on or after the day of the first update, at the busiest
    local hour."""
    zone, first = zone_table(activity.zone), activity.first or 0
    hour = max(range(24), key=lambda hour: activity.tables.hours[hour])
    local = local_second(zone, first)
    midnight = local - local % DAY_SECONDS
    while instant(midnight).weekday() not in days:
        midnight += DAY_SECONDS
    wanted = midnight + hour * 3600
    at = wanted - (local - first)
    at -= local_second(zone, at) - wanted
    return instant(at).astimezone(timezone(timedelta(seconds=local_second(zone, at) - at)))


def _overdue(activity: Activity, now: datetime, days: list[int]) -> bool:
    """Whether the last update is older than the longest pause between two of the days, plus
    `LATE_DAYS`."""
    followers = [*days[1:], days[0]]
    pauses = [(later - day - 1) % 7 + 1 for day, later in zip(days, followers, strict=True)]
    last = instant(activity.last or 0)
    return now - last > timedelta(days=max(pauses) + LATE_DAYS)


def _rule(days: list[int]) -> str:
    if len(days) == 7:
        return "FREQ=DAILY"
    return f"FREQ=WEEKLY;BYDAY={','.join(CODES[day] for day in days)}"


def _words(days: list[int]) -> str:
    if len(days) == 7:
        return "Every day"
    if days == [0, 1, 2, 3, 4]:
        return "Every weekday"
    names = [NAMES[day] for day in days]
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f"Every {listed}"


RECENT = 1  # index of the forecaster `recent` in the beliefs
BUSY_HOURS = 3  # consecutive hours that are compared
LEAST_RECENT = 8.0  # decayed count of `recent`; fewer are too few to tell
LEAST_BELIEF = 0.5  # in the forecaster `recent`
LEAST_HOURS = 2  # between the old and the new busiest hours
CLEARLY = 1.5  # times the share of all updates that the new hours had before


class MovedHours(NamedTuple):
    """Local hours at which the busiest three hours begin: in the months before, and lately."""

    before: int
    lately: int


def moved_hours(activity: Activity) -> MovedHours | None:
    """The author's old and new hours, where the forecaster of the last weeks predicts better than
    the others and the busiest hours have changed; None where they have not clearly moved."""
    if activity.last is None or activity.beliefs[RECENT] < LEAST_BELIEF:
        return None
    faded = decay(activity.last - activity.as_of, RECENT_SECONDS)
    if sum(activity.tables.recent) * faded < LEAST_RECENT:
        return None
    usual, recent = shares(activity.tables.hours), shares(activity.tables.recent)
    before, lately = usual.index(max(usual)), recent.index(max(recent))
    apart = abs(before - lately)
    if min(apart, 24 - apart) < LEAST_HOURS or recent[lately] < CLEARLY * usual[lately]:
        return None
    return MovedHours(before, lately)


def shares(counts: Sequence[float]) -> list[float]:
    """For each hour, the share of all `counts` in the `BUSY_HOURS` that begin with it."""
    total = sum(counts)
    return [sum(counts[(hour + k) % 24] for k in range(BUSY_HOURS)) / total for hour in range(24)]
