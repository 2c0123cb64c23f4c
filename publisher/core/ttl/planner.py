"""Two ways to choose a ttl from the expected updates: `look-ahead` and `planned`.

A copy fetched at s and kept for a minutes costs one poll, worth `worth` minutes, and the waiting
of the updates it hides. The document is the same for all copies fetched until the next hour, so
all costs are means over the minutes at which it may be fetched.

Plain functions over indexable sequences of numbers: the simulator compiles these very functions.
"""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

from publisher.core.ttl.counts import PRIOR_UPDATES, Counts, Exposure, History, Tables
from publisher.core.ttl.forecast import Curve, hides, number_by, waiting_by
from publisher.core.ttl.mixture import BAND, LEVEL
from publisher.core.ttl.rule import RuleNumbers

SAMPLES = 6  # moments of fetching that stand for all, in the look-ahead
CELL_MINUTES = 15.0  # the planned table knows the worth of being polled in each quarter of an hour
SETTLING = 8  # steps; more change nothing
PULL = 0.8  # how far, by ratio, from the author's word to where this menu works best
CHANCE = 2.0  # times the mean: so far do the counts of 24 equal hours lie apart by chance
FLOOR = 1.0  # share of a poll's worth: what hides less is never refused for a smaller ttl
CELLS = 4  # in an hour


class ServedSpan(NamedTuple):
    """What a planner is asked: the expected updates, the span of minutes after the beginning of
    the curve in which the document is fetched, and what one poll is worth in minutes."""

    curve: Curve
    first: float
    last: float
    worth: float


class Shape(NamedTuple):
    """The hours' counts, how they are read now and their mean; how much of what they lie apart from
    it counts: all of it once it is `shown`, and `beyond` what is chance."""

    tables: Tables
    seen: Exposure
    mean: float
    shown: float
    beyond: float


class Cells(NamedTuple):
    """The planned table, by quarters of an hour after the document's last minute: updates expected
    by the middle of each, their waiting by then, and the worth of being polled then."""

    number: Counts
    waiting: Counts
    value: Counts


def poll_worth(history: History, rule: RuleNumbers, seen: Exposure) -> float:
    """What one poll is worth at this blog with this menu, in minutes.

    A menu with wide gaps alternates between two values where the blog's rate lies between them,
    which costs more polls and more waiting together than staying with either. The best product of
    polls and waiting lies where one poll is worth the waiting per poll; so the author's
    `poll_minutes` are moved most of the way (by ratio) to the nearest such place. With a menu
    without gaps every place is such a place.

    Where a three times smaller and a three times larger start lead to different places, the blog
    lies between two values. Then the search begins at the author's level, which follows the rate
    at a distance (`mixture.BAND`), so that the blog stays with one of them. The more even the
    day's hours, the more the smaller one is preferred: with either, polls times waiting are the
    same there, and who says the larger one pays for it when the author comes to post more. Where
    all comes in one hour the larger one foretells it.
    """
    menu, worth, shape = rule.menu, rule.poll_minutes, shape_of(history.tables, seen)
    if history.beliefs[LEVEL] > 0.0 and len(rule.milestones) == len(menu):
        fresher = worth / BAND ** evenness(shape)
        low = settle(shape, menu, fresher / BAND)
        high = settle(shape, menu, fresher * BAND)
        if low < 0.98 * high:
            worth = remembered(shape, history.beliefs[LEVEL], menu, fresher)
    return float(rule.poll_minutes ** (1.0 - PULL) * settle(shape, menu, worth) ** PULL)


def shape_of(tables: Tables, seen: Exposure) -> Shape:
    """How much of the day's shape counts. The counts of 24 equal hours lie apart too, and chance
    must not decide: five updates, three of them in one hour, had held a blog for four months. So
    nothing counts up to `CHANCE`, and all from twice that on; at a tie, where the level is
    remembered, only what is beyond chance."""
    mean = apart = 0.0
    for hour in range(24):
        mean += tables.hours[hour] * seen.fading / 24.0
    for hour in range(24):
        apart += (tables.hours[hour] * seen.fading - mean) ** 2 / 24.0
    index = apart / mean if mean > 0.0 else 0.0
    shown = min(max(index / CHANCE - 1.0, 0.0), 1.0)
    beyond = 1.0 - CHANCE / index if index > CHANCE else 0.0
    return Shape(tables, seen, mean, shown, beyond)


