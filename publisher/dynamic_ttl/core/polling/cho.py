"""Poll at the estimated time between changes; a new estimate after each group of N visits.

Source: the auto-scheduler for Scrapy Cluster (with the estimators of Cho's thesis). That program
counts distinct hashes, so that a page which never changed has one change and a page that goes
A-B-A-B has two; this is ``form=original``. The corrected form counts how often a hash differs from
the one before.

The estimators see visits that tell only whether the page changed. Sources: J. Cho, "Crawling the
Web: Discovery and Maintenance of Large-Scale Web Data" (Stanford, 2001), and J. Cho and H.
Garcia-Molina, "Estimating Frequency of Change" (2003). Several changes between two visits are seen
as one, so counting changes underestimates the rate of busy pages. Durations are in seconds.
"""

from collections.abc import Sequence
from math import exp, log

from ..durations import duration
from ..specs import Option
from .policy import (
    CHANGED,
    NOT_LATER,
    NOT_SOONER,
    Ints,
    Numbers,
    Remember,
    Rule,
    State,
)

# options
VISITS, FORM, FLOOR, CEILING, START = range(5)
CORRECTED, ORIGINAL = range(2)  # as values of FORM

# state
INTERVAL = 0  # seconds, in use
POLLED = 1  # instant of the last visit
SEEN = 2  # visits in this group
CHANGES = 3  # in this group; those of the finished one while SEEN is 0
GROUP = 4  # from here on the group's intervals, negative where they ended with a change
# The last place of the state holds the number of intervals in the group.

IRREGULAR = 1.1  # longest to shortest interval of a group that still counts as regular

# reasons
COLLECTING, ESTIMATED = range(2)

ONE_HALF = 0.5  # changes assumed if none was seen; intervals assumed unchanged if all had changes


def by_changes(changes: float, intervals: int, mean_interval: float) -> float:
    """Seconds between changes, `I / (X / n)` for X changes in n intervals of mean length I: never
    shorter than I."""
    return mean_interval * intervals / max(changes, ONE_HALF)


def by_no_changes(changes: float, intervals: int, mean_interval: float) -> float:
    """Seconds between changes, `I / -ln((n - X + 0.5) / (n + 0.5))`, nearly without bias; X, n, I
    as in `by_changes`. Unlike there, the result can be shorter than I."""
    seen = max(changes, ONE_HALF)
    return mean_interval / -log((intervals - seen + 0.5) / (intervals + 0.5))


def by_likelihood(intervals: Sequence[float], first: int, last: int) -> float:
    """Seconds between changes by maximum likelihood, for visits at irregular intervals.

    ``intervals[first:last]``: lengths of the intervals, negative where the visit at the end found a
    change. Solves ``sum over changed of I / (exp(I / T) - 1) = sum over unchanged of I`` for T.
    If no visit found a change, half a change is assumed; if all did, half a mean interval without
    change, so that the result is finite and agrees with `by_no_changes` at regular intervals.
    """
    changed, quiet, total = 0, 0.0, 0.0
    for index in range(first, last):
        total += abs(intervals[index])
        if intervals[index] < 0:
            changed += 1
        else:
            quiet += intervals[index]
    if changed == 0:
        return total / ONE_HALF
    if quiet == 0:
        quiet = ONE_HALF * total / (last - first)
    low, high = total * 1e-4, total * 1e4
    for _ in range(60):
        middle = (low * high) ** 0.5
        if _explained(intervals, first, last, middle) < quiet:
            low = middle
        else:
            high = middle
    return float((low * high) ** 0.5)


def _explained(intervals: Sequence[float], first: int, last: int, between: float) -> float:
    """Left side of the likelihood equation for T = `between`, with which it grows."""
    total = 0.0
    for index in range(first, last):
        if intervals[index] < 0:
            ratio = -intervals[index] / between
            if ratio < 500:
                total += -intervals[index] / (exp(ratio) - 1.0)
    return total


def start(state: State, options: Numbers) -> None:
    """Set the first interval."""
    state[INTERVAL] = options[START] * 60


def visit(state: State, options: Numbers, changed: bool, now: int) -> bool:
    """Record one visit; returns whether it completes its group.

    The first visit of a group is compared with the last one of the group before: otherwise a page
    that changes whenever a group begins would never be seen to change. The original form does not.
    """
    seen, last = int(state[SEEN]), len(state) - 1
    if seen == 0:
        state[CHANGES] = state[last] = 0
    if seen > 0 or (options[FORM] != ORIGINAL and state[POLLED] > 0):
        gap = now - state[POLLED]
        state[GROUP + int(state[last])] = -gap if changed else gap
        state[last] += 1
        state[CHANGES] += 1 if changed else 0
    state[POLLED] = now
    state[SEEN] = seen + 1
    return seen + 1 >= options[VISITS]


