"""The forecast of the habits: expected updates in every five minutes ahead, from the counts.

Plain functions over indexable sequences of numbers: the simulator compiles the same functions.
"""

from math import exp, sqrt
from typing import NamedTuple

from publisher.core.civil import end_of_hour, period, period_from, week_hour
from publisher.core.ttl.counts import (
    AGES,
    Counts,
    Exposure,
    History,
    Tables,
    age_class,
    hour_rate,
    week_rate,
    weekday_mean,
)
from publisher.core.ttl.rule import DAY, WEEK_MINUTE

STEP_SECONDS = 300
STEP_MINUTES = 5.0
MINUTE_PRIOR = 4.0  # prior, updates in each five minutes of the hour: all alike
TINY = 1e-9  # updates; a quotient of smaller numbers is not computed
HOUR_MINUTE_PRIOR = 1.0  # prior, updates in each five minutes of one hour: as in all hours together


class Curve(NamedTuple):
    """Running sums at every five minutes from the curve's beginning on: `number[i]`, updates
    expected in the first i steps; `waiting[i]`, minutes that they have waited by then, in sum."""

    number: Counts
    waiting: Counts


def spread_within(tables: Tables, fading: float, within: Counts) -> None:
    """Fill `within` with 288 factors around 1: the rate of each five minutes of the local day
    relative to that of its hour.

    Each hour's own pattern is shrunk towards the pattern of all hours, and that towards flat.
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


def within_hour(tables: Tables, local: int, fading: float) -> float:
    """The factor of `spread_within` for the five minutes that contain the second `local`.

    Totals come from the 24 hourly counts, which hold the same updates as the 288 slots.
    """
    slot = local // STEP_SECONDS % 288
    total = common = 0.0
    for hour in range(24):
        total += tables.hours[hour]
    for place in range(slot % 12, 288, 12):
        common += tables.minutes[place]
    common = (common * fading + MINUTE_PRIOR) / (total * fading / 12.0 + MINUTE_PRIOR)
    own = tables.minutes[slot] * fading + HOUR_MINUTE_PRIOR * common
    return own / (tables.hours[slot // 12] * fading / 12.0 + HOUR_MINUTE_PRIOR)


class Pattern(NamedTuple):
    """What shapes the rates besides hour and weekday: the factor of each class of silence, and 288
    factors around 1 for the five minutes of the local day (used by the profile `week+minute`)."""

    factors: Counts
    within: Counts


def look_forward(
    history: History, seen: Exposure, profile: int, pattern: Pattern, begin: int, curve: Curve
) -> None:
    """Fill the `curve` from `begin` on, a multiple of five local minutes.

    profile: `DAY`, rates by hour of the day; else by hour of the week. The factor of the silence
    since the last update scales them only while that silence lasts: `quiet` is P(no update yet).
    """
    tables, zone, last = history.tables, history.zone, history.past.last
    number, waiting, factors, within = curve.number, curve.waiting, pattern.factors, pattern.within
    number[0] = waiting[0] = 0.0
    quiet, step, at, steps = 1.0, 0, begin, len(number) - 1
    mean, clock = weekday_mean(tables, seen.fading), period(zone, begin)
    while step < steps:
        clock = period_from(zone, clock, at)
        local = at + zone.offsets[clock]
        slot, part = week_hour(local), local // STEP_SECONDS % 288
        if profile == DAY:
            rate = hour_rate(tables, slot % 24, seen) / 12.0
        else:
            rate = week_rate(tables, slot, mean, seen) / 12.0
        hour = end_of_hour(zone, clock, at)
        while at < hour and step < steps:
            place = age_class(at - last)
            end = min(hour, last + AGES[place + 1]) if place < len(factors) - 1 else hour
            more = min(-((at - end) // STEP_SECONDS), steps - step)
            for later in range(more):
                updates = rate * within[part + later] if profile == WEEK_MINUTE else rate
                number[step + 1 + later] = updates
                waiting[step + 1 + later] = exp(-updates * factors[place])
            quiet = integrate_expectation(curve, step, step + more, factors[place], quiet)
            step += more
            part += more
            at += more * STEP_SECONDS


def integrate_expectation(curve: Curve, begin: int, end: int, factor: float, quiet: float) -> float:
    """Integrate the expected rate forward in five-minute steps, in place.

    In, for each step i after `begin` up to `end`: number[i], usual updates in step i; waiting[i],
    P(no update in step i). Out: number[i], expected updates by the end of step i; waiting[i], their
    accumulated waiting in minutes. `quiet` is P(no update by `begin`); returns P(no update by
    `end`). The silence `factor` scales the rate only until the first update arrives: a silence that
    is broken predicts nothing more. So each step mixes two rates, scaled while still silent, usual
    afterwards; `once` is P(the silence ends in the step) divided by the updates that the scaled
    rate would bring.
    """
    number, waiting = curve.number, curve.waiting
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


def number_by(curve: Curve, minute: float) -> float:
    """N: updates expected from the beginning of the curve to `minute`, interpolated linearly."""
    number = curve.number
    step = int(minute / STEP_MINUTES)
    if step >= len(number) - 1:
        return number[len(number) - 1]
    return number[step] + (number[step + 1] - number[step]) * (minute / STEP_MINUTES - step)


def waiting_by(curve: Curve, minute: float) -> float:
    """W: integral of `number_by` up to `minute`, in minutes of waiting."""
    number, waiting = curve.number, curve.waiting
    step = int(minute / STEP_MINUTES)
    if step >= len(number) - 1:
        last = len(number) - 1
        return waiting[last] + number[last] * (minute - last * STEP_MINUTES)
    past = minute - step * STEP_MINUTES
    slope = (number[step + 1] - number[step]) / STEP_MINUTES
    return waiting[step] + number[step] * past + slope * past * past / 2.0


def hides(curve: Curve, minute: float, ttl: float) -> float:
    """Minutes of waiting that a copy fetched at `minute` and kept for `ttl` minutes hides."""
    later = waiting_by(curve, minute + ttl)
    return later - waiting_by(curve, minute) - ttl * number_by(curve, minute)


def usual_cost(curve: Curve, shortest: float, longest: float, worth: float) -> float:
    """Cost a minute of the best fixed interval (minutes) at the curve's mean rate: what planners
    assume beyond their horizon."""
    steps = len(curve.number) - 1
    rate = max(curve.number[steps] / (STEP_MINUTES * steps), 1e-9)
    ideal = min(max(sqrt(2.0 * worth / rate), shortest), longest)
    return worth / ideal + rate * ideal / 2.0