def drawn_rate(shape: Shape, hour: int, share: float) -> float:
    """Updates a day that there would be if all hours were like this one, of which so much counts
    as it lies apart from the mean: of none, the mean of all hours."""
    count = shape.tables.hours[hour] * shape.seen.fading
    drawn = shape.mean + share * (count - shape.mean)
    return (24.0 * drawn + PRIOR_UPDATES) / shape.seen.days


def evenness(shape: Shape) -> float:
    """1 where all hours are alike, 1/24 where all updates come in one of them: the mean of the
    hours' shares, squared, by the mean of their squares."""
    mean, squares = drawn_rate(shape, 0, 0.0), 0.0
    for hour in range(24):
        squares += drawn_rate(shape, hour, shape.beyond) ** 2 / 24.0
    return mean * mean / squares


def remembered(shape: Shape, level: float, menu: Sequence[int], worth: float) -> float:
    """The waiting per poll over the day's shape at the `level` that is kept."""
    present = drawn_rate(shape, 0, 0.0)
    polls = waiting = 0.0
    for hour in range(24):
        rate = drawn_rate(shape, hour, shape.beyond) * level / present / 1440.0
        ttl = best_fixed(menu, rate, worth)
        polls += 60.0 / ttl
        waiting += 60.0 * rate * ttl / 2.0
    return waiting / polls * present / level


def settle(shape: Shape, menu: Sequence[int], worth: float) -> float:
    """Where one poll is worth the waiting per poll, in minutes, looked for from `worth` on."""
    for _ in range(SETTLING):
        polls = waiting = 0.0
        for hour in range(24):
            rate = drawn_rate(shape, hour, shape.shown) / 1440.0
            ttl = best_fixed(menu, rate, worth)
            polls += 60.0 / ttl
            waiting += 60.0 * rate * ttl / 2.0
        before, worth = worth, waiting / polls
        if abs(worth - before) < 0.01 * before:
            break
    return worth


def best_fixed(menu: Sequence[int], rate: float, worth: float) -> float:
    """The value of the menu that costs least at a constant rate: cost has a single lowest point."""
    low, high = 0, len(menu) - 1
    if high > 8:
        # Where it stands if the menu has every minute; then the two beside it end the search.
        near = min(max(int(sqrt(2.0 * worth / rate)) - menu[0], 0), high)
        if near + 1 < high and rises(menu, near + 1, rate, worth):
            high = near + 1
        if near > 0 and not rises(menu, near - 1, rate, worth):
            low = near
    while low < high:
        middle = (low + high) // 2
        if rises(menu, middle, rate, worth):
            high = middle
        else:
            low = middle + 1
    return float(menu[low])


def rises(menu: Sequence[int], place: int, rate: float, worth: float) -> bool:
    """Whether the next larger value costs as much at a constant rate, or more."""
    one, other = float(menu[place]), float(menu[place + 1])
    return worth / one + rate * one / 2.0 <= worth / other + rate * other / 2.0


def hidden(problem: ServedSpan, ttl: float) -> float:
    """Minutes of waiting that a copy kept for `ttl` minutes hides, in the mean over its being
    fetched at any minute of the span."""
    total = 0.0
    for part in range(SAMPLES):
        at = problem.first + (problem.last - problem.first) * (part + 0.5) / SAMPLES
        total += hides(problem.curve, at, ttl)
    return total / SAMPLES


def look_ahead(problem: ServedSpan, menu: Sequence[int], worth: float) -> int:
    """The largest ttl of the menu whose hidden waiting is not above `worth`.

    Hidden waiting grows with the ttl, so it is found by halving.
    """
    low, high = 0, len(menu)
    while high - low > 1:
        middle = (low + high) // 2
        if hidden(problem, float(menu[middle])) <= worth:
            low = middle
        else:
            high = middle
    return menu[low]


