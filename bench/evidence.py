"""The figures and pictures of docs/evidence.md: `python -m bench.evidence [--look] [FOLDER]`.

Replays every timeline of FOLDER (default: `shared/timelines` beside the checkout), at most its last
1500 days, the half `tuning` of the second set, and synthetic blogs: under each publisher, with
clients that obey what the feed says and with real readers. Writes the table and the sentence of
docs/evidence.md, the other tables into docs/evidence-tables.md, the figures of docs/for-readers.md
and docs/pictures/evidence-*.svg. With --look the half `unseen` is scored, too: write each look down
in bench/looks.csv. Without it the rows of the last look stay.
"""

import csv
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench import evidence_pictures
from bench.simulator import CORES, TIMELINES
from bench.table import Table
from publisher.base.errors import InvalidData
from publisher.dynamic_ttl.core.ttl.rule import POLL_MINUTES
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
UNSEEN = "unseen"
SECOND = Path(__file__).parent / "timelines"
OTHER_TABLES = (*SIDE_TABLES, "rules.csv")
DEFAULT = "forward"
EVEN, ANY = "forward:menu=15/45/135/405/1215", "forward:menu=any"
OBEDIENT = ("max-age", "ttl")
WHO = {"max-age": "the headers", "ttl": "the element"}
SAME_FOR_BOTH = ("fixed:60", "winer", "warm-up", "winer-constant")
QUANTILES = ("median", "p90")
KNOB = tuple(f"{DEFAULT}:poll-minutes={minutes}" for minutes in (2, 5, 20, 50))
MEASURED = (DEFAULT, *KNOB, ANY, "winer")
SHOWN = (DEFAULT, ANY, "winer")  # on the page; the others only in the tables
COMPARED = (EVEN, "fixed:60", "warm-up", "winer-constant")
FIXED_HOUR = "fixed:60"
READERS = (
    "miniflux", "freshrss", "commafeed", "netnewswire", "lemon24-reader", "feed2exec",
    "lion-reader",
)  # fmt: skip
DEAF = ("fixed:60", "fixed:30")  # newsboat-like, Feedly-like
CRON = ("cron:15", "cron:30", "cron:15,hint=ttl")
# What each program would be like with one small change.
CHANGED = {
    "miniflux": "max-age:floor=60", "freshrss": "cron:30", "commafeed": "max-age",
    "netnewswire": "cron:30", "lemon24-reader": "cron:15", "feed2exec": "max-age",
    "lion-reader": "max-age",
}  # fmt: skip
RATES = (0.1, 0.3, 1.0, 3.0, 10.0, 32.0)
EXAMPLE = "scripting-news-2017-2021"
Rows = list[report.Row]


def timelines(folder: Path, half: str = "") -> list[Timeline]:
    """All timelines of the folder, or those of a `half` in its index, each cut to its last 1,500
    days."""
    paths = sorted(path for path in folder.glob("*.csv") if path.name not in OTHER_TABLES)
    if half:
        with (folder / "index.csv").open(encoding="utf-8", newline="") as file:
            slugs = {row["slug"] for row in csv.DictReader(file) if row["half"] == half}
        paths = [path for path in paths if path.stem in slugs]
    return [cut(read_timeline(path), last_days=LAST_DAYS) for path in paths]


def replayed(
    sources: Sequence[Timeline], publishers: Sequence[str], options: ReplayOptions
) -> list[Result]:
    """A result per timeline, publisher and client."""
    return [
        result for results in run(tasks(sources, publishers), options, CORES) for result in results
    ]


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


def worth_of(publisher: str) -> float:
    """What a poll is worth by the publisher's own setting, in minutes."""
    _, known, minutes = publisher.partition("poll-minutes=")
    return float(minutes.partition(",")[0]) if known else POLL_MINUTES


COSTS = ("timelines", "publisher", "readers obey", "cost (90 % interval)", "worst", "dearer",
         "efficiency, worst", "median", "p90", "changes a day, most")  # fmt: skip
COST_NOTES = (
    "Cost: visits, each worth what the owner said, and minutes of waiting, over those of the best"
    " of fixed 15, 60 and 480 that hindsight finds for the blog; geometric mean, worst, and on how"
    " many blogs it is dearer (above 1.00). Efficiency, median and 90th percentile of the waiting:"
    " over those of a fixed interval with as many visits, means over blogs. Changes: documents that"
    " only change the ttl, median blog and most."
)


