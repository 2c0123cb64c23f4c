"""Compares two results, with confidence intervals from a bootstrap over timelines.

Timelines differ more than rules do, so the comparison is paired by timeline: the figure is the
geometric mean over timelines of the ratio.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from publisher.base.errors import InvalidData
from publisher.simulator.results import SMALLEST_EFFICIENCY, Row, aligned

MEASURES = ("efficiency", "polls_per_day", "delay_mean_minutes", "stale_share")
RESAMPLES = 10_000
SMALLEST = {"efficiency": SMALLEST_EFFICIENCY}
TINY = 1e-9


def read_results(path: Path) -> list[Row]:
    """The rows that `simulate --format json` wrote; InvalidData for anything else."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidData(f"{path}: {error}") from None
    wanted = {"timeline", "publisher", "client", *MEASURES}
    if not isinstance(rows, list) or not rows:
        raise InvalidData(f"{path}: expected a list of results, as simulate --format json writes")
    for row in rows:
        if not isinstance(row, dict) or not wanted <= row.keys():
            raise InvalidData(f"{path}: a result needs {', '.join(sorted(wanted))}")
        if not all(isinstance(row[name], int | float) for name in MEASURES):
            raise InvalidData(f"{path}: a figure is not a number")
    return rows


def compare(first: Sequence[Row], second: Sequence[Row], seed: int = 0) -> list[dict[str, Any]]:
    """For each publisher and client in both results, the ratio B / A of each measure.

    Rows pair when timeline, publisher and client agree. If the results have no publisher and client
    in common but each has only one, these two are compared.
    """
    left, right = _by_rule(first), _by_rule(second)
    pairs = [(rule, rule) for rule in left if rule in right]
    if not pairs and len(left) == len(right) == 1:
        pairs = [(next(iter(left)), next(iter(right)))]
    found = []
    for one, other in pairs:
        names = [name for name in left[one] if name in right[other]]
        if names:
            ours = [left[one][name] for name in names]
            theirs = [right[other][name] for name in names]
            found.append(
                {"a": " ".join(one), "b": " ".join(other), "timelines": len(names)}
                | {measure: ratio(ours, theirs, measure, seed) for measure in MEASURES}
            )
    if not found:
        raise InvalidData("the two results have no timeline under the same rules in common")
    return found


def _by_rule(rows: Sequence[Row]) -> dict[tuple[str, str], dict[str, Row]]:
    groups: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows:
        groups.setdefault((row["publisher"], row["client"]), {})[row["timeline"]] = row
    return groups


def ratio(
    ours: Sequence[Row], theirs: Sequence[Row], measure: str, seed: int
) -> dict[str, float | None]:
    """Geometric mean of theirs / ours with its 95 % interval (None for a single timeline)."""
    floor = SMALLEST.get(measure, TINY)
    logs = np.log([max(row[measure], floor) for row in theirs])
    logs -= np.log([max(row[measure], floor) for row in ours])
    low, high = interval(logs, seed)
    return {"ratio": float(np.exp(logs.mean())), "low": low, "high": high}


def interval(logs: NDArray[np.float64], seed: int) -> tuple[float | None, float | None]:
    """The 95 % percentile interval of ``exp(mean)``, resampling `logs` with replacement."""
    if len(logs) < 2:
        return None, None
    rng = np.random.default_rng(seed)
    picks = rng.integers(0, len(logs), (RESAMPLES, len(logs)))
    low, high = np.quantile(logs[picks].mean(axis=1), (0.025, 0.975))
    return float(np.exp(low)), float(np.exp(high))


def as_table(found: Sequence[dict[str, Any]]) -> str:
    """The comparison as a table of B / A; below 1 means that B has less."""
    head = ["A", "B", "timelines", *(f"{measure} B/A" for measure in MEASURES)]
    lines = [
        [one["a"], one["b"], str(one["timelines"]), *(_cell(one[name]) for name in MEASURES)]
        for one in found
    ]
    return aligned([head, *lines], names=2)


def _cell(figure: dict[str, float | None]) -> str:
    if figure["low"] is None:
        return f"{figure['ratio']:.3f}"
    return f"{figure['ratio']:.3f} ({figure['low']:.3f} to {figure['high']:.3f})"
