"""Estimators of the time between a page's changes, from visits that saw only whether it changed.

Sources: J. Cho, "Crawling the Web: Discovery and Maintenance of Large-Scale Web Data" (Stanford,
2001), and J. Cho and H. Garcia-Molina, "Estimating Frequency of Change" (2003). Several changes
between two visits are seen as one, so counting changes underestimates the rate of busy pages.
All functions are plain scalar code over indexable numbers; durations are in seconds.
"""

from collections.abc import Sequence
from math import exp, log

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
