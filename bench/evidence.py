"""The figures and pictures of docs/evidence.md: `python -m bench.evidence [FOLDER]`.

Replays every timeline of FOLDER (default: `shared/timelines` beside the checkout), at most its last
1500 days, under each publisher with an obedient client, through the simulator; writes
docs/evidence-tables.md, docs/evidence-frontier.svg and docs/evidence-timelines.svg.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from bench.simulator import CORES, TIMELINES
from publisher.errors import InvalidData
from publisher.simulator import plots, report
from publisher.simulator.grid import Plan, run, tasks
from publisher.simulator.timelines import SIDE_TABLES, Timeline, cut, read_timeline

DOCS = Path(__file__).parents[1] / "docs"
LAST_DAYS = 1500
DEFAULT, ANY = "forward", "forward:menu=any"
COMPARED = (
    DEFAULT, f"{DEFAULT}:planner=look-ahead", f"{DEFAULT}:profile=day",
    ANY, f"{ANY},profile=week", f"{ANY},profile=day",
    "fixed:60", "warm-up", "winer-constant",
)  # fmt: skip
KNOB = (2, 50)
Efficiencies = dict[str, dict[str, float]]  # by publisher, then by timeline


def timelines(folder: Path) -> list[Timeline]:
    """All of the folder, cut to their last days."""
    paths = sorted(path for path in folder.glob("*.csv") if path.name not in SIDE_TABLES)
    return [cut(read_timeline(path), last_days=LAST_DAYS) for path in paths]


def measure(sources: Sequence[Timeline], publishers: Sequence[str]) -> list[report.Row]:
    """A row per timeline and publisher."""
    plan = Plan()
    found = [row for batch in run(tasks(sources, publishers), plan, CORES) for row in batch]
    return report.rows(found, plan.window)


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


def draw(rows: Sequence[report.Row]) -> None:
    """The frontier, and the efficiency of each timeline."""
    table = efficiencies(rows)
    named = [row | {"publisher": _curve(row["publisher"])} for row in rows]
    with rc_context(plots.STYLE):
        figure = Figure(figsize=(6, 4.5), layout="constrained")
        plots.frontier(figure.add_subplot(), [row for row in named if row["publisher"]])
        figure.savefig(DOCS / "evidence-frontier.svg", metadata={"Date": None})
        figure = Figure(figsize=(7, 8), layout="constrained")
        axes = figure.add_subplot()
        names = sorted(table[DEFAULT], key=lambda name: table[DEFAULT][name])
        for place, publisher in enumerate((DEFAULT, ANY)):
            axes.plot(
                [table[publisher][name] for name in names], names, linestyle="none",
                marker=plots.MARKERS[place], color=plots.COLOURS[place], label=publisher,
            )  # fmt: skip
        axes.axvline(1.0, color=plots.SOFT, label="any fixed interval")
        axes.set(xscale="log", xlabel="efficiency: delay x polls a day / 720 (lower is better)")
        axes.legend(loc="lower right")
        figure.savefig(DOCS / "evidence-timelines.svg", metadata={"Date": None})


def _curve(publisher: str) -> str:
    """Specs of one curve begin alike; what is no part of the picture has no name."""
    knob = publisher.rpartition("poll-minutes=")[2]
    if publisher.startswith(ANY) and "profile" not in publisher:
        return f"menu any:{knob}"
    if publisher == DEFAULT or publisher.startswith(f"{DEFAULT}:poll"):
        return f"menu 15/60/480:{knob}"
    return publisher if publisher in {"warm-up", "winer-constant"} else ""


def main() -> int:
    """Measure, write, draw."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else TIMELINES
    if not folder.is_dir():
        print(f"evidence: no folder {os.fspath(folder)!r}", file=sys.stderr)
        return 1
    sources = timelines(folder)
    knob = [f"{DEFAULT}:poll-minutes={minutes}" for minutes in KNOB]
    knob += [f"{ANY},poll-minutes={minutes}" for minutes in KNOB]
    rows = measure(sources, [*COMPARED, *knob])
    parts = [efficiencies(measure(part, (DEFAULT, ANY))) for part in halves(sources)]
    write_tables(rows, parts)
    draw(rows)
    print((DOCS / "evidence-tables.md").read_text("utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