def mean_interval(state: State, intervals: int) -> float:
    """Mean of the group's intervals, seconds."""
    total = 0.0
    for index in range(intervals):
        total += abs(state[GROUP + index])
    return total / intervals


def regular(state: State, intervals: int) -> bool:
    """Whether the group's intervals are all about the same length (`IRREGULAR`)."""
    shortest = longest = abs(state[GROUP])
    for index in range(1, intervals):
        shortest = min(shortest, abs(state[GROUP + index]))
        longest = max(longest, abs(state[GROUP + index]))
    return longest <= shortest * IRREGULAR


def settle(state: State, options: Numbers, estimate: float) -> None:
    """Set the interval to the estimate (seconds), within the limits, and begin a new group."""
    state[INTERVAL] = min(max(estimate, options[FLOOR] * 60), options[CEILING] * 60)
    state[SEEN] = 0


def remember_changes(
    state: State, options: Numbers, answer: Ints, dates: Ints, first: int, last: int, now: int
) -> None:
    """`cho-changes`: estimate from the number of changes seen per visit."""
    if visit(state, options, bool(answer[CHANGED]), now):
        intervals = int(state[len(state) - 1])
        mean = mean_interval(state, intervals)
        if options[FORM] == ORIGINAL:
            settle(state, options, by_changes(state[CHANGES] + 1, intervals + 1, mean))
        else:
            settle(state, options, by_changes(state[CHANGES], intervals, mean))


def remember_no_changes(
    state: State, options: Numbers, answer: Ints, dates: Ints, first: int, last: int, now: int
) -> None:
    """`cho-nochanges`: estimate from the visits that found no change; by maximum likelihood where
    the intervals are irregular."""
    if visit(state, options, bool(answer[CHANGED]), now):
        intervals = int(state[len(state) - 1])
        mean = mean_interval(state, intervals)
        if options[FORM] == ORIGINAL:
            settle(state, options, by_no_changes(state[CHANGES] + 1, intervals + 1, mean))
        elif regular(state, intervals):
            settle(state, options, by_no_changes(state[CHANGES], intervals, mean))
        else:
            settle(state, options, by_likelihood(state, GROUP, GROUP + intervals))


def decide(state: State, options: Numbers, now: int) -> tuple[int, int, int]:
    """The interval in use. Every visit counts, so a replay cannot skip any (`valid_until`)."""
    return int(state[INTERVAL] + 0.5), now, ESTIMATED if state[SEEN] == 0 else COLLECTING


def _explain(state: State, options: Numbers, now: int, wait: int, reason: int) -> list[str]:
    visits, changes = int(options[VISITS]), int(state[CHANGES])
    if reason == COLLECTING:
        return [f"poll {int(state[SEEN])} of {visits} before the next estimate"]
    noun = "change" if changes == 1 else "changes"
    reasons = [f"{changes} {noun} in {visits} polls: one every {duration(wait)}"]
    limits = {options[FLOOR] * 60: NOT_SOONER, options[CEILING] * 60: NOT_LATER}
    return reasons + ([f"{limits[wait]} {duration(wait)}"] if wait in limits else [])


def _rule(name: str, summary: str, remember: Remember) -> Rule:
    forms: dict[str, float] = {"corrected": CORRECTED, "original": ORIGINAL}
    return Rule(
        name=name,
        summary=summary,
        options=(
            Option("visits", 5, 2, 1000, "polls in a group", whole=True),
            Option("form", CORRECTED, CORRECTED, ORIGINAL, "of counting", whole=True, words=forms),
            Option("floor", 15, 1, 43200, "shortest wait, minutes"),
            Option("ceiling", 7 * 1440, 1, 525600, "longest wait, minutes"),
            Option("start", 60, 1, 43200, "first wait, minutes"),
        ),
        size=lambda options: GROUP + int(options[VISITS]) + 1,
        start=start,
        remember=remember,
        decide=decide,
        explain=_explain,
    )


CHO_CHANGES = _rule("cho-changes", "interval / (changes / visits)", remember_changes)
CHO_NOCHANGES = _rule(
    "cho-nochanges",
    "interval / -ln((n - X + 0.5) / (n + 0.5)); by likelihood when irregular",
    remember_no_changes,
)
