"""Results as a table, JSON or CSV, the summary over timelines, and the comparison of two results.

Intervals of geometric means come from a bootstrap that draws timelines with replacement. Timelines
differ more than rules do, so the comparison is paired by timeline: the figure is the geometric mean
over timelines of the ratio.
"""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from math import exp, log
from pathlib import Path
from statistics import fmean, median
from typing import Any

from publisher.base.errors import InvalidData
from publisher.base.text import to_cell
from publisher.dynamic_ttl.core.ttl.rule import POLL_MINUTES
from publisher.simulator.grid import Result
from publisher.simulator.replaying.figures import Figures, figures, mixture

WHOLE = "population"
SMALLEST_EFFICIENCY = 0.01  # an oracle's 0 would make every geometric mean 0

Row = dict[str, Any]
Shares = Mapping[str, float] | None
"""Of the kinds of clients in a population (see `read_population`)."""

# Fields that `with_intervals` adds.
BOOTSTRAP = ("efficiency_geometric_mean", "efficiency_low", "efficiency_high")

# Columns of the tables: title, field, format. The last five: see `core.replay.measure`.
TABLE = (
    ("days", "days", ".0f"),
    ("updates", "updates", ".0f"),
    ("polls/day", "polls_per_day", ".1f"),
    ("delay", "delay_mean_minutes", ".1f"),
    ("median", "delay_median_minutes", ".1f"),
    ("p90", "delay_p90_minutes", ".0f"),
    ("missed", "missed_updates", ".1f"),
    ("kB/day", "kilobytes_per_day", ".0f"),
    ("cost", "cost", ".0f"),
    ("of fixed", "cost_of_fixed", ".3f"),
    ("efficiency", "efficiency", ".3f"),
    ("median=", "median_at_equal_polls", ".2f"),
    ("p90=", "p90_at_equal_polls", ".2f"),
)
SUMMARY = (
    ("timelines", "timelines", "d"),
    ("polls/day", "polls_per_day_median", ".1f"),
    ("delay", "delay_mean_minutes_median", ".1f"),
    ("missed", "missed_share", ".1%"),
    ("of fixed", "cost_geometric_mean", ".3f"),
    ("worst", "cost_worst", ".3f"),
    ("(which)", "worst_timeline", ""),
    ("lose", "losing", "d"),
    ("efficiency", "efficiency_geometric_mean", ".3f"),
    ("worst", "efficiency_worst", ".3f"),
    ("median=", "median_at_equal_polls", ".2f"),
    ("p90=", "p90_at_equal_polls", ".2f"),
)


def cost_of_fixed(row: Row) -> float | None:
    """The cost over that of the best fixed value; None without figures."""
    return row["cost"] / row["cost_of_best_fixed"] if row["cost"] is not None else None


def row(timeline: str, publisher: str, client: str, measured: Figures) -> Row:
    """One row of the output: names first, then all figures."""
    numbers = {name: round(value, 6) for name, value in asdict(measured).items()}
    return {"timeline": timeline, "publisher": publisher, "client": client, **numbers}


def blank_rows(
    timeline: str, publishers: Sequence[str], clients: Sequence[str], population: Shares
) -> list[Row]:
    """The rows of a timeline that cannot be scored: as `rows` gives them, without figures."""
    figures = dict.fromkeys(field.name for field in fields(Figures))
    kinds = [*clients, WHOLE] if population else clients
    return [
        {"timeline": timeline, "publisher": publisher, "client": client, **figures}
        for publisher in publishers
        for client in kinds
    ]


def rows(
    results: Sequence[Result],
    window: int,
    population: Shares = None,
    poll_minutes: float = POLL_MINUTES,
) -> list[Row]:
    """A row per result, and one for the whole `population` after its kinds."""
    lines: list[Row] = []
    kinds = len(population or ())
    for place, result in enumerate(results):
        measured = figures(result.tally, window, poll_minutes)
        lines.append(row(result.timeline, result.publisher, result.client, measured))
        if population and (place + 1) % kinds == 0:
            parts = [part.tally for part in results[place + 1 - kinds : place + 1]]
            mixed = mixture(list(population.values()), parts, window, poll_minutes)
            lines.append(row(result.timeline, result.publisher, WHOLE, mixed))
    return lines


def as_json(rows: Sequence[Row]) -> str:
    """A list of objects, one a line."""
    return "[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n"


def as_csv(rows: Sequence[Row]) -> str:
    """A header and a line per row."""
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        names = ("timeline", "publisher", "client")
        writer.writerows(row | {name: to_cell(row[name]) for name in names} for row in rows)
    return text.getvalue()


