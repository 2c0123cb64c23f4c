"""The adaptive fetch schedule of Apache Nutch: the interval shrinks after a change, else it grows.

Nutch's class has 0.2 for both rates; its shipped configuration has 0.4 for growth. With `sync` (0.2
in Nutch) a poll without a change also uses the time since the last change: the interval is at least
that long, and the next poll comes earlier by the share `sync` of it.
"""

from ..durations import duration
from ..specs import Option
from .policy import (
    CHANGED,
    FOREVER,
    LAST_MODIFIED,
    NOT_LATER,
    NOT_SOONER,
    Ints,
    Numbers,
    Rule,
    State,
)

# options
GROW, SHRINK, FLOOR, CEILING, START, SYNC = range(6)

# state: the interval in seconds; the seconds between the last known change and the poll; and +1
# after a poll without a change, -1 after one with a change, 0 before the first
INTERVAL, QUIET, DIRECTION, SIZE = range(4)

# reasons
UNCHANGED, CHANGE = range(2)


def start(state: State, options: Numbers) -> None:
    """Set the first interval."""
    state[INTERVAL] = options[START] * 60


def remember(
    state: State, options: Numbers, answer: Ints, dates: Ints, first: int, last: int, now: int
) -> None:
    """Grow or shrink the interval, within the limits."""
    state[DIRECTION] = -1 if answer[CHANGED] else 1
    factor = 1 - options[SHRINK] if answer[CHANGED] else 1 + options[GROW]
    interval = state[INTERVAL] * factor
    state[QUIET] = 0
    if options[SYNC] > 0 and not answer[CHANGED] and answer[LAST_MODIFIED] >= 0:
        state[QUIET] = max(now - answer[LAST_MODIFIED], 0)
        interval = max(interval, state[QUIET])
    state[INTERVAL] = min(max(interval, options[FLOOR] * 60), options[CEILING] * 60)


def decide(state: State, options: Numbers, now: int) -> tuple[int, int, int]:
    """The interval, less the share `sync` of the time since the last change."""
    earlier = state[QUIET] * options[SYNC]
    wait = int(max(state[INTERVAL] - earlier, options[FLOOR] * 60) + 0.5)
    if state[DIRECTION] < 0:
        return wait, now, CHANGE
    full = state[INTERVAL] >= options[CEILING] * 60 and earlier == 0
    return wait, FOREVER if full else now, UNCHANGED


def _explain(state: State, options: Numbers, now: int, wait: int, reason: int) -> list[str]:
    if state[DIRECTION] == 0:
        return [f"begins with {duration(wait)}"]
    step = f"unchanged, so the interval grows by {options[GROW]:.0%}"
    if reason == CHANGE:
        step = f"changed, so the interval shrinks by {options[SHRINK]:.0%}"
    reasons = [f"{step}: {duration(state[INTERVAL])}"]
    limits = {options[FLOOR] * 60: NOT_SOONER, options[CEILING] * 60: NOT_LATER}
    if state[INTERVAL] in limits:
        reasons.append(f"{limits[state[INTERVAL]]} {duration(state[INTERVAL])}")
    if state[QUIET] > 0:
        since = duration(state[QUIET])
        reasons.append(f"sooner by {options[SYNC]:.0%} of the {since} since the last change")
    return reasons


ADAPTIVE = Rule(
    name="adaptive",
    summary="changed: interval x (1 - shrink); unchanged: interval x (1 + grow)",
    options=(
        Option("grow", 0.4, 0.001, 10, "share added after no change"),
        Option("shrink", 0.2, 0.001, 0.99, "share taken off after a change"),
        Option("floor", 15, 1, 43200, "shortest wait, minutes"),
        Option("ceiling", 7 * 1440, 1, 525600, "longest wait, minutes"),
        Option("start", 60, 1, 525600, "first wait, minutes"),
        Option("sync", 0, 0, 0.9, "share of the quiet time to come sooner"),
    ),
    size=lambda options: SIZE,
    start=start,
    remember=remember,
    decide=decide,
    explain=_explain,
)
