"""The average time between items of the past week: `weekly-average` and `entry-frequency`.

`weekly-average` is l.m. orchard's query (decafbad.com, 25 September 2003). Its author noted that it
assumes a poll every hour. Here items count by their own dates, or, where a feed has none, by their
arrival over the time that was observed. `entry-frequency` is miniflux's entry frequency scheduler.
"""

from ..durations import duration
from ..specs import Option
from .policy import (
    DATED,
    FOREVER,
    NEW_ITEMS,
    NOT_LATER,
    NOT_SOONER,
    Ints,
    Numbers,
    Rule,
    State,
)

WEEK = 7 * 86400

# options
FLOOR, CEILING = range(2)

# state: instant when observation began; number of items ever stored; running number of the oldest
# item that was not a week old at the last poll; then a ring buffer of item dates, never descending.
# Its size is a power of two, large enough for the items of a week that lead to the shortest wait.
SINCE, KEPT, OLDEST, RING = range(4)

# reasons
AVERAGE, AT_FLOOR, AT_CEILING, SILENT = range(4)


def ring_size(options: Numbers) -> int:
    """The smallest power of two (from 2) above a week / floor: with so many items the wait is the
    floor."""
    size = 2
    while size * options[FLOOR] * 60 <= WEEK:
        size *= 2
    return size


def remember(
    state: State, options: Numbers, answer: Ints, dates: Ints, first: int, last: int, now: int
) -> None:
    """Store the dates of the new items, in order; without dates, the instant of the poll."""
    dated, never_polled = bool(answer[DATED]), state[SINCE] == 0
    if never_polled:
        state[SINCE] = now
    if dated and last > first and dates[first] < state[SINCE]:
        state[SINCE] = dates[first]
    # The first document of an undated feed does not tell when its items came.
    arrived = 0 if never_polled else int(answer[NEW_ITEMS])
    stored = int(state[KEPT])
    latest = state[place(state, stored - 1)]  # 0 before the first item
    new = min(last - first if dated else arrived, len(state) - RING)
    for index in range(last - new, last):
        # An item older than the last stored one gets that one's date, which keeps the order.
        latest = max(min(int(dates[index]), now) if dated else now, latest)
        state[place(state, stored)] = latest
        stored += 1
    state[KEPT] = stored
    state[OLDEST] = oldest_within(state, now - WEEK)


def place(state: Numbers, number: int) -> int:
    """Where in the ring the item with this running number stands."""
    return RING + (number & (len(state) - RING - 1))


def oldest_within(state: Numbers, after: int) -> int:
    """The running number of the first stored item with a date later than `after`."""
    stored = int(state[KEPT])
    oldest = max(int(state[OLDEST]), stored - (len(state) - RING))
    while oldest < stored and state[place(state, oldest)] <= after:
        oldest += 1
    return oldest


def decide(state: State, options: Numbers, now: int) -> tuple[int, int, int]:
    """The week (or the observed part of it) divided by its items, within the limits."""
    floor = int(options[FLOOR] * 60)
    ceiling = int(options[CEILING] * 60)
    oldest = oldest_within(state, now - WEEK)
    items = int(state[KEPT]) - oldest
    if items == 0:
        return ceiling, FOREVER, SILENT
    observed = min(now - int(state[SINCE]), WEEK)
    # Valid until the oldest item is a week old; not at all in the first week of observation.
    leaves = int(state[place(state, oldest)]) + WEEK
    holds = leaves if observed == WEEK else now
    average = observed // items
    if average <= floor:
        return floor, holds, AT_FLOOR
    if average >= ceiling:
        return ceiling, holds, AT_CEILING
    return average, holds, AVERAGE


def _explain(state: State, options: Numbers, now: int, wait: int, reason: int) -> list[str]:
    items = int(state[KEPT]) - oldest_within(state, now - WEEK)
    observed = min(now - int(state[SINCE]), WEEK)
    if reason == SILENT:
        return ["no item in the past 7 days", f"{NOT_LATER} {duration(wait)}"]
    noun = "item" if items == 1 else "items"
    first = f"{items} {noun} in {duration(observed)}: one every {duration(observed // items)}"
    limits = {AT_FLOOR: NOT_SOONER, AT_CEILING: NOT_LATER}
    return [first] + ([f"{limits[reason]} {duration(wait)}"] if reason in limits else [])


def _rule(name: str, summary: str, floor_minutes: int) -> Rule:
    return Rule(
        name=name,
        summary=summary,
        options=(
            Option("floor", floor_minutes, 1, 10080, "shortest wait, minutes"),
            Option("ceiling", 1440, 1, 525600, "longest wait, minutes"),
        ),
        size=lambda options: RING + ring_size(options),
        remember=remember,
        decide=decide,
        explain=_explain,
    )


WEEKLY_AVERAGE = _rule("weekly-average", "a week / its items, 1 h to 24 h", 60)
ENTRY_FREQUENCY = _rule("entry-frequency", "a week / its items, 5 min to 24 h", 5)
