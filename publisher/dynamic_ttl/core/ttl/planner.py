"""Two ways to choose a ttl from the expected updates: `look-ahead` and `planned` (sections 3 and 4
of the theory of operation)."""

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

from .counts import Counts
from .forecast import Curve, hides, sums_by, usual_cost
from .rule import HORIZON_HOURS, WARM_UP_MINUTES, RuleNumbers

CELLS = 60 // WARM_UP_MINUTES[0]  # of its table in an hour, and fetch times in a ttl's mean cost
CELL_MINUTES = 60.0 / CELLS


class ServedSpan(NamedTuple):
    """The input of a planner: the expected updates; the span in which the document is fetched,
    in minutes after the beginning of the curve; the worth of one poll in minutes."""

    curve: Curve
    first: float
    last: float
    worth: float


class Cells(NamedTuple):
    """The planner's table, by quarters of an hour after the document's last minute. At the middle
    of each: updates expected by then, their waiting (minutes), and the cost still to come for a
    client that polls then (minutes)."""

    number: Counts
    waiting: Counts
    value: Counts


def hidden(problem: ServedSpan, ttl: float) -> float:
    """Mean minutes of waiting that a copy kept for `ttl` minutes hides, over fetch times in the
    span."""
    total = 0.0
    for part in range(CELLS):
        at = problem.first + (problem.last - problem.first) * (part + 0.5) / CELLS
        total += hides(problem.curve, at, ttl)
    return total / CELLS


def look_ahead(problem: ServedSpan, menu: Sequence[int]) -> int:
    """The largest ttl of the menu that hides at most the waiting that a poll is worth, else the
    smallest.

    Binary search, as hidden waiting grows with the ttl.
    """
    low, high = 0, len(menu)
    while high - low > 1:
        middle = (low + high) // 2
        if hidden(problem, float(menu[middle])) <= problem.worth:
            low = middle
        else:
            high = middle
    return menu[low]


def planned(problem: ServedSpan, rule: RuleNumbers, cells: Cells) -> int:
    """The ttl with the least cost for a client that obeys this document and the later ones.

    Dynamic programming backwards from the horizon: the value of a cell is the cost still to
    come (minutes) for a client that polls then and is told the best ttls from there on. All values
    of the menu are tried, or of one with many its milestones.
    """
    floor = look_ahead(problem, rule.menu)
    if floor == rule.menu[len(rule.menu) - 1]:
        return floor
    curve, worth, milestones = problem.curve, problem.worth, rule.milestones
    credit = usual_cost(curve, float(rule.menu[0]), float(rule.menu[len(rule.menu) - 1]), worth)
    number, waiting, value = cells
    for cell in range(len(value)):
        value[cell] = credit * (len(value) - cell) * CELL_MINUTES
        middle = problem.last + (cell + 0.5) * CELL_MINUTES
        number[cell], waiting[cell] = sums_by(curve, middle)
    for hour in range(HORIZON_HOURS - 1, -1, -1):
        best, least = milestones[0], inf
        for ttl in milestones:
            cost = follow(problem, cells, hour, ttl, least)
            if cost < least:
                best, least = ttl, cost
        if best != milestones[len(milestones) - 1]:  # whose values were filled last
            follow(problem, cells, hour, best, inf)
    best, least = milestones[0], inf
    for ttl in milestones:
        cost = serve(problem, float(ttl), value)
        if cost < least:
            best, least = ttl, cost
    # Never below what `look_ahead` takes: no short ttl in a quiet night, only so that the chain
    # of copies ends at a better minute.
    return max(best, floor)


def follow(problem: ServedSpan, cells: Cells, hour: int, ttl: int, least: float) -> float:
    """Fill the values of one hour whose document says `ttl`, and return their sum; stops early as
    soon as the sum exceeds `least`."""
    (number, waiting, value), worth, total = cells, problem.worth, 0.0
    ahead, more = divmod(ttl, int(CELL_MINUTES))
    for cell in range(hour * CELLS + CELLS - 1, hour * CELLS - 1, -1):
        if more == 0:  # a copy ends in the middle of a cell
            waited, then = waiting[cell + ahead], value[cell + ahead]
        else:
            until = (cell + 0.5) * CELL_MINUTES + ttl
            waited = sums_by(problem.curve, problem.last + until)[1]
            then = value_at(value, until)
        cost = worth + (waited - waiting[cell] - ttl * number[cell]) + then
        value[cell] = cost
        total += cost
        if total > least:
            break
    return total


def value_at(value: Sequence[float], minute: float) -> float:
    """The value `minute` minutes after the beginning of the table, interpolated linearly between
    the middles of its cells; before the first of these, that of the first."""
    place = max(minute / CELL_MINUTES - 0.5, 0.0)
    cell = int(place)
    return value[cell] + (value[cell + 1] - value[cell]) * (place - cell)


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
