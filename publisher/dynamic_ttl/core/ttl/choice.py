"""The ttl and the headers of one document, from the counts: the entry points that the live site and
the simulator share."""

from collections.abc import Sequence
from typing import NamedTuple

from ..civil import Zone, hour_end, period
from .counts import SIZES, STEP_SECONDS, Counts, History, Past, knows_enough
from .forecast import Curve, look_forward
from .headers import STEPS, HeaderPlan, header_plan, plan_expiries, unplanned
from .planner import CELLS, Cells, ServedSpan, look_ahead, planned
from .rule import HORIZON_HOURS, LOOK_AHEAD, WARM_UP_SECONDS, WINERS, RuleNumbers
from .winer import winers_minutes


class Workspace(NamedTuple):
    """Buffers that `choose` fills: 288 factors around 1 for the five minutes of the local day, the
    expected updates ahead, the table of the planner, the plan of the headers."""

    within: Counts
    curve: Curve
    cells: Cells
    header: HeaderPlan


def workspace(rule: RuleNumbers) -> Workspace:
    """Zeroed lists long enough for `choose`; the curve reaches the horizon beyond the longest
    ttl."""
    steps = max(((HORIZON_HOURS + 2) * 60 + rule.menu[-1]) * 60 // STEP_SECONDS, STEPS) + 1
    within, curve = [0.0] * SIZES["minutes"], Curve([0.0] * steps, [0.0] * steps)
    return Workspace(within, curve, planned_table(rule), header_plan())


def planned_table(rule: RuleNumbers) -> Cells:
    """A zeroed table for `planned`, in quarters of an hour."""
    quarters = (HORIZON_HOURS + rule.menu[-1] // 60 + 2) * CELLS
    return Cells([0.0] * quarters, [0.0] * quarters, [0.0] * quarters)


def warm_up_minutes(values: Sequence[int], past: Past, now: int) -> int:
    """Winer's rule, in minutes: by the time since the last update, one of three `values` of the
    menu, the nearest to his; the largest before there is any update."""
    for step in range(2):
        if past.number > 0 and now - past.last < WARM_UP_SECONDS[step]:
            return values[step]
    return values[2]


def begin_of(zone: Zone, now: int) -> int:
    """Beginning of the curve of a forecast: `now`, rounded down to five minutes of local time."""
    return now - (now + zone.offsets[period(zone, now)]) % STEP_SECONDS


def forecast(history: History, now: int, rule: RuleNumbers, work: Workspace) -> None:
    """Fill the curve of `work` from `begin_of(now)` on."""
    look_forward(history, now, rule, work.within, begin_of(history.zone, now), work.curve)


def choose(history: History, now: int, rule: RuleNumbers, work: Workspace) -> int:
    """The ttl in minutes of the document built at `now`, from updates up to then. Fills
    `work.header` with the expiries that the headers announce, if they have a forecast of their
    own."""
    by_forecast = rule.planner != WINERS and knows_enough(history.past, now)
    if rule.exact or by_forecast:
        forecast(history, now, rule, work)
    if rule.exact:
        plan(history, now, rule, work)
    return chosen(history, now, rule, work)


def plan(history: History, now: int, rule: RuleNumbers, work: Workspace) -> None:
    """Fill `work.header` with the expiries that the headers announce; needs a `forecast` first."""
    if history.past.number == 0:
        unplanned(history, now, work.header)
    else:
        begin = begin_of(history.zone, now)
        plan_expiries(history, now, begin, work.curve, rule.poll_minutes, work.header)


def chosen(history: History, now: int, rule: RuleNumbers, work: Workspace) -> int:
    """The ttl in minutes; needs a `forecast` first."""
    if not knows_enough(history.past, now):
        return warm_up_minutes(rule.warm_up, history.past, now)
    if rule.planner == WINERS:
        return winers_minutes(history, now, rule.warm_up)
    begin = begin_of(history.zone, now)
    first = (now - begin) / 60.0
    last = (hour_end(history.zone, now) - begin) / 60.0
    problem = ServedSpan(work.curve, first, last, rule.poll_minutes)
    if rule.planner == LOOK_AHEAD:
        return look_ahead(problem, rule.menu)
    return planned(problem, rule, work.cells)
