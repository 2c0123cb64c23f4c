"""Results as a table, JSON or CSV, and the summary over timelines."""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from statistics import median
from typing import Any

import numpy as np

from publisher.simulator.grid import Result

FORMATS = ("table", "json", "csv")
SMALLEST_EFFICIENCY = 0.01  # an oracle's 0 would make every geometric mean 0

Row = dict[str, Any]

# Column of the table, field, digits after the point.
TABLE = (
    ("days", "days", 0),
    ("updates", "updates", 0),
    ("polls/day", "polls_per_day", 1),
    ("polls/upd", "polls_per_update", 2),
    ("hit", "hit_rate", 3),
    ("delay", "delay_mean_minutes", 1),
    ("median", "delay_median_minutes", 1),
    ("p95", "delay_p95_minutes", 0),
    ("stale", "stale_share", 3),
    ("missed", "missed_updates", 1),
    ("pending", "pending", 1),
    ("kB/day", "bytes_per_day", 0),
    ("efficiency", "efficiency", 3),
)


def row(result: Result) -> Row:
    """One line of the output: names first, then all figures."""
    numbers = {name: round(value, 6) for name, value in asdict(result.figures).items()}
    return {
        "timeline": result.timeline,
        "publisher": result.publisher,
        "client": result.client,
        **numbers,
    }


def as_json(rows: Sequence[Row]) -> str:
    """A list of objects, one a line."""
    return "[\n" + ",\n".join(json.dumps(one) for one in rows) + "\n]\n"


def as_csv(rows: Sequence[Row]) -> str:
    """A header and a line per row."""
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return text.getvalue()


def as_table(rows: Sequence[Row]) -> str:
    """What people read, delays in minutes; the summary below where there are several timelines."""
    head = ["timeline", "publisher", "client", *(title for title, _, _ in TABLE)]
    lines = [[str(one[name]) for name in head[:3]] + _cells(one) for one in rows]
    text = _aligned([head, *lines], names=3)
    if len({one["timeline"] for one in rows}) > 1:
        text += "\n" + as_summary(rows)
    return text


def _cells(one: Row) -> list[str]:
    values = {**one, "bytes_per_day": one["bytes_per_day"] / 1000}
    return [f"{values[field]:.{digits}f}" for _, field, digits in TABLE]


def summary(rows: Sequence[Row]) -> list[Row]:
    """Over timelines, for each publisher with each client, in the order of `rows`."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for one in rows:
        groups.setdefault((one["publisher"], one["client"]), []).append(one)
    return [
        {
            "publisher": publisher,
            "client": client,
            "timelines": len(group),
            "polls_per_day_median": median(one["polls_per_day"] for one in group),
            "delay_mean_minutes_median": median(one["delay_mean_minutes"] for one in group),
            "efficiency_geometric_mean": geometric_mean(one["efficiency"] for one in group),
            "efficiency_median": median(one["efficiency"] for one in group),
            "efficiency_worst": max(one["efficiency"] for one in group),
            "worst_timeline": max(group, key=lambda one: float(one["efficiency"]))["timeline"],
        }
        for (publisher, client), group in groups.items()
    ]


def geometric_mean(values: Iterable[float]) -> float:
    """Of `values`, those below 0.01 counted as 0.01."""
    floored = np.maximum(np.fromiter(values, float), SMALLEST_EFFICIENCY)
    return float(np.exp(np.log(floored).mean()))


def as_summary(rows: Sequence[Row]) -> str:
    """The summary as a table."""
    head = ["publisher", "client", "timelines", "polls/day", "delay", "efficiency", "median",
            "worst", "(which)"]  # fmt: skip
    lines = [
        [
            one["publisher"],
            one["client"],
            str(one["timelines"]),
            f"{one['polls_per_day_median']:.1f}",
            f"{one['delay_mean_minutes_median']:.1f}",
            f"{one['efficiency_geometric_mean']:.3f}",
            f"{one['efficiency_median']:.3f}",
            f"{one['efficiency_worst']:.3f}",
            one["worst_timeline"],
        ]
        for one in summary(rows)
    ]
    title = "Over timelines: medians of polls and delay, geometric mean of efficiency\n"
    return title + _aligned([head, *lines], names=2)


def _aligned(lines: Sequence[Sequence[str]], names: int) -> str:
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    text = [
        "  ".join(
            cell.ljust(width) if place < names else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    return "\n".join(text) + "\n"
