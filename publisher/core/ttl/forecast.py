"""What the counts say of the hours to come: expected updates in every five minutes ahead.

Plain functions over indexable sequences of numbers: the simulator compiles these very functions.
"""

from collections.abc import Sequence
from math import exp

from publisher.core.civil import end_of_hour, period, period_from, week_hour
from publisher.core.ttl.tables import (
    AGES,
    Counts,
    Tables,
    age_class,
    hour_rate,
    week_rate,
    weekday_mean,
)

STEP_SECONDS = 300
STEP_MINUTES = 5.0
DAY, WEEK, WEEK_MINUTE = 0, 1, 2
PROFILES = {"day": DAY, "week": WEEK, "week+minute": WEEK_MINUTE}
MINUTE_PRIOR = 4.0  # updates that each five minutes of the hour are thought to have had, evenly
TINY = 1e-9  # updates; below, a quotient of two such numbers says nothing
HOUR_MINUTE_PRIOR = 1.0  # likewise within one hour of the day, as in all hours together


def spread_within(tables: Tables, fading: float, within: Counts) -> None:
    """Fill 288 factors around 1: how the updates of each local hour lie within it.

    Each hour's own pattern is drawn towards the pattern of all hours, and that towards flat.
    """
    total = 0.0
    for part in range(12):
        within[part] = 0.0
    for slot in range(288):
        total += tables.minutes[slot] * fading
    for part in range(12):
        common = 0.0
        for slot in range(part, 288, 12):
            common += tables.minutes[slot] * fading
        common = (common + MINUTE_PRIOR) / (total / 12.0 + MINUTE_PRIOR)
        for slot in range(part, 288, 12):
            within[slot] = common
    for hour in range(24):
        mean = 0.0
        for slot in range(12 * hour, 12 * hour + 12):
            mean += tables.minutes[slot] * fading / 12.0
        for slot in range(12 * hour, 12 * hour + 12):
            own = tables.minutes[slot] * fading + HOUR_MINUTE_PRIOR * within[slot]
            within[slot] = own / (mean + HOUR_MINUTE_PRIOR)


def look_forward(
    tables: Tables,
    starts: Sequence[int],
    offsets: Sequence[int],
    profile: int,
    last: int,
    begin: int,
    fading: float,
    days: float,
    factors: Sequence[float],
    within: Sequence[float],
    number: Counts,
    waiting: Counts,
) -> None:
    """Fill running sums at every five minutes from `begin`, a multiple of 5 local minutes.

    number[i]: updates expected in the first i steps; waiting[i]: its integral, in minutes (what
    these updates will have waited by then). Each hour's rate is multiplied by the factor of the
    silence, as long as it may last: `quiet` is the chance that nothing has come yet.
    """
    number[0] = waiting[0] = 0.0
    quiet, step, at, steps = 1.0, 0, begin, len(number) - 1
    mean, clock = weekday_mean(tables, fading), period(starts, begin)
    while step < steps:
        clock = period_from(starts, clock, at)
        local = at + offsets[clock]
        slot, part = week_hour(local), local // STEP_SECONDS % 288
        if profile == DAY:
            rate = hour_rate(tables, slot % 24, fading, days) / 12.0
        else:
            rate = week_rate(tables, slot, mean, fading, days) / 12.0
        hour = end_of_hour(starts, offsets, clock, at)
        while at < hour and step < steps:
            place = age_class(at - last)
            end = min(hour, last + AGES[place + 1]) if place < len(factors) - 1 else hour
            more = min(-((at - end) // STEP_SECONDS), steps - step)
            for later in range(more):
                updates = rate * within[part + later] if profile == WEEK_MINUTE else rate
                number[step + 1 + later] = updates
                waiting[step + 1 + later] = exp(-updates * factors[place])
            quiet = add_up(number, waiting, step, step + more, factors[place], quiet)
            step += more
            part += more
            at += more * STEP_SECONDS


def add_up(
    number: Counts, waiting: Counts, begin: int, end: int, factor: float, quiet: float
) -> float:
    """Turn usual updates (in `number`) and chances of silence (in `waiting`), step by step, into
    running sums; the chance of silence until then, from that before.

    The factor holds until the first update only: where it makes ten of the one that comes every
    night, one is expected all the same. `once`: the chance that a silence ends in the step, over
    the updates that would come if the factor held.
    """
    expected, waited = number[begin], waiting[begin]
    for step in range(begin + 1, end + 1):
        usual, first = number[step], number[step] * factor
        once = (1.0 - waiting[step]) / first if first > TINY else 1.0
        ending = once * first + usual * (1.0 - once)
        updates = quiet * ending + (1.0 - quiet) * usual
        quiet *= waiting[step]
        waited += (expected + updates / 2.0) * STEP_MINUTES
        expected += updates
        number[step], waiting[step] = expected, waited
    return quiet


def number_by(number: Sequence[float], minute: float) -> float:
    """Updates expected from the beginning of the look forward to `minute`."""
    step = int(minute / STEP_MINUTES)
    if step >= len(number) - 1:
        return number[len(number) - 1]
    return number[step] + (number[step + 1] - number[step]) * (minute / STEP_MINUTES - step)


def waiting_by(number: Sequence[float], waiting: Sequence[float], minute: float) -> float:
    """Integral of `number_by` up to `minute`."""
    step = int(minute / STEP_MINUTES)
    if step >= len(number) - 1:
        last = len(number) - 1
        return waiting[last] + number[last] * (minute - last * STEP_MINUTES)
    past = minute - step * STEP_MINUTES
    slope = (number[step + 1] - number[step]) / STEP_MINUTES
    return waiting[step] + number[step] * past + slope * past * past / 2.0


def hides(number: Sequence[float], waiting: Sequence[float], minute: float, ttl: float) -> float:
    """Minutes of waiting that a copy fetched at `minute` and kept for `ttl` minutes hides."""
    later = waiting_by(number, waiting, minute + ttl)
    return later - waiting_by(number, waiting, minute) - ttl * number_by(number, minute)
