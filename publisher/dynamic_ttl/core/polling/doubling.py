"""Exponential back-off: multiply the interval by a factor after no news, divide by it after news.

Proposed for news aggregators by l.m. orchard (decafbad.com, 25 September 2003), with factors 2, 1.5
and 1.25 and the idea of a factor that adapts. ``factor=adaptive`` does that as in Rprop (Riedmiller
and Braun, 1993): the step grows while the direction stays the same and shrinks when it turns.
"""

from ..durations import duration
from ..specs import Option
from .policy import (
    FOREVER,
    NEW_ITEMS,
    NOT_LATER,
    NOT_SOONER,
    Ints,
    Numbers,
    Rule,
    State,
)

# options
FACTOR, FLOOR, CEILING, START = range(4)
ADAPTIVE = 0.0  # as the value of FACTOR

# state: the interval in seconds; the factor in use, less one; and +1 after a poll without news, -1
# after one with news, 0 before the first
INTERVAL, STEP, DIRECTION, SIZE = range(4)

LARGEST_STEP = 1.0
SMALLEST_STEP = 0.1
STEP_GROWS = 1.2
STEP_SHRINKS = 0.5

# reasons
WITHIN, AT_FLOOR, AT_CEILING = range(3)


def start(state: State, options: Numbers) -> None:
    """Set the first interval and the step: the factor less one, or the largest if adaptive."""
    state[INTERVAL] = options[START] * 60
    state[STEP] = LARGEST_STEP if options[FACTOR] == ADAPTIVE else options[FACTOR] - 1


def remember(
    state: State, options: Numbers, answer: Ints, dates: Ints, first: int, last: int, now: int
) -> None:
    """Lengthen or shorten the interval, within the limits."""
    direction = -1.0 if answer[NEW_ITEMS] > 0 else 1.0
    if options[FACTOR] == ADAPTIVE:
        turned = state[DIRECTION] == -direction
        step = state[STEP] * (STEP_SHRINKS if turned else STEP_GROWS)
        state[STEP] = min(max(step, SMALLEST_STEP), LARGEST_STEP)
    factor = 1 + state[STEP]
    interval = state[INTERVAL] / factor if direction < 0 else state[INTERVAL] * factor
    state[INTERVAL] = min(max(interval, options[FLOOR] * 60), options[CEILING] * 60)
    state[DIRECTION] = direction


def decide(state: State, options: Numbers, now: int) -> tuple[int, int, int]:
    """The interval. `valid_until` lies ahead only if quiet polls cannot lengthen it any more."""
    wait = int(state[INTERVAL] + 0.5)
    settled = options[FACTOR] != ADAPTIVE or state[STEP] == LARGEST_STEP
    if state[INTERVAL] >= options[CEILING] * 60:
        return wait, FOREVER if settled else now, AT_CEILING
    if state[INTERVAL] <= options[FLOOR] * 60:
        return wait, now, AT_FLOOR
    return wait, now, WITHIN


def _explain(state: State, options: Numbers, now: int, wait: int, reason: int) -> list[str]:
    factor = 1 + state[STEP]
    if state[DIRECTION] == 0:
        return [f"begins with {duration(wait)}"]
    first = (
        f"new items, so the interval is divided by {factor:.3g}"
        if state[DIRECTION] < 0
        else f"nothing new, so the interval grows times {factor:.3g}"
    )
    limit = {AT_FLOOR: NOT_SOONER, AT_CEILING: NOT_LATER}.get(reason)
    return [first, f"{limit} {duration(wait)}"] if limit else [first]


DOUBLING = Rule(
    name="doubling",
    summary="nothing new: interval x factor; something new: interval / factor",
    options=(
        Option("factor", 2, 1.01, 16, "of each step", words={"adaptive": ADAPTIVE}),
        Option("floor", 60, 1, 43200, "shortest wait, minutes"),
        Option("ceiling", 7 * 1440, 1, 525600, "longest wait, minutes"),
        Option("start", 60, 1, 43200, "first wait, minutes"),
    ),
    size=lambda options: SIZE,
    start=start,
    remember=remember,
    decide=decide,
    explain=_explain,
)