def as_table(rows: Sequence[Row]) -> str:
    """A table for people, delays in minutes; with a summary if there are several timelines, and the
    intervals of `with_intervals` if the rows have them."""
    sizes = [row["bytes_per_day"] for row in rows]
    sized = [
        {
            **row,
            "kilobytes_per_day": None if size is None else size / 1000,
            "cost_of_fixed": cost_of_fixed(row),
        }
        for row, size in zip(rows, sizes, strict=True)
    ]
    text = _columns(sized, ("timeline", "publisher", "client"), TABLE)
    if len({row["timeline"] for row in rows}) > 1:
        text += "\n" + as_summary(rows)
    if rows and "efficiency_low" in rows[0]:
        text += "\n" + as_intervals(rows)
    return text


def _columns(
    rows: Sequence[Row], names: Sequence[str], columns: Sequence[tuple[str, str, str]]
) -> str:
    """A table of the `names` and the formatted figures of each row."""
    lines = [
        [
            *(str(row[name]) for name in names),
            *("-" if row[field] is None else format(row[field], as_) for _, field, as_ in columns),
        ]
        for row in rows
    ]
    return aligned([[*names, *(title for title, _, _ in columns)], *lines], len(names))


def by_rule(rows: Sequence[Row]) -> dict[tuple[str, str], list[Row]]:
    """The rows with figures of each publisher and client, in the order of `rows`."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row["efficiency"] is not None:
            groups.setdefault((row["publisher"], row["client"]), []).append(row)
    return groups


def summary(rows: Sequence[Row]) -> list[Row]:
    """Figures over all timelines, for each publisher and client, in the order of `rows`."""
    return [
        {
            "publisher": publisher,
            "client": client,
            "timelines": len(group),
            "polls_per_day_median": median(row["polls_per_day"] for row in group),
            "delay_mean_minutes_median": median(row["delay_mean_minutes"] for row in group),
            "missed_share": sum(row["missed_updates"] for row in group)
            / (sum(row["updates"] for row in group) or 1),
            "efficiency_geometric_mean": geometric_mean(row["efficiency"] for row in group),
            "efficiency_worst": max(row["efficiency"] for row in group),
            "median_at_equal_polls": fmean(row["median_at_equal_polls"] for row in group),
            "p90_at_equal_polls": fmean(row["p90_at_equal_polls"] for row in group),
            "cost_geometric_mean": geometric_mean(costs),
            "cost_worst": max(costs),
            "losing": sum(cost > 1.0 for cost in costs),
            "worst_timeline": group[costs.index(max(costs))]["timeline"],
        }
        for (publisher, client), group in by_rule(rows).items()
        for costs in [[row["cost"] / row["cost_of_best_fixed"] for row in group]]
    ]


def geometric_mean(values: Iterable[float]) -> float:
    """Geometric mean of `values`; those below 0.01 count as 0.01."""
    return exp(fmean(log(max(value, SMALLEST_EFFICIENCY)) for value in values))


def as_summary(rows: Sequence[Row]) -> str:
    """The summary as a table."""
    title = "Over timelines: medians of polls and delay, geometric means of cost and efficiency\n"
    return title + _columns(summary(rows), ("publisher", "client"), SUMMARY)


def as_intervals(rows: Sequence[Row]) -> str:
    """A line per publisher and client: the geometric mean of the efficiency, its interval."""
    head = ["publisher", "client", "timelines", "efficiency", "95 % interval"]
    lines = []
    for (publisher, client), group in by_rule(rows).items():
        mean, low, high = (group[0][name] for name in BOOTSTRAP)
        ends = "-" if low is None else f"{low:.3f} to {high:.3f}"
        lines.append([publisher, client, str(len(group)), f"{mean:.3f}", ends])
    return "Bootstrap over timelines\n" + aligned([head, *lines], names=2)


def aligned(lines: Sequence[Sequence[str]], names: int) -> str:
    """Columns padded to their widest cell, the first `names` to the left."""
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    text = [
        "  ".join(
            cell.ljust(width) if place < names else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    return "\n".join(text) + "\n"


RESAMPLES = 10_000
MEASURES = ("efficiency", "polls_per_day", "delay_mean_minutes", "stale_share")
# With fewer the intervals are too narrow: where nothing differs, one in seven of six normal
# differences leaves out 1, one in thirteen of ten, one in sixteen of twenty.
ENOUGH_TIMELINES = 20
SMALLEST = {"efficiency": SMALLEST_EFFICIENCY}
TINY = 1e-9


def read_results(path: Path) -> list[Row]:
    """The rows that `simulate --format json` wrote; InvalidData for anything else."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        rows = None
    wanted = {"timeline", "publisher", "client", *MEASURES}
    if not isinstance(rows, list) or not rows:
        raise InvalidData(f"{path}: expected a list of results, as simulate --format json writes")
    for row in rows:
        if not isinstance(row, dict) or not wanted <= row.keys():
            raise InvalidData(f"{path}: a result needs {', '.join(sorted(wanted))}")
        figures = [row[name] for name in MEASURES]
        if any(figures) and not all(
            isinstance(figure, int | float) and 0 <= figure < float("inf") for figure in figures
        ):
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
    comparisons = []
    for own, other in pairs:
        names = [name for name in left[own] if name in right[other]]
        if names:
            ours = [left[own][name] for name in names]
            theirs = [right[other][name] for name in names]
            ratios = {measure: ratio(ours, theirs, measure, seed) for measure in MEASURES}
            comparisons.append(
                {"a": " ".join(own), "b": " ".join(other), "timelines": len(names)}
                | ratios
                | {"says": [says(*item) for item in ratios.items()]}
            )
    if not comparisons:
        raise InvalidData("the two results have no timeline under the same rules in common")
    return comparisons