def planned(problem: ServedSpan, rule: RuleNumbers, cells: Cells) -> int:
    """The ttl with which a client that obeys it, now and in the hours to come, does best.

    Worked out backwards from the rule's horizon on: the value of a cell is the cost still to come
    for a client that polls then and obeys the best table from there. The rule's milestones are the
    values tried for the hours to come; now the menu is searched around them.
    """
    curve, worth = problem.curve, problem.worth
    credit = usual_cost(curve, rule.menu, worth)
    for cell in range(len(cells.value)):
        cells.value[cell] = credit * (len(cells.value) - cell) * CELL_MINUTES
        middle = problem.last + (cell + 0.5) * CELL_MINUTES
        cells.number[cell] = number_by(curve, middle)
        cells.waiting[cell] = waiting_by(curve, middle)
    for hour in range(rule.horizon - 1, -1, -1):
        best, least = rule.milestones[0], 1e300
        for ttl in rule.milestones:
            cost = follow(problem, cells, hour, ttl, least)
            if cost < least:
                best, least = ttl, cost
        follow(problem, cells, hour, best, 1e300)
    best = search(problem, rule, cells.value)
    return max(best, look_ahead(problem, rule.menu, FLOOR * worth))


def usual_cost(curve: Curve, menu: Sequence[int], worth: float) -> float:
    """Cost a minute of the best fixed ttl at the mean rate ahead: what the plan ends with."""
    number = curve.number
    rate = max(number[len(number) - 1] / (5.0 * (len(number) - 1)), 1e-9)
    ideal = min(max(sqrt(2.0 * worth / rate), float(menu[0])), float(menu[len(menu) - 1]))
    return worth / ideal + rate * ideal / 2.0


def follow(problem: ServedSpan, cells: Cells, hour: int, ttl: int, least: float) -> float:
    """Fill the values of one hour whose document says `ttl`, and return their sum; given up as
    soon as it is above `least`."""
    total = 0.0
    whole = ttl % int(CELL_MINUTES) == 0  # then a copy ends in the middle of a cell
    for cell in range(hour * CELLS + CELLS - 1, hour * CELLS - 1, -1):
        if whole:
            end = cell + ttl // int(CELL_MINUTES)
            waited, then = cells.waiting[end], cells.value[end]
        else:
            until = (cell + 0.5) * CELL_MINUTES + ttl
            waited = waiting_by(problem.curve, problem.last + until)
            then = value_at(cells.value, until)
        cost = problem.worth + (waited - cells.waiting[cell] - ttl * cells.number[cell]) + then
        cells.value[cell] = cost
        total += cost
        if total > least:
            break
    return total


def value_at(value: Sequence[float], minute: float) -> float:
    """The value at a minute after the beginning of the table, between the middles of its cells."""
    place = minute / CELL_MINUTES - 0.5
    if place <= 0.0:
        return value[0]
    cell = int(place)
    if cell >= len(value) - 1:
        return value[len(value) - 1]
    return value[cell] + (value[cell + 1] - value[cell]) * (place - cell)


def search(problem: ServedSpan, rule: RuleNumbers, value: Sequence[float]) -> int:
    """The best ttl for the document served in the span: the best milestone, then ever closer
    around it."""
    menu, milestones = rule.menu, rule.milestones
    best, least = milestones[0], 1e300
    for ttl in milestones:
        cost = serve(problem, float(ttl), value)
        if cost < least:
            best, least = ttl, cost
    step = best // 8
    while step > 0 and len(milestones) < len(menu):
        for turn in range(-3, 4):
            ttl = min(max(best + turn * step, menu[0]), menu[len(menu) - 1])
            cost = serve(problem, float(ttl), value)
            if cost < least:
                best, least = ttl, cost
        step //= 4
    return best


def serve(problem: ServedSpan, ttl: float, value: Sequence[float]) -> float:
    """Mean cost to come of a copy fetched in the span; one that expires before its end is fetched
    again, with the same ttl."""
    curve, first, last, worth = problem
    total = 0.0
    for part in range(CELLS):
        at = first + (last - first) * (part + 0.5) / CELLS
        until = at + ttl
        total += worth + hides(curve, at, ttl)
        while until < last:
            total += worth + hides(curve, until, ttl)
            until += ttl
        total += value_at(value, until - last)
    return total / CELLS
