"""Rounded durations and how often each occurs: intervals between polls, delays.

An interval of 15 or 60 minutes is kept exactly; the error is below 3 %.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

# (limit, step): up to `limit` seconds, durations are rounded to multiples of `step`.
_STEPS = ((120, 1), (600, 10), (7200, 60), (86_400, 300), (10**9, 3600))

Spans = Counter[tuple[int, int]]  # (ttl told in minutes, seconds until the next poll) -> how often


def rounded(seconds: float) -> int:
    """`seconds`, rounded more coarsely the longer it is."""
    for limit, step in _STEPS:
        if seconds <= limit:
            return round(seconds / step) * step
    return 10**9


def to_text(spans: Spans) -> str:
    """For storage: "told:seconds:count" with spaces between."""
    return " ".join(f"{told}:{span}:{count}" for (told, span), count in sorted(spans.items()))


def from_texts(text: str) -> Spans:
    """What `to_text` wrote, one or several of them joined by spaces."""
    spans: Spans = Counter()
    for part in text.split():
        told, span, count = part.split(":")
        spans[int(told), int(span)] += int(count)
    return spans


def quantile(counts: Mapping[int, int], share: float) -> int | None:
    """The value that `share` of the counted ones do not exceed; None when there are none."""
    wanted = share * sum(counts.values())
    reached = 0
    for value in sorted(counts):
        reached += counts[value]
        if reached >= wanted:
            return value
    return None


def quantile_minutes(counts: Mapping[int, int], share: float) -> float | None:
    """The `quantile` of counted seconds, in minutes."""
    value = quantile(counts, share)
    return None if value is None else round(value / 60.0, 1)


def merged(parts: Iterable[Mapping[int, int]]) -> Counter[int]:
    """Several counts as one."""
    total: Counter[int] = Counter()
    for part in parts:
        total.update(part)
    return total
