"""Intervals of geometric means, from a bootstrap that draws timelines with replacement."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from publisher.simulator.results import BOOTSTRAP, SMALLEST_EFFICIENCY, Row, by_rule

RESAMPLES = 10_000


def interval(logs: NDArray[np.float64], seed: int) -> tuple[float | None, float | None]:
    """The 95 % percentile interval of ``exp(mean)``, resampling `logs` with replacement; None for
    fewer than two."""
    if len(logs) < 2:
        return None, None
    rng = np.random.default_rng(seed)
    picks = rng.integers(0, len(logs), (RESAMPLES, len(logs)))
    low, high = np.quantile(logs[picks].mean(axis=1), (0.025, 0.975))
    return float(np.exp(low)), float(np.exp(high))


def with_intervals(rows: Sequence[Row], seed: int) -> list[Row]:
    """The rows, each with the geometric mean of the efficiency of its publisher and client over all
    timelines (`efficiency_geometric_mean`) and its interval (`efficiency_low`, `efficiency_high`).
    """
    found: dict[tuple[str, str], Row] = {}
    for rule, group in by_rule(rows).items():
        logs = np.log([max(row["efficiency"], SMALLEST_EFFICIENCY) for row in group])
        ends = (float(np.exp(logs.mean())), *interval(logs, seed))
        found[rule] = dict(zip(BOOTSTRAP, map(_rounded, ends), strict=True))
    blank: Row = dict.fromkeys(BOOTSTRAP)
    return [row | found.get((row["publisher"], row["client"]), blank) for row in rows]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