def costs(table: Table, name: str, rows: Rows) -> None:
    """Add a row to `table` for each publisher and kind of readers of the set `name`."""
    pairs = dict.fromkeys((row["publisher"], row["client"]) for row in rows)
    for publisher, client in pairs:
        own = [row for row in rows if (row["publisher"], row["client"]) == (publisher, client)]
        if client not in OBEDIENT or (publisher in SAME_FOR_BOTH and client != "ttl"):
            continue
        ratios = [float(report.cost_of_fixed(row) or 0.0) for row in own]
        efficiency = [row["efficiency"] for row in own]
        changes = [row["changes_per_day"] for row in own]
        spread = (
            np.mean([row[f"{quantile}_at_equal_polls"] for row in own]) for quantile in QUANTILES
        )
        table.add(
            f"{name}, {len(own)}", f"`{publisher}`", WHO[client], *judged(ratios),
            str(sum(ratio > 1.0 for ratio in ratios)),
            f"{report.geometric_mean(efficiency):.3f}, {max(efficiency):.2f}",
            *(f"{mean:.2f}" for mean in spread), f"{np.median(changes):.1f}, {max(changes):.1f}",
        )  # fmt: skip


def by_worth(results: Sequence[Result], window: int) -> Rows:
    """A row per result, its cost by the worth of a poll in its publisher's settings."""
    return [
        row
        for result in results
        for row in report.rows([result], window, None, worth_of(result.publisher))
    ]


def real_readers(rows: Rows) -> tuple[Table, str]:
    """Each reader at the default, compared with the same reader at a constant ttl of 60; what it
    comes to for the named programs, as a sentence."""
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
        ratios = [own / other for own, other in zip(ours, theirs, strict=True)]
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
            f"{report.geometric_mean(ratios):.3f}", str(sum(ratio > 1.05 for ratio in ratios)),
            f"{max(ratios):.2f}", f"{polls:.1f}", f"{bodies:.1f} ({before:.1f})",
        )  # fmt: skip
    return table, (
        f"The seven named programs together: efficiency {report.geometric_mean(every):.3f}, that is"
        f" {report.geometric_mean(pairs):.3f} of what it is at a feed whose ttl is always 60; 5 %"
        f" worse are {sum(p > 1.05 for p in pairs)} of {len(pairs)} pairs of program and blog,"
        f" the worst {max(pairs):.2f}."
    )


def first_days(sources: Sequence[Timeline]) -> Table:
    """Days 0 to 7 and 7 to 30 after the first update, each scored alone."""
    head = ["days", "readers obey", "cost (90 % interval)", "worst", "efficiency, worst",
            "timelines"]  # fmt: skip
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
            own = [row for row in rows if row["client"] == client]
            costs = [float(report.cost_of_fixed(row) or 0.0) for row in own]
            values = of(rows, DEFAULT, client)
            table.add(
                f"{first} to {last}", WHO[client], *judged(costs),
                f"{report.geometric_mean(values):.3f}, {max(values):.2f}", str(len(values)),
            )  # fmt: skip
    return table


