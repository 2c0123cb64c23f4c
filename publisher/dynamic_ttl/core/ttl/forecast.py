"""The forecast: expected updates in every five minutes ahead, from the counts."""

from math import exp, sqrt
from typing import NamedTuple

from ..civil import HOUR_SECONDS, NEVER, period, period_end, week_hour
from .counts import (
    AGES,
    SLOTS,
    STEP_MINUTES,
    STEP_SECONDS,
    Counts,
    History,
    age_class,
    hour_rate,
    silence_factor,
    spread_within,
    weekday_factor,
)
from .mixture import rates, seen_at, weights_at
from .rule import DAY, WEEK_MINUTE, RuleNumbers


class Curve(NamedTuple):
    """Running sums at every five minutes from the curve's beginning on: `number[i]`, updates
    expected in the first i steps; `waiting[i]`, minutes that they have waited by then, in sum."""

    number: Counts
    waiting: Counts


def look_forward(
    history: History, now: int, rule: RuleNumbers, within: Counts, begin: int, curve: Curve
) -> None:
    """Fill the `curve` from `begin` on, a multiple of five local minutes, with the forecast at
    `now`: the forecasters of `mixture` by their weights. `within`: a buffer for `spread_within`.

    The factor of the silence since the last update scales the rates of the habits only while that
    silence lasts: `quiet` is P(no update yet). What breaks it counts as a mean cluster.
    """
    tables, zone, last = history.tables, history.zone, history.past.last
    seen = seen_at(history, now, rule.half_life)
    weights, fading = weights_at(history, now, seen), seen.habits.fading
    if rule.profile == WEEK_MINUTE:
        spread_within(tables, seen.total, fading, within)
    else:
        for part in range(len(within)):
            within[part] = 1.0
    curve.number[0] = curve.waiting[0] = 0.0
    quiet, step, at, steps, weekday, day = 1.0, 0, begin, len(curve.number) - 1, -1, 1.0
    change, offset, limit, factor, cluster = at, 0, begin, 1.0, seen.habits.cluster
    while step < steps:
        if at >= change:
            clock = period(zone, at)
            change, offset = period_end(zone, clock), zone.offsets[clock]
        local = at + offset
        slot, part = week_hour(local), local // STEP_SECONDS % (24 * SLOTS)
        if slot // 24 != weekday:
            weekday = slot // 24
            day = weekday_factor(tables, weekday, seen.total, seen.habits)
        each = rates(history, slot, day, seen)
        rate = each.habits if rule.profile != DAY else hour_rate(tables, slot % 24, seen.habits)
        others = weights.recent * each.recent + weights.flat * each.flat
        others += weights.daily * each.daily
        usual, mixed = (rate / SLOTS, within, part - step - 1), (weights.habits, others / SLOTS)
        hour = min(at + HOUR_SECONDS - local % HOUR_SECONDS, change)
        while at < hour and step < steps:
            if at >= limit:
                place = age_class(at - last)
                limit = last + AGES[place + 1] if place < len(AGES) - 2 else NEVER
                factor = silence_factor(tables, fading, place)
            more = min(-((at - min(hour, limit)) // STEP_SECONDS), steps - step)
            quiet = integrate(curve, step, step + more, usual, (factor, cluster), quiet, mixed)
            step += more
            at += more * STEP_SECONDS


def integrate(
    curve: Curve,
    begin: int,
    end: int,
    usual: tuple[float, Counts, int],
    silence: tuple[float, float],
    quiet: float,
    mixed: tuple[float, float],
) -> float:
    """Fill the `curve` after step `begin` up to step `end`, five minutes each.

    usual: the updates of a mean step by the habits, their pattern within the hours, and the place
    in it of step 0, where step 1 is the first of the curve. silence: the factor of the present
    silence and the mean number of updates that break one. mixed: the weight of these habits, and
    what the other forecasters add to each step. `quiet` is P(no update by `begin`); returns P(no
    update by `end`). The factor scales the rate only until the first update arrives: a silence that
    is broken predicts nothing more. `broken`, P(the silence ends in the step), is the factor times
    the share of the step's usual updates that it replaces.
    """
    (number, waiting), (mean, within, place), (factor, size) = curve, usual, silence
    (share, others), expected, waited = mixed, number[begin], waiting[begin]
    surplus = share * (size - 1.0 / factor)
    for step in range(begin + 1, end + 1):
        own = mean * within[place + step]
        silent = exp(-own * factor)
        broken = quiet * (1.0 - silent)
        updates = share * own + surplus * broken + others
        quiet *= silent
        waiting[step] = waited = waited + (expected + updates / 2.0) * STEP_MINUTES
        number[step] = expected = expected + updates
    return quiet


def sums_by(curve: Curve, minute: float) -> tuple[float, float]:
    """N, the updates expected from the beginning of the curve to `minute`, interpolated linearly;
    and W, its integral, in minutes of waiting."""
    number, waiting = curve
    step, last = int(minute / STEP_MINUTES), len(number) - 1
    if step >= last:
        return number[last], waiting[last] + number[last] * (minute - last * STEP_MINUTES)
    known, past = number[step], minute - step * STEP_MINUTES
    more = number[step + 1] - known
    waited = waiting[step] + known * past + more / STEP_MINUTES * past * past / 2.0
    return known + more * (minute / STEP_MINUTES - step), waited


def hides(curve: Curve, minute: float, ttl: float) -> float:
    """Expected minutes of waiting while a copy fetched at `minute` is fresh, for `ttl` minutes."""
    number, waiting = sums_by(curve, minute)
    return sums_by(curve, minute + ttl)[1] - waiting - ttl * number


def usual_cost(curve: Curve, shortest: float, longest: float, worth: float) -> float:
    """Cost a minute of the best fixed interval (minutes) at the curve's mean rate: what planners
    assume beyond their horizon."""
    steps = len(curve.number) - 1
    rate = max(curve.number[steps] / (STEP_MINUTES * steps), 1e-9)
    ideal = min(max(sqrt(2.0 * worth / rate), shortest), longest)
    return worth / ideal + rate * ideal / 2.0
