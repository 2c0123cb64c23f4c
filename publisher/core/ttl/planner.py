"""Two ways to choose a ttl from the expected updates: `look-ahead` and `planned`.

A copy fetched at s and kept for a minutes costs one poll, counted as `worth` minutes, plus the
waiting of the updates that it hides. The document is the same for all copies fetched until the next
hour, so all costs are means over the minutes at which it may be fetched.

Plain functions over indexable sequences of numbers: the simulator compiles the same functions.
"""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

from publisher.core.ttl.counts import PRIOR_UPDATES, Counts, Exposure, History, Tables
from publisher.core.ttl.forecast import Curve, hides, number_by, waiting_by
from publisher.core.ttl.rule import RuleNumbers

SAMPLES = 6  # fetch times over which `look_ahead` averages
CELL_MINUTES = 15.0  # length of a cell in the planner's table
SETTLING = 8  # iterations of `settle`; more change nothing
PULL = 0.5  # how far `poll_worth` moves, by ratio, from `poll_minutes` to the menu's best place
CHANCE = 2.0  # variance over mean up to which hourly counts count as equal hours
CELLS = 4  # in an hour


class ServedSpan(NamedTuple):
    """The input of a planner: the expected updates; the span in which the document is fetched,
    in minutes after the beginning of the curve; the worth of one poll in minutes."""

    curve: Curve
    first: float
    last: float
    worth: float


class Shape(NamedTuple):
    """The hourly counts, their exposure and their mean; and the share (0 to 1) of the hours'
    deviations from the mean that counts as real."""

    tables: Tables
    seen: Exposure
    mean: float
    shown: float


class Cells(NamedTuple):
    """The planner's table, by quarters of an hour after the document's last minute. At the middle
    of each: updates expected by then, their waiting (minutes), and the cost still to come for a
    client that polls then (minutes)."""

    number: Counts
    waiting: Counts
    value: Counts


def poll_worth(history: History, rule: RuleNumbers, seen: Exposure) -> float:
    """The worth of one poll, in minutes of waiting, at this blog with this menu.

    With a coarse menu a blog whose rate lies between two values would alternate between them, which
    costs more polls and more waiting than staying with either. Polls times waiting is least at a
    fixed point, where the worth of a poll equals the waiting per poll. So the author's
    `poll_minutes` are moved half of the way (by ratio) to the nearest fixed point. In a menu
    without gaps every worth is a fixed point.
    """
    worth = settle(shape_of(history.tables, seen), rule.menu, rule.poll_minutes)
    return float(rule.poll_minutes ** (1.0 - PULL) * worth**PULL)


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
    shown = min(max(index / CHANCE - 1.0, 0.0), 1.0)
    return Shape(tables, seen, mean, shown)


def drawn_rate(shape: Shape, hour: int) -> float:
    """Rate of an hour in updates a day, with the share of its deviation that counts."""
    count = shape.tables.hours[hour] * shape.seen.fading
    drawn = shape.mean + shape.shown * (count - shape.mean)
    return (24.0 * drawn + PRIOR_UPDATES) / shape.seen.days


def settle(shape: Shape, menu: Sequence[int], worth: float) -> float:
    """The fixed point that iteration from `worth` reaches: where the worth of a poll equals the
    waiting per poll, in minutes."""
    for _ in range(SETTLING):
        polls = waiting = 0.0
        for hour in range(24):
            rate = drawn_rate(shape, hour) / 1440.0
            ttl = best_fixed(menu, rate, worth)
            polls += 60.0 / ttl
            waiting += 60.0 * rate * ttl / 2.0
        before, worth = worth, waiting / polls
        if abs(worth - before) < 0.01 * before:
            break
    return worth


def best_fixed(menu: Sequence[int], rate: float, worth: float) -> float:
    """The menu value with the least cost at a constant `rate` (updates a minute), in minutes.

    Binary search, as the cost has a single minimum: rate * ttl / 2 + worth / ttl a minute."""
    low, high = 0, len(menu) - 1
    if high > 8:
        # The place if the menu has every minute; then checking its two neighbours ends the search.
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
    """Whether the next larger value of the menu costs at least as much at a constant rate."""
    one, other = float(menu[place]), float(menu[place + 1])
    return worth / one + rate * one / 2.0 <= worth / other + rate * other / 2.0


def hidden(problem: ServedSpan, ttl: float) -> float:
    """Mean minutes of waiting that a copy kept for `ttl` minutes hides, over fetch times in the
    span."""
    total = 0.0
    for part in range(SAMPLES):
        at = problem.first + (problem.last - problem.first) * (part + 0.5) / SAMPLES
        total += hides(problem.curve, at, ttl)
    return total / SAMPLES


def look_ahead(problem: ServedSpan, menu: Sequence[int], worth: float) -> int:
    """The largest ttl of the menu that hides at most `worth` minutes of waiting, else the smallest.

    Binary search, as hidden waiting grows with the ttl.
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
    """The ttl with the least cost for a client that obeys this document and the later ones.

    Dynamic programming backwards from the rule's horizon: the value of a cell is the cost still to
    come (minutes) for a client that polls then and is told the best ttls from there on. For later
    hours the rule's milestones are tried; for this document the menu is searched around them.
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
    # Never below what `look_ahead` takes: no short ttl in a quiet night, only so that the chain
    # of copies ends at a better minute.
    return max(best, look_ahead(problem, rule.menu, worth))


def usual_cost(curve: Curve, menu: Sequence[int], worth: float) -> float:
    """Cost a minute of the best fixed ttl at the mean rate ahead: assumed beyond the horizon."""
    number = curve.number
    rate = max(number[len(number) - 1] / (5.0 * (len(number) - 1)), 1e-9)
    ideal = min(max(sqrt(2.0 * worth / rate), float(menu[0])), float(menu[len(menu) - 1]))
    return worth / ideal + rate * ideal / 2.0


def follow(problem: ServedSpan, cells: Cells, hour: int, ttl: int, least: float) -> float:
    """Fill the values of one hour whose document says `ttl`, and return their sum; stops early as
    soon as the sum exceeds `least`."""
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
    """The value `minute` minutes after the beginning of the table, interpolated linearly between
    the middles of its cells."""
    place = minute / CELL_MINUTES - 0.5
    if place <= 0.0:
        return value[0]
    cell = int(place)
    if cell >= len(value) - 1:
        return value[len(value) - 1]
    return value[cell] + (value[cell + 1] - value[cell]) * (place - cell)


def search(problem: ServedSpan, rule: RuleNumbers, value: Sequence[float]) -> int:
    """The ttl with the least cost for the document served in the span: the best milestone, then
    in ever smaller steps around it."""
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
    """Mean cost to come, in minutes, of a copy fetched in the span. A copy that expires before the
    span ends is fetched again, with the same ttl."""
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
