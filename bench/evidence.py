"""The figures and pictures of docs/evidence.md: `python -m bench.evidence [FOLDER]`.

Replays every timeline of FOLDER (default: `shared/timelines` beside the checkout), at most its last
1500 days, and synthetic blogs: under each publisher, with clients that obey what the feed says and
with real readers. Writes docs/evidence-tables.md and docs/pictures/evidence-*.svg.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from bench import evidence_pictures
from bench.simulator import CORES, TIMELINES
from bench.table import Table
from publisher.base.errors import InvalidData
from publisher.simulator import results as report
from publisher.simulator.grid import ReplayOptions, Result, run, tasks
from publisher.simulator.replaying import counted
from publisher.simulator.synthetic import parse_synthetic, shards
from publisher.simulator.timelines import (
    DAY,
    SIDE_TABLES,
    Timeline,
    cut,
    read_timeline,
    score_days,
)

DOCS = Path(__file__).parents[1] / "docs"
LAST_DAYS = 1500
DEFAULT = "forward"
EVEN, ANY = "forward:menu=15/45/135/405/1215", "forward:menu=any"
OBEDIENT = ("max-age", "ttl")
COMPARED = (
    EVEN, ANY, "fixed:60", "winer", "warm-up", "winer-constant",
)  # fmt: skip
KNOB = (2, 5, 20, 50)
FIXED_HOUR = "fixed:60"
READERS = (
    "miniflux", "freshrss", "commafeed", "netnewswire", "lemon24-reader", "feed2exec",
    "lion-reader",
)  # fmt: skip
DEAF = ("fixed:60", "fixed:30")  # newsboat-like, Feedly-like
CRON = ("cron:15", "cron:30", "cron:15,hint=ttl")
RATES = (0.1, 0.3, 1.0, 3.0, 10.0, 32.0)
EXAMPLE = "scripting-news-2017-2021"
Rows = list[report.Row]


def timelines(folder: Path) -> list[Timeline]:
    """All timelines of the folder, each cut to its last 1,500 days."""
    paths = sorted(path for path in folder.glob("*.csv") if path.name not in SIDE_TABLES)
    return [cut(read_timeline(path), last_days=LAST_DAYS) for path in paths]


def replayed(
    sources: Sequence[Timeline], publishers: Sequence[str], options: ReplayOptions
) -> list[Result]:
    """A result per timeline, publisher and client."""
    return [result for found in run(tasks(sources, publishers), options, CORES) for result in found]


def with_bodies(results: Sequence[Result], window: int) -> Rows:
    """A row per result, with `bodies_per_day` added: answers that carry the document (200)."""
    lines = report.rows(results, window)
    for line, result in zip(lines, results, strict=True):
        line["bodies_per_day"] = result.tally.counts[counted.FULL] / (result.tally.seconds / DAY)
    return lines


def of(rows: Rows, publisher: str, client: str, figure: str = "efficiency") -> list[float]:
    """One figure for each timeline, in the order of the rows."""
    return [
        float(row[figure])
        for row in rows
        if row["publisher"] == publisher and row["client"] == client
    ]


def judged(values: Sequence[float]) -> tuple[str, str]:
    """Geometric mean with its 90 % bootstrap interval over timelines, and the largest value."""
    rng = np.random.default_rng(0)
    logs = np.log(np.maximum(values, report.SMALLEST_EFFICIENCY))
    means = np.exp(rng.choice(logs, (2000, len(logs))).mean(axis=1))
    low, high = np.quantile(means, (0.05, 0.95))
    mean = f"**{report.geometric_mean(values):.3f}** ({low:.3f} to {high:.3f})"
    return mean, f"{max(values):.3f}"


def decisions(rows: Rows) -> Table:
    """Each publisher, read by clients that obey the headers (max-age) or the element (ttl)."""
    head = ["publisher", "readers obey", "polls a day", "delay, min",
            "efficiency (90 % interval)", "worst timeline"]  # fmt: skip
    table = Table("Decisions", head, notes=(
        "Polls and delay: medians over the timelines; efficiency: geometric mean, with a bootstrap"
        " interval over timelines."
    ))  # fmt: skip
    for publisher, client in dict.fromkeys((row["publisher"], row["client"]) for row in rows):
        if client in OBEDIENT and (publisher != FIXED_HOUR or client == "ttl"):
            polls = np.median(of(rows, publisher, client, "polls_per_day"))
            delay = np.median(of(rows, publisher, client, "delay_mean_minutes"))
            mean, worst = judged(of(rows, publisher, client))
            table.add(f"`{publisher}`", client, f"{polls:.1f}", f"{delay:.0f}", mean, worst)
    return table


def real_readers(rows: Rows) -> Table:
    """Each reader at the default, compared with the same reader at a constant ttl of 60."""
    head = ["reader", "efficiency", "ratio to ttl 60", "timelines 5 % worse", "worst ratio",
            "polls a day", "bodies a day (ttl 60)"]  # fmt: skip
    table = Table("Real readers", head, notes=(
        "The default, compared with the same reader at a feed whose ttl is always 60 (ttl 60)."
        " Bodies: answers with the document (in brackets at ttl 60). All are geometric means over"
        " timelines."
    ))  # fmt: skip
    every: list[float] = []
    pairs: list[float] = []
    for client in (*READERS, *CRON, *DEAF):
        ours, theirs = of(rows, DEFAULT, client), of(rows, FIXED_HOUR, client)
        ratios = [one / other for one, other in zip(ours, theirs, strict=True)]
        if client in READERS:
            every += ours
            pairs += ratios
        polls, bodies, before = (
            report.geometric_mean(of(rows, publisher, client, figure))
            for publisher, figure in (
                (DEFAULT, "polls_per_day"),
                (DEFAULT, "bodies_per_day"),
                (FIXED_HOUR, "bodies_per_day"),
            )
        )
        table.add(
            f"`{client}`", f"{report.geometric_mean(ours):.3f}",
            f"{report.geometric_mean(ratios):.3f}", str(sum(one > 1.05 for one in ratios)),
            f"{max(ratios):.2f}", f"{polls:.1f}", f"{bodies:.1f} ({before:.1f})",
        )  # fmt: skip
    table.add("**the seven named programs**", f"**{report.geometric_mean(every):.3f}**",
              f"{report.geometric_mean(pairs):.3f}",
              f"{sum(one > 1.05 for one in pairs)} of {len(pairs)}", f"{max(pairs):.2f}",
              "", "")  # fmt: skip
    return table


def first_days(sources: Sequence[Timeline]) -> Table:
    """Days 0 to 7 and 7 to 30 after the first update, each scored alone."""
    head = ["days", "readers obey", "efficiency (90 % interval)", "worst timeline", "timelines"]
    table = Table("The first days", head, notes="Days after the first update; each reader's first"
                  " poll lies within the first hour.")  # fmt: skip
    for first, last in ((0, 7), (7, 30)):
        rows: Rows = []
        for source in sources:
            try:
                part = score_days(source, first, last)
                options = ReplayOptions(OBEDIENT, within=3600)
                rows += report.rows(replayed([part], [DEFAULT], options), options.window)
            except InvalidData:
                continue  # nothing was posted in these days
        for client in OBEDIENT:
            values = of(rows, DEFAULT, client)
            table.add(f"{first} to {last}", client, *judged(values), str(len(values)))
    return table


def made_up() -> Table:
    """Flat blogs (Poisson at a constant rate), and authors whose hours move by six hours."""
    head = ["blog", "readers obey the headers", "readers obey the element"]
    table = Table("Synthetic blogs", head, notes=(
        "Efficiency, geometric means: of six flat blogs (Poisson) at each rate, and of eight"
        " authors who post three times a day within three hours and move these by six hours after"
        " 200 days; days count from the move."
    ))  # fmt: skip
    options = ReplayOptions(OBEDIENT, phases=4)
    for rate in RATES:
        days = 400 if rate >= 1 else 1000
        kind = parse_synthetic(f"poisson:rate={rate}")
        rows = report.rows(
            replayed(shards(kind, 6, days, "UTC", 5)[0].timelines(), [DEFAULT], options),
            options.window,
        )
        table.add(f"flat, {rate:g} updates a day", *_means(rows))
    for first, last in ((0, 7), (8, 30), (31, 90)):
        rows = report.rows(
            replayed(list(moved_authors(first, last)), [DEFAULT], options), options.window
        )
        table.add(f"moved by six hours, days {first} to {last}", *_means(rows))
    return table


def _means(rows: Rows) -> list[str]:
    return [f"{report.geometric_mean(of(rows, DEFAULT, client)):.2f}" for client in OBEDIENT]


def moved_authors(first: int, last: int) -> Iterator[Timeline]:
    """Eight authors who move on day 200; only days `first` to `last` after it are scored."""
    begin = 1_672_531_200
    moved = begin + 200 * DAY
    for seed in range(8):
        rng = np.random.default_rng(seed)
        days = np.repeat(np.arange(300), 3)
        hours = np.where(days < 200, 9, 15)
        times = np.unique(begin + days * DAY + hours * 3600 + rng.integers(0, 10_800, len(days)))
        end = moved + (last + 1) * DAY
        times = times[times < end].tolist()
        yield Timeline(f"author {seed}", times, times[0], end, scored_from=moved + first * DAY)


def each_timeline(rows: Rows) -> Table:
    """The efficiency of each timeline with the default and with two other menus."""
    shown = [(DEFAULT, "max-age"), (DEFAULT, "ttl"), (EVEN, "ttl"), (ANY, "ttl")]
    table = Table("Each timeline", ["timeline", *(f"`{name}` {who}" for name, who in shown)])
    names = list(dict.fromkeys(row["timeline"] for row in rows))
    for name, *values in zip(names, *(of(rows, *pair) for pair in shown), strict=True):
        table.add(name, *(f"{value:.3f}" for value in values))
    return table


def main() -> int:
    """Replay everything, write the tables, draw the pictures; 1 if there is no such folder."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else TIMELINES
    if not folder.is_dir():
        print(f"evidence: no folder {os.fspath(folder)!r}", file=sys.stderr)
        return 1
    sources = timelines(folder)
    clients = (*OBEDIENT, *READERS, *CRON, *DEAF)
    knob = [f"{DEFAULT}:poll-minutes={minutes}" for minutes in KNOB]
    results = replayed(sources, [DEFAULT, FIXED_HOUR], ReplayOptions(clients))
    others = [name for name in COMPARED if name != FIXED_HOUR]
    results += replayed(sources, [*others, *knob], ReplayOptions(OBEDIENT))
    rows = with_bodies(results, ReplayOptions().window)
    tables = [decisions(rows), real_readers(rows), first_days(sources), made_up()]
    origin = "Printed by `python -m bench.evidence`."
    text = "\n".join(
        ["# Evidence: the tables", "", origin, "", *map(str, [*tables, each_timeline(rows)])]
    )
    (DOCS / "evidence-tables.md").write_text(text, "utf-8")
    evidence_pictures.draw(sources, rows, EXAMPLE)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
