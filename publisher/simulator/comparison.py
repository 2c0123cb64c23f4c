"""Intervals of geometric means, from a bootstrap that draws timelines with replacement; and the
comparison of two results, with such intervals.

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
from publisher.simulator.results import BOOTSTRAP, SMALLEST_EFFICIENCY, Row, aligned, by_rule

RESAMPLES = 10_000
MEASURES = ("efficiency", "polls_per_day", "delay_mean_minutes", "stale_share")
# With fewer, chance alone often puts all differences on one side: at five, in one case of 16.
ENOUGH_TIMELINES = 6
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
        figures = [row[name] for name in MEASURES]
        if any(figures) and not all(isinstance(figure, int | float) for figure in figures):
            raise InvalidData(f"{path}: a figure is not a number")
    return rows


def compare(first: Sequence[Row], second: Sequence[Row], seed: int = 0) -> list[dict[str, Any]]:
    """For each publisher and client in both results, the ratio B / A of each measure, and in `says`
    a sentence on each that tells whether the difference is beyond chance.

    Rows without figures are left out. Rows pair when timeline, publisher and client agree. If the
    results have no publisher and client in common but each has only one, these two are compared.
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
            ratios = {measure: ratio(ours, theirs, measure, seed) for measure in MEASURES}
            found.append(
                {"a": " ".join(one), "b": " ".join(other), "timelines": len(names)}
                | ratios
                | {"says": [says(*item) for item in ratios.items()]}
            )
    if not found:
        raise InvalidData("the two results have no timeline under the same rules in common")
    return found


def _by_rule(rows: Sequence[Row]) -> dict[tuple[str, str], dict[str, Row]]:
    return {rule: {row["timeline"]: row for row in group} for rule, group in by_rule(rows).items()}


def ratio(
    ours: Sequence[Row], theirs: Sequence[Row], measure: str, seed: int
) -> dict[str, float | bool | None]:
    """Geometric mean of theirs / ours with its 95 % interval (None for a single timeline), and
    whether that leaves out 1, so that the difference is beyond chance (None: too few timelines)."""
    floor = SMALLEST.get(measure, TINY)
    logs = np.log([max(row[measure], floor) for row in theirs])
    logs -= np.log([max(row[measure], floor) for row in ours])
    low, high = interval(logs, seed)
    beyond = None
    if low is not None and high is not None and len(logs) >= ENOUGH_TIMELINES:
        beyond = not low - TINY <= 1.0 <= high + TINY
    return {"ratio": float(np.exp(logs.mean())), "low": low, "high": high, "beyond_chance": beyond}


def says(measure: str, figure: dict[str, Any]) -> str:
    """The comparison of one measure in a sentence."""
    name, change = measure.replace("_", " "), figure["ratio"] - 1.0
    said = f"{name}: B has {abs(change):.1%} {'less' if change < 0 else 'more'} than A"
    if figure["beyond_chance"] is None:
        return f"{said}; with fewer than {ENOUGH_TIMELINES} timelines this may be chance."
    if not figure["beyond_chance"]:
        return f"{name}: no difference beyond chance ({_cell(figure)})."
    return f"{said}, beyond chance ({_cell(figure)})."


def as_table(found: Sequence[dict[str, Any]]) -> str:
    """The comparison as a table of B / A; below 1 means that B has less."""
    head = ["A", "B", "timelines", *(f"{measure} B/A" for measure in MEASURES)]
    lines = [
        [one["a"], one["b"], str(one["timelines"]), *(_cell(one[name]) for name in MEASURES)]
        for one in found
    ]
    told = "".join(
        f"\n{one['a']} -> {one['b']}\n" + "".join(f"  {sentence}\n" for sentence in one["says"])
        for one in found
    )
    return aligned([head, *lines], names=2) + told


def _cell(figure: dict[str, Any]) -> str:
    if figure["low"] is None:
        return f"{figure['ratio']:.3f}"
    return f"{figure['ratio']:.3f} ({figure['low']:.3f} to {figure['high']:.3f})"


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
