"""How often a page changes, estimated from visits that only saw whether it had changed.

Source: J. Cho, "Crawling the Web: Discovery and Maintenance of Large-Scale Web Data" (Stanford,
2001), and J. Cho and H. Garcia-Molina, "Estimating Frequency of Change" (2003). A change between
two visits is seen once however often it happened, so counting changes underestimates busy pages.
All functions are plain scalar code over indexable numbers; durations are in seconds.
"""

from collections.abc import Sequence
from math import exp, log

ONE_HALF = 0.5  # of a change where none was seen, of an interval where all visits found one


def by_changes(changes: float, intervals: int, mean_interval: float) -> float:
    """Seconds between changes as `I / (X / n)`: never shorter than the interval of the visits."""
    return mean_interval * intervals / max(changes, ONE_HALF)


def by_no_changes(changes: float, intervals: int, mean_interval: float) -> float:
    """Seconds between changes as `I / -ln((n - X + 0.5) / (n + 0.5))`, nearly without bias.

    It can come out shorter than the interval of the visits.
    """
    seen = max(changes, ONE_HALF)
    return mean_interval / -log((intervals - seen + 0.5) / (intervals + 0.5))


def by_likelihood(intervals: Sequence[float], first: int, last: int) -> float:
    """Seconds between changes, most likely for visits at irregular intervals.

    ``intervals[first:last]`` are the durations, negative where the visit at the end of it found a
    change. Solves ``sum over changed of I / (exp(I / T) - 1) = sum over unchanged of I`` for T.
    Where no visit found a change half a change is assumed, where all did half a mean interval of
    silence, so that the answer is finite and agrees with the estimator above on regular visits.
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
    """Left side of the likelihood equation: it grows with `between`."""
    total = 0.0
    for index in range(first, last):
        if intervals[index] < 0:
            ratio = -intervals[index] / between
            if ratio < 500:
                total += -intervals[index] / (exp(ratio) - 1.0)
    return total