def made_up() -> Table:
    """Flat blogs (Poisson at a constant rate), and authors whose hours move by six hours."""
    head = ["blog", "readers obey the headers", "readers obey the element"]
    table = Table("Synthetic blogs", head, notes=(
        "Cost, efficiency, geometric means: of six flat blogs (Poisson) at each rate, and of eight"
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
    for row in rows:
        row["cost_of_fixed"] = report.cost_of_fixed(row)
    kinds = ("cost_of_fixed", "efficiency")
    return [
        ", ".join(f"{report.geometric_mean(of(rows, DEFAULT, who, kind)):.2f}" for kind in kinds)
        for who in OBEDIENT
    ]


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
    """The cost of each timeline with the default and with two other menus."""
    shown = [(DEFAULT, "max-age"), (DEFAULT, "ttl"), (EVEN, "ttl"), (ANY, "ttl")]
    table = Table("Each timeline", ["timeline", *(f"`{name}` {who}" for name, who in shown)],
                  notes="Cost over that of the best fixed value.")  # fmt: skip
    names = list(dict.fromkeys(row["timeline"] for row in rows))
    for row in rows:
        row["cost_of_fixed"] = report.cost_of_fixed(row)
    found = (of(rows, *pair, "cost_of_fixed") for pair in shown)
    for name, *values in zip(names, *found, strict=True):
        table.add(name, *(f"{value:.3f}" for value in values))
    return table


def main() -> int:
    """Replay everything, write the tables, draw the pictures; 1 if there is no such folder."""
    asked = [name for name in sys.argv[1:] if name != "--look"]
    folder = Path(asked[0]) if asked else TIMELINES
    if not folder.is_dir():
        print(f"evidence: no folder {os.fspath(folder)!r}", file=sys.stderr)
        return 1
    table = Table("Readers that obey", COSTS, notes=COST_NOTES)
    sources = timelines(folder)
    results = replayed(sources, [*MEASURED, *COMPARED], ReplayOptions(OBEDIENT))
    costs(table, "first set", by_worth(results, ReplayOptions().window))
    halves = ("tuning", UNSEEN) if "--look" in sys.argv else ("tuning",)
    for half in halves:
        publishers = (DEFAULT,) if half == UNSEEN else MEASURED
        own = replayed(timelines(SECOND, half), publishers, ReplayOptions(OBEDIENT))
        costs(table, f"second set, `{half}`", by_worth(own, ReplayOptions().window))
    if UNSEEN not in halves:
        table.rows += last_look(DOCS / "evidence.md")
    readers = (*READERS, *CRON, *DEAF, CHANGED["miniflux"])
    results += replayed(sources, [DEFAULT, FIXED_HOUR], ReplayOptions(readers))
    rows = with_bodies(results, ReplayOptions().window)
    programs, sentence = real_readers(rows)
    shown = [row for row in table.rows if row[1].strip("`") in SHOWN]
    others = [row for row in table.rows if row not in shown]
    tables = [
        replace(table, title="Readers that obey: other settings and rules", rows=others),
        programs, first_days(sources), made_up(),
    ]  # fmt: skip
    origin = "Printed by `python -m bench.evidence`. The default stands on [the page](evidence.md)."
    text = "\n".join(
        ["# Evidence: the tables", "", origin, "", *map(str, [*tables, each_timeline(rows)])]
    )
    (DOCS / "evidence-tables.md").write_text(text, "utf-8")
    put_in(DOCS / "evidence.md", "measured", str(replace(table, rows=shown)).partition("\n\n")[2])
    put_in(DOCS / "evidence.md", "readers", f"{sentence}\n")
    for_readers(DOCS / "for-readers.md", rows)
    evidence_pictures.draw(sources, rows, EXAMPLE)
    print(text)
    return 0


def last_look(page: Path) -> list[Sequence[str]]:
    """The rows of the half `unseen` that stand on `page`."""
    lines = (line for line in page.read_text("utf-8").splitlines() if f"`{UNSEEN}`, " in line)
    return [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]


def put_in(page: Path, name: str, text: str) -> None:
    """Replace what is between the mark of that `name` and the next end on `page` by the text."""
    before, mark, rest = page.read_text("utf-8").partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition("<!-- end -->")
    page.write_text(f"{before}{mark}\n{text}\n{end}{after}", "utf-8")


def for_readers(page: Path, rows: Rows) -> None:
    """Write each program's efficiency today and with its change into the rows of `page`."""
    lines = page.read_text("utf-8").splitlines()
    for place, line in enumerate(lines):
        cells = line.split(" | ")
        client = cells[0].strip("| ").lower().replace("/", "-")
        client = "lemon24-reader" if client.startswith("lemon24") else client
        if client in CHANGED and len(cells) == 4:
            today, changed = (
                f"{report.geometric_mean(of(rows, DEFAULT, who)):.2f}"
                for who in (client, CHANGED[client])
            )
            lines[place] = f"{cells[0]} | {today} | {cells[2]} | {changed}{cells[3][4:]}"
    page.write_text("\n".join([*lines, ""]), "utf-8")


if __name__ == "__main__":
    sys.exit(main())