def _by_rule(rows: Sequence[Row]) -> dict[tuple[str, str], dict[str, Row]]:
    return {rule: {row["timeline"]: row for row in group} for rule, group in by_rule(rows).items()}


def ratio(
    ours: Sequence[Row], theirs: Sequence[Row], measure: str, seed: int
) -> dict[str, float | bool | None]:
    """Geometric mean of theirs / ours with its 95 % interval (None for a single timeline), and
    whether that leaves out 1, so that the difference is beyond chance (None: too few timelines)."""
    floor = SMALLEST.get(measure, TINY)
    logs = [
        log(max(their[measure], floor)) - log(max(our[measure], floor))
        for their, our in zip(theirs, ours, strict=True)
    ]
    low, high = interval(logs, seed)
    beyond = None
    if low is not None and high is not None and len(logs) >= ENOUGH_TIMELINES:
        beyond = not low - TINY <= 1.0 <= high + TINY
    return {"ratio": exp(fmean(logs)), "low": low, "high": high, "beyond_chance": beyond}


def says(measure: str, figure: dict[str, Any]) -> str:
    """The comparison of one measure in a sentence."""
    name, change = measure.replace("_", " "), figure["ratio"] - 1.0
    sentence = f"{name}: B has {abs(change):.1%} {'less' if change < 0 else 'more'} than A"
    if abs(change) < 0.0005:
        sentence = f"{name}: B has as much as A"
    if figure["beyond_chance"] is None:
        return f"{sentence}; with fewer than {ENOUGH_TIMELINES} timelines this may be chance."
    if not figure["beyond_chance"]:
        return f"{name}: no difference beyond chance ({_cell(figure)})."
    return f"{sentence}, beyond chance ({_cell(figure)})."


def compared_table(comparisons: Sequence[dict[str, Any]]) -> str:
    """The comparison as a table of B / A; below 1 means that B has less."""
    head = ["A", "B", "timelines", *(f"{measure} B/A" for measure in MEASURES)]
    lines = [
        [
            comparison["a"],
            comparison["b"],
            str(comparison["timelines"]),
            *(_cell(comparison[name]) for name in MEASURES),
        ]
        for comparison in comparisons
    ]
    sentences = "".join(
        f"\n{comparison['a']} -> {comparison['b']}\n"
        + "".join(f"  {sentence}\n" for sentence in comparison["says"])
        for comparison in comparisons
    )
    return aligned([head, *lines], names=2) + sentences


def _cell(figure: dict[str, Any]) -> str:
    if figure["low"] is None:
        return f"{figure['ratio']:.3f}"
    return f"{figure['ratio']:.3f} ({figure['low']:.3f} to {figure['high']:.3f})"


def interval(logs: Sequence[float], seed: int) -> tuple[float | None, float | None]:
    """The 95 % percentile interval of ``exp(mean)``, resampling `logs` with replacement; None for
    fewer than two."""
    if len(logs) < 2:
        return None, None
    import numpy as np

    rng = np.random.default_rng(seed)
    picks = rng.integers(0, len(logs), (RESAMPLES, len(logs)))
    low, high = np.quantile(np.array(logs)[picks].mean(axis=1), (0.025, 0.975))
    return float(np.exp(low)), float(np.exp(high))


def with_intervals(rows: Sequence[Row], seed: int) -> list[Row]:
    """The rows, each with the geometric mean of the efficiency of its publisher and client over all
    timelines (`efficiency_geometric_mean`) and its interval (`efficiency_low`, `efficiency_high`).
    """
    intervals: dict[tuple[str, str], Row] = {}
    for rule, group in by_rule(rows).items():
        logs = [log(max(row["efficiency"], SMALLEST_EFFICIENCY)) for row in group]
        ends = (exp(fmean(logs)), *interval(logs, seed))
        intervals[rule] = dict(zip(BOOTSTRAP, map(_rounded, ends), strict=True))
    blank: Row = dict.fromkeys(BOOTSTRAP)
    return [row | intervals.get((row["publisher"], row["client"]), blank) for row in rows]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
