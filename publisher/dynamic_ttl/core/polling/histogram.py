"""The publisher's decision on the reader's side: learn when a feed posts, then look ahead.

New items are counted in 24 slots by their hour (UTC, as a reader does not know the author's zone).
Older ones count less; a prior of a quarter of an update is spread over the day. The next poll comes
when the expected waiting of unseen items reaches the worth of one poll (`poll-minutes`).
"""

from math import sqrt

from ..durations import duration
from ..specs import Option
from ..ttl.activity import HALF_LIFE_DAYS
from ..ttl.counts import decay, exposure_days
from ..ttl.rule import POLL_MINUTES
from .policy import (
    DATED,
    NEW_ITEMS,
    NOT_LATER,
    NOT_SOONER,
    Ints,
    Numbers,
    Rule,
    State,
)

HOUR = 3600
DAY = 86400

PRIOR_ITEMS = 0.25  # spread over the day

# options
WORTH, FLOOR, CEILING, HALF_LIFE = range(4)

# state: instant of the first poll, instant when observation began, then 24 slots. An item counts
# 2 ** (time since the first poll / half-life), so that older ones decay without being rewritten.
ORIGIN, SINCE, SLOTS = range(3)

# reasons
LOOKED_AHEAD, AT_FLOOR, AT_CEILING = range(3)


def remember(
    state: State, options: Numbers, answer: Ints, dates: Ints, first: int, last: int, now: int
) -> None:
    """Count the new items in the slots of their hours; without dates, in the hour of the poll."""
    never_polled = state[ORIGIN] == 0
    if never_polled:
        state[ORIGIN] = now
        state[SINCE] = now
    if answer[DATED]:
        for index in range(first, last):
            state[SINCE] = min(state[SINCE], dates[index])
            count(state, options, min(int(dates[index]), now), 1)
    elif not never_polled:
        count(state, options, now, answer[NEW_ITEMS])


def count(state: State, options: Numbers, at: int, items: int) -> None:
    """Add `items` published at `at` to their slot."""
    age = (at - state[ORIGIN]) / (options[HALF_LIFE] * DAY)
    state[SLOTS + at // HOUR % 24] += items * 2.0**age


def densities(state: State, options: Numbers, now: int) -> tuple[float, float]:
    """Factor and addend that turn a slot's count into expected items a minute, at `now`."""
    half_life = int(options[HALF_LIFE] * DAY)
    minutes = max(exposure_days(int(state[SINCE]), now, half_life), 1.0) * 60.0
    return decay(now - int(state[ORIGIN]), half_life) / minutes, PRIOR_ITEMS / 24.0 / minutes


def decide(state: State, options: Numbers, now: int) -> tuple[int, int, int]:
    """Go forward hour by hour until the expected waiting of unseen items is worth a poll."""
    factor, prior = densities(state, options, now)
    worth, ceiling = options[WORTH], options[CEILING]
    wait = hidden = expected = 0.0
    at = now
    while wait < ceiling:
        seconds = HOUR - at % HOUR
        length = seconds / 60.0
        density = state[SLOTS + at // HOUR % 24] * factor + prior
        more = expected * length + density * length * length / 2.0
        if hidden + more >= worth:
            room = expected * expected + 2.0 * density * (worth - hidden)
            wait += (sqrt(room) - expected) / density
            break
        hidden += more
        expected += density * length
        wait += length
        at += seconds
    if wait >= ceiling:
        return int(ceiling * 60), now, AT_CEILING
    if wait <= options[FLOOR]:
        return int(options[FLOOR] * 60), now, AT_FLOOR
    return int(wait * 60), now, LOOKED_AHEAD


def _explain(state: State, options: Numbers, now: int, wait: int, reason: int) -> list[str]:
    factor, prior = densities(state, options, now)
    hourly = [60 * (state[SLOTS + hour] * factor + prior) for hour in range(24)]
    busiest = max(range(24), key=hourly.__getitem__)
    limits = {AT_FLOOR: NOT_SOONER, AT_CEILING: NOT_LATER}
    since = (now - busiest * HOUR) % DAY
    when = "is this one" if since < HOUR else f"begins {duration(DAY - since)} later"
    known = f"{sum(hourly):.1f} items, the busiest hour {when}"
    counted = sum(hourly) - 24 * 60 * prior  # nothing is known of the hours of the prior
    return [
        f"its learned day: {known if counted >= 0.05 else 'hardly any items'}",
        f"{limits[reason]} {duration(wait)}"
        if reason in limits
        else f"after {duration(wait)}, as its items would have waited {options[WORTH]:g} minutes",
    ]


HISTOGRAM = Rule(
    name="histogram",
    summary="a learned day of 24 slots and a look ahead through it",
    options=(
        Option("poll-minutes", POLL_MINUTES, 0.01, 100_000, "minutes of delay a poll is worth"),
        Option("floor", 15, 1, 43200, "shortest wait, minutes"),
        Option("ceiling", 1440, 1, 10080, "longest wait, minutes"),
        Option("half-life", HALF_LIFE_DAYS, 1, 3650, "days until what was seen counts half"),
    ),
    size=lambda options: SLOTS + 24,
    remember=remember,
    decide=decide,
    explain=_explain,
)
