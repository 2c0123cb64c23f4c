"""What one poll is worth at a blog, in minutes of waiting: `poll_minutes`, moved away from a tie.

With a coarse menu a blog whose rate lies between two values would alternate between them, and half
the time at 60 minutes and half at 480 costs 2.5 times as many polls times waiting as either alone.
Polls times waiting is least where the worth of a poll equals the waiting per poll that it leads to:
a fixed point. There is one near each value of the menu. So the worth lies three quarters of the way
(by ratio) from `poll_minutes` to such a fixed point. That one number is remembered, and at each
update it is found anew, by iteration from the present worth: a blog stays at its value until its
rate has changed several times over. (It is remembered for Winer's three values alone; with others
the worth is half of the way to the fixed point that is found from `poll_minutes`.)

The simulator compiles these functions of plain numbers.
"""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

from publisher.core.menu import MILESTONES
from publisher.core.ttl.counts import PRIOR_UPDATES, Exposure, History, Tables, exposure
from publisher.core.ttl.rule import POLL_MINUTES, WARM_UP_MINUTES, RuleNumbers

SETTLING = 8  # iterations of `settle`; more change nothing
PULL = 0.75  # how far the worth of a poll lies, by ratio, from `poll_minutes` to the fixed point
CHANCE = 2.0  # variance over mean up to which hourly counts count as equal hours


class Shape(NamedTuple):
    """The hourly counts, their exposure and their mean; and the share (0 to 1) of the hours'
    deviations from the mean that counts as real."""

    tables: Tables
    seen: Exposure
    mean: float
    shown: float


def poll_worth(history: History, rule: RuleNumbers, seen: Exposure) -> float:
    """The worth of one poll in minutes at the exposure `seen`."""
    if history.settled[0] > 0.0 and winers_values(rule.menu):
        return between(history.settled[0]) * rule.poll_minutes / POLL_MINUTES
    settled = settle(shape_of(history.tables, seen), rule.menu, rule.poll_minutes)
    return float(sqrt(rule.poll_minutes * settled))


def winers_values(menu: Sequence[int]) -> bool:
    """Whether the menu is 15/60/480, for which the fixed point is remembered."""
    same = len(menu) == len(WARM_UP_MINUTES)
    for place in range(len(WARM_UP_MINUTES)):
        same = same and menu[place] == WARM_UP_MINUTES[place]
    return same


def remember(history: History, now: int, half_life: int) -> None:
    """Remember the fixed point that is reached at `now` from the worth of a poll so far."""
    settled = history.settled[0] if history.settled[0] > 0.0 else POLL_MINUTES
    shape = shape_of(history.tables, exposure(history, now, half_life))
    history.settled[0] = settle(shape, WARM_UP_MINUTES, between(settled))


def between(settled: float) -> float:
    """The worth of a poll where the fixed point is `settled` and `poll_minutes` the default."""
    return float(POLL_MINUTES ** (1.0 - PULL) * settled**PULL)


def shape_of(tables: Tables, seen: Exposure) -> Shape:
    """The hourly counts, and how much of their differences counts as the day's shape.

    Counts of 24 equal hours differ too, and chance must not decide: five updates, three of them in
    one hour, once held a blog at one value for four months. So nothing counts while variance / mean
    is up to `CHANCE`, and everything from twice that on."""
    mean = apart = 0.0
    for hour in range(24):
        mean += tables.hours[hour] * seen.fading / 24.0
    for hour in range(24):
        apart += (tables.hours[hour] * seen.fading - mean) ** 2 / 24.0
    index = apart / mean if mean > 0.0 else 0.0
    return Shape(tables, seen, mean, min(max(index / CHANCE - 1.0, 0.0), 1.0))


def settle(shape: Shape, menu: Sequence[int], worth: float) -> float:
    """The fixed point that iteration from `worth` reaches, in minutes."""
    for _ in range(SETTLING):
        polls = waiting = 0.0
        for hour in range(24):
            count = shape.tables.hours[hour] * shape.seen.fading
            drawn = shape.mean + shape.shown * (count - shape.mean)
            rate = (24.0 * drawn + PRIOR_UPDATES) / shape.seen.days / 1440.0
            ttl = best_fixed(menu, rate, worth)
            polls += 60.0 / ttl
            waiting += 60.0 * rate * ttl / 2.0
        before, worth = worth, waiting / polls
        if abs(worth - before) < 0.01 * before:
            break
    return worth


def best_fixed(menu: Sequence[int], rate: float, worth: float) -> float:
    """The first menu value with the least cost at a constant `rate` (updates a minute), minutes; in
    a menu of many values, the best interval within its limits."""
    if len(menu) > MILESTONES:
        ideal = sqrt(2.0 * worth / rate)
        return float(min(max(round(ideal), menu[0]), menu[len(menu) - 1]))
    best, least = 0.0, 1e300
    for ttl in menu:
        cost = worth / ttl + rate * ttl / 2.0
        if cost < least:
            best, least = float(ttl), cost
    return best
