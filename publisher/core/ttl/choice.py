"""The ttl of one document, from the counts: the function that the live site and the simulator
both call, in plain scalars."""

from collections.abc import Sequence
from typing import NamedTuple

from publisher.core.civil import DAY_SECONDS, HOUR_SECONDS, hour_end, period
from publisher.core.menu import Menu
from publisher.core.ttl.forecast import (
    PROFILES,
    STEP_SECONDS,
    WEEK_MINUTE,
    look_forward,
    spread_within,
)
from publisher.core.ttl.planner import (
    CELLS,
    LOOK_AHEAD,
    PLANNED,
    Cells,
    look_ahead,
    planned,
    planner_for,
    poll_worth,
)
from publisher.core.ttl.tables import (
    SIZES,
    Counts,
    Tables,
    decay,
    knows_enough,
    silence_factors,
    watched_days,
)

# Winer's rule, "Algorithm for ttl element" (2002): under an hour since the last update 15, under
# three 60, otherwise 480.
WARM_UP_SECONDS, WARM_UP_MINUTES = (HOUR_SECONDS, 3 * HOUR_SECONDS), (15, 60, 480)
HORIZON_HOURS = 30  # of the plan, before the longest ttl: a day and the morning after


class Settings(NamedTuple):
    """A `TtlRule` in numbers."""

    menu: Sequence[int]
    milestones: Sequence[int]
    warm_up: Sequence[int]
    planner: int
    profile: int
    poll_minutes: float
    horizon: int
    half_life: int


class Ahead(NamedTuple):
    """What `choose` works on and leaves behind: factors of the silence, pattern within the hours,
    running sums of the expected updates and of their waiting, the planned table."""

    factors: Counts
    within: Counts
    number: Counts
    waiting: Counts
    cells: Cells


class Past(NamedTuple):
    """The updates up to now in short: when the counts are valued, first, last, how many."""

    as_of: int
    first: int
    last: int
    number: int


def settings(
    menu: Menu, planner: str, profile: str, poll_minutes: float, half_life_days: int
) -> Settings:
    """The numbers behind known names."""
    return Settings(
        menu.values,
        menu.milestones(),
        tuple(menu.nearest(minutes) for minutes in WARM_UP_MINUTES),
        PLANNED if planner_for(planner, menu) == "planned" else LOOK_AHEAD,
        PROFILES[profile],
        float(poll_minutes),
        HORIZON_HOURS,
        half_life_days * DAY_SECONDS,
    )


def room(rule: Settings, hours: int = 24) -> Ahead:
    """Empty lists of the lengths that `choose` needs, or longer ones: so that the running sums
    reach `hours` further than the longest ttl."""
    if rule.planner == PLANNED:
        hours = rule.horizon
    steps = ((hours + 2) * 60 + rule.menu[-1]) * 60 // STEP_SECONDS + 1
    quarters = (rule.horizon + rule.menu[-1] // 60 + 2) * CELLS
    return Ahead(
        factors=[0.0] * SIZES.seen,
        within=[0.0] * SIZES.minutes,
        number=[0.0] * steps,
        waiting=[0.0] * steps,
        cells=Cells([0.0] * quarters, [0.0] * quarters, [0.0] * quarters),
    )


def warm_up_minutes(values: Sequence[int], past: Past, now: int) -> int:
    """Winer's rule by the time since the last update, in the three values that stand for his;
    the longest before there is any update."""
    for step in range(2):
        if past.number > 0 and now - past.last < WARM_UP_SECONDS[step]:
            return values[step]
    return values[2]


def begin_of(starts: Sequence[int], offsets: Sequence[int], now: int) -> int:
    """Where the look forward begins: the last five minutes of the local clock."""
    return now - (now + offsets[period(starts, now)]) % STEP_SECONDS


def forecast(
    tables: Tables,
    starts: Sequence[int],
    offsets: Sequence[int],
    holes: Sequence[int],
    past: Past,
    now: int,
    rule: Settings,
    ahead: Ahead,
) -> float:
    """Fill the running sums of `ahead` from `begin_of(now)` on; what one poll is worth."""
    fading = decay(now - past.as_of, rule.half_life)
    days = watched_days(holes, past.first, now, rule.half_life)
    silence_factors(tables, fading, ahead.factors)
    if rule.profile == WEEK_MINUTE:
        spread_within(tables, fading, ahead.within)
    look_forward(
        tables, starts, offsets, rule.profile, past.last, begin_of(starts, offsets, now),
        fading, days, ahead.factors, ahead.within, ahead.number, ahead.waiting,
    )  # fmt: skip
    return poll_worth(tables, rule.menu, rule.poll_minutes, fading, days)


def choose(
    tables: Tables,
    starts: Sequence[int],
    offsets: Sequence[int],
    holes: Sequence[int],
    past: Past,
    now: int,
    rule: Settings,
    ahead: Ahead,
) -> int:
    """The ttl in minutes of the document built at `now`, from updates up to then."""
    if not knows_enough(past.number, past.first, now):
        return warm_up_minutes(rule.warm_up, past, now)
    worth = forecast(tables, starts, offsets, holes, past, now, rule, ahead)
    begin = begin_of(starts, offsets, now)
    first = (now - begin) / 60.0
    last = (hour_end(starts, offsets, now) - begin) / 60.0
    if rule.planner == LOOK_AHEAD:
        return look_ahead(ahead.number, ahead.waiting, first, last, rule.menu, worth)
    return planned(
        ahead.number, ahead.waiting, first, last, rule.menu, rule.milestones,
        worth, rule.horizon, ahead.cells,
    )  # fmt: skip
