"""The figures and pictures of docs/evidence.md: `python -m bench.evidence [FOLDER]`.

Replays every timeline of FOLDER (default: `shared/timelines` beside the checkout), at most its last
1500 days, under each publisher with an obedient client, and under the default one with clients of
every kind; writes docs/evidence-tables.md and docs/pictures/evidence-*.svg.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench import evidence_pictures
from bench.simulator import CORES, TIMELINES
from publisher.base.errors import InvalidData
from publisher.simulator import results as report
from publisher.simulator.grid import ReplayOptions, Result, run, tasks
from publisher.simulator.timelines import SIDE_TABLES, Timeline, cut, read_timeline

DOCS = Path(__file__).parents[1] / "docs"
LAST_DAYS = 1500
DEFAULT, ANY = "forward", "forward:menu=any"
COMPARED = (
    DEFAULT, f"{DEFAULT}:planner=look-ahead", f"{DEFAULT}:profile=day",
    ANY, f"{ANY},profile=week", f"{ANY},profile=day",
    "fixed:15", "fixed:60", "fixed:480", "warm-up", "winer-constant",
)  # fmt: skip
KNOB = (2, 5, 20, 50)
CLIENTS = (
    "fixed:30", "fixed:60", "fixed:120", "fixed:480", "ttl", "miniflux", "doubling",
    "doubling:factor=1.25", "adaptive", "weekly-average", "delay-skip", "histogram:poll-minutes=3",
    "histogram", "histogram:poll-minutes=30",
)  # fmt: skip
EXAMPLE = "scripting-news-2017-2021"
Efficiencies = dict[str, dict[str, float]]  # by publisher, then by timeline


def timelines(folder: Path) -> list[Timeline]:
    """All of the folder, cut to their last days."""
    paths = sorted(path for path in folder.glob("*.csv") if path.name not in SIDE_TABLES)
    return [cut(read_timeline(path), last_days=LAST_DAYS) for path in paths]


def replayed(
    sources: Sequence[Timeline], publishers: Sequence[str], clients: tuple[str, ...] = ("ttl",)
) -> list[Result]:
    """A result per timeline, publisher and client."""
    work = tasks(sources, publishers)
    return [result for found in run(work, ReplayOptions(clients), CORES) for result in found]


def measure(
    sources: Sequence[Timeline], publishers: Sequence[str], clients: tuple[str, ...] = ("ttl",)
) -> list[report.Row]:
    """A row per timeline, publisher and client."""
    return report.rows(replayed(sources, publishers, clients), ReplayOptions().window)


def efficiencies(rows: Sequence[report.Row]) -> Efficiencies:
    """The measure alone."""
    table: Efficiencies = {}
    for row in rows:
        table.setdefault(row["publisher"], {})[row["timeline"]] = row["efficiency"]
    return table


def halves(sources: Sequence[Timeline]) -> list[list[Timeline]]:
    """The first and the second half of each timeline, as if the other did not exist."""
    parts: list[list[Timeline]] = [[], []]
    for source in sources:
        middle = (source.start + source.end) // 2
        for part, (begin, end) in zip(parts, ((None, middle), (middle, None)), strict=True):
            try:
                piece = cut(source, begin, end)
                measure([piece], ["fixed:480"])
                part.append(piece)
            except InvalidData:
                print(f"half of {source.name} left out: nothing to score", file=sys.stderr)
    return parts


def interval(values: Sequence[float]) -> str:
    """90 % of the geometric means of timelines drawn anew, 2,000 times."""
    rng = np.random.default_rng(0)
    logs = np.log(np.maximum(values, report.SMALLEST_EFFICIENCY))
    means = np.exp(rng.choice(logs, (2000, len(logs))).mean(axis=1))
    return f"{np.quantile(means, 0.05):.3f} to {np.quantile(means, 0.95):.3f}"


def write_tables(rows: Sequence[report.Row], parts: Sequence[Efficiencies]) -> None:
    """docs/evidence-tables.md."""
    table = efficiencies(rows)
    lines = ["# Evidence: the tables", "", "Written by `python -m bench.evidence`.", ""]
    head = ["publisher", "polls/day", "delay", "efficiency", "90 %", "median", "worst"]
    lines += ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for publisher, values in table.items():
        own = [row for row in rows if row["publisher"] == publisher]
        polls, delay = (
            float(np.median([row[name] for row in own]))
            for name in ("polls_per_day", "delay_mean_minutes")
        )
        numbers = list(values.values())
        cells = [f"`{publisher}`", f"{polls:.1f}", f"{delay:.0f}",
                 f"**{report.geometric_mean(numbers):.3f}**", interval(numbers),
                 f"{np.median(numbers):.3f}", f"{max(numbers):.3f}"]  # fmt: skip
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", "Each half of each timeline on its own (geometric mean, worst):", ""]
    for name, part in zip(("first", "second"), parts, strict=True):
        for publisher, values in part.items():
            numbers = list(values.values())
            mean = report.geometric_mean(numbers)
            lines.append(f"- {name} half, `{publisher}`: {mean:.3f}, {max(numbers):.3f}")
    shown = COMPARED[:6]
    lines += ["", "| timeline | " + " | ".join(f"`{name}`" for name in shown) + " |"]
    lines.append("|" + "---|" * (len(shown) + 1))
    for timeline in table[DEFAULT]:
        cells = [timeline, *(f"{table[name][timeline]:.3f}" for name in shown)]
        lines.append("| " + " | ".join(cells) + " |")
    (DOCS / "evidence-tables.md").write_text("\n".join(lines) + "\n", "utf-8")


def main() -> int:
    """Measure, write, draw."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else TIMELINES
    if not folder.is_dir():
        print(f"evidence: no folder {os.fspath(folder)!r}", file=sys.stderr)
        return 1
    sources = timelines(folder)
    knob = [f"{DEFAULT}:poll-minutes={minutes}" for minutes in KNOB]
    knob += [f"{ANY},poll-minutes={minutes}" for minutes in KNOB]
    results = replayed(sources, [*COMPARED, *knob])
    rows = report.rows(results, ReplayOptions().window)
    policies = measure(sources, [DEFAULT], CLIENTS)
    parts = [efficiencies(measure(part, (DEFAULT, ANY))) for part in halves(sources)]
    write_tables(rows, parts)
    evidence_pictures.draw(sources, rows, results, policies, EXAMPLE)
    print((DOCS / "evidence-tables.md").read_text("utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
