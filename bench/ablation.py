"""What each part of the decision is worth.

    python -m bench.ablation [--only=PART]... [--days=600] [--keep=FILE] [FOLDER...]

Every row of the table is the decision without one part, or with one constant that takes it out or
makes it trivial. Each runs in a process of its own, in which the constant or function is replaced
wherever it is imported. Of a folder whose index names halves only the half `tuning` is read, so the
other stays unseen. Figures are changes of the geometric mean of the cost (`core.replay.measure`),
over that of the best fixed value, against the decision as it is, in per cent (above 0: the part
helps), with 95 % intervals of a bootstrap over timelines.
Rows are kept in FILE as they are measured, and not measured again: delete the lines of those that a
change of the code concerns.
"""

import argparse
import csv
import json
import multiprocessing
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from inspect import getsource
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.evidence import DEFAULT, LAST_DAYS, OBEDIENT, moved_authors
from bench.simulator import CORES, TIMELINES
from bench.table import Table
from publisher.dynamic_ttl.core.ttl import choice, counts, headers, mixture, planner, rule
from publisher.dynamic_ttl.core.ttl.counts import Counts, Exposure, Tables, hour_rate
from publisher.simulator import results as report
from publisher.simulator.grid import ReplayOptions, run, tasks
from publisher.simulator.results import interval
from publisher.simulator.synthetic import parse_synthetic, shards
from publisher.simulator.timelines import (
    DAY,
    NothingToScore,
    Timeline,
    cut,
    read_timeline,
    score_days,
    scoring,
)

NEVER = 1e9
FOLDERS = (TIMELINES, Path(__file__).parent / "timelines")
WITHIN_THE_FIRST_HOUR = 3600
FLAT = (0.1, 0.35, 1.0, 3.0)  # updates a day


@dataclass(frozen=True)
class Part:
    """A part of the decision. out: what replaces its constants and functions; gone: functions that
    need not exist without it; publisher: settings that take it out instead."""

    name: str
    out: dict[str, Any] = field(default_factory=dict)
    gone: Sequence[Callable[..., Any]] = ()
    publisher: str = DEFAULT

    @property
    def lines(self) -> int:
        """Lines of the functions and constants that go."""
        functions = sum(len(getsource(one).splitlines()) + 2 for one in self.gone)
        return functions + len(self.out)


def without_floor(problem: planner.ServedSpan, menu: Sequence[int]) -> int:
    """Replaces `look_ahead` as the bound of `planned`."""
    return 0


def even_weekday(tables: Tables, weekday: int, total: float, seen: Exposure) -> float:
    """Replaces `weekday_factor`: all weekdays alike."""
    return 1.0


def usual_cell(tables: Tables, slot: int, factor: float, seen: Exposure) -> float:
    """Replaces `cell_rate`: an hour of the week is as its hour and its weekday."""
    return hour_rate(tables, slot % 24, seen) * factor


def as_often(tables: Tables, fading: float, place: int) -> float:
    """Replaces `silence_factor`: the silence predicts nothing."""
    return 1.0


def each_alone(tables: Tables, fading: float) -> float:
    """Replaces `cluster_size`: no update belongs to the one before."""
    return 1.0


def flat_minutes(tables: Tables, total: float, fading: float, within: Counts) -> None:
    """Replaces `spread_within`: no pattern within the hour."""
    for slot in range(len(within)):
        within[slot] = 1.0


def flat_minute(tables: Tables, slot: int, common: float, fading: float) -> float:
    """Replaces `within_hour`."""
    return 1.0


def no_dots(tables: Tables, dots: Counts) -> None:
    """Replaces `share_on_full_minutes`: no update comes in the first seconds of five minutes."""
    for slot in range(len(dots)):
        dots[slot] = 0.0


def steps(seconds: int) -> dict[str, Any]:
    """What replaces steps of five minutes by others; classes of silence stay as they are."""
    slots = 3600 // seconds
    horizon = rule.HORIZON_HOURS * slots
    sizes = counts.SIZES | {"minutes": 24 * slots, "early": slots}
    return {"counts.STEP_SECONDS": seconds, "counts.STEP_MINUTES": seconds / 60.0,
            "counts.SLOTS": slots, "counts.SIZES": sizes, "headers.SHORTEST": slots // 4,
            "headers.LONGEST": 24 * slots, "headers.HORIZON": horizon,
            "headers.STEPS": horizon + 24 * slots}  # fmt: skip


def as_long(max_age_seconds: int) -> int:
    """Replaces `with_news`: a response with new content is good for as long as another."""
    return max_age_seconds


PARTS = (
    Part("as is"),
    Part("Winer's rule of 2002 and nothing else", publisher="winer"),
    Part("weekday",
         {f"{module}.weekday_factor": even_weekday for module in ("counts", "mixture", "forecast")},
         (counts.weekday_factor,)),
    Part("hour of the week", {"counts.cell_rate": usual_cell, "mixture.cell_rate": usual_cell},
         (counts.cell_rate,)),
    Part("doubt about empty hours of the week (DOUBT)", {"counts.DOUBT": 0.0}),
    Part("minutes", {"forecast.spread_within": flat_minutes, "mixture.within_hour": flat_minute},
         (counts.spread_within, counts.within_hour, counts.minute_pattern)),
    Part("silence (AGES)",
         {"forecast.silence_factor": as_often, "mixture.silence_factor": as_often},
         (counts.silence_factor, counts.age_class)),
    Part("clusters (IN_CLUSTER)", {"counts.cluster_size": each_alone}, (counts.cluster_size,)),
    Part("PRIOR 1/4", {"counts.PRIOR": 0.25}),
    Part("PRIOR 4", {"counts.PRIOR": 4.0}),
    Part("forecaster recent", {"mixture.START": (0.25, 0.0, 0.3, 0.3),
                               "mixture.HANDED_OUT": (0.7, 0.0, 0.05, 0.05)}),
    Part("forecaster flat", {"mixture.START": (0.25, 0.15, 0.0, 0.6),
                             "mixture.HANDED_OUT": (0.7, 0.2, 0.0, 0.1)}),
    Part("forecaster daily", {"mixture.START": (0.25, 0.15, 0.6, 0.0),
                              "mixture.HANDED_OUT": (0.7, 0.2, 0.1, 0.0)}),
    Part("a typical human day (SHAPE)", {"mixture.SHAPE": (1.0,) * 24}),
    Part("all forecasters but the habits", {"mixture.START": (1.0, 0.0, 0.0, 0.0),
                                            "mixture.HANDED_OUT": (1.0, 0.0, 0.0, 0.0)},
         (mixture.learn, mixture.weights_at, mixture.weighed, mixture.without_unlikely,
          mixture.silence, mixture.rates, mixture.seen_at)),
    Part("START and HANDED_OUT equal", {"mixture.START": (0.25,) * 4,
                                        "mixture.HANDED_OUT": (0.25,) * 4}),
    Part("share redistributed (SHARE)", {"mixture.SHARE": 1e-9}),
    Part("weights sharpened (DOUBTED)", {"mixture.DOUBTED": 0.0}, (mixture.without_unlikely,)),
    Part("present silence as evidence (RUNNING 0)", {"mixture.RUNNING": 0.0}),
    Part("bound of that evidence (RUNNING)", {"mixture.RUNNING": NEVER}),
    Part("decay (half-life)", {"activity.HALF_LIFE_DAYS": 10_000}),
    Part("planned's bound by look-ahead", {"planner.look_ahead": without_floor}),
    Part("quarters of an hour (CELLS)", {"planner.CELLS": 1, "planner.CELL_MINUTES": 60.0}),
    Part("steps of 2.5 minutes (STEP_SECONDS)", steps(150)),
    Part("steps of 10 minutes (STEP_SECONDS)", steps(600)),
    Part("half of a poll's worth (POLL_MINUTES)", {"rule.POLL_MINUTES": 5.0},
         publisher=f"{DEFAULT}:poll-minutes=5"),
    Part("twice a poll's worth (POLL_MINUTES)", {"rule.POLL_MINUTES": 20.0},
         publisher=f"{DEFAULT}:poll-minutes=20"),
    Part("planned ahead 24 h (HORIZON_HOURS)",
         {"rule.HORIZON_HOURS": 24, "headers.HORIZON": 288, "headers.STEPS": 576}),
    Part("planned ahead 36 h (HORIZON_HOURS)",
         {"rule.HORIZON_HOURS": 36, "headers.HORIZON": 432, "headers.STEPS": 720}),
    Part("posts on the dot (EARLY_SECONDS)", {"headers.share_on_full_minutes": no_dots},
         (headers.share_on_full_minutes,)),
    Part("a minute less than planned (TICK_SECONDS)",
         {"headers.TICK_SECONDS": 1, "headers.JUST_AFTER": 6}),
    Part("an hour with news", {"simulator.replaying.kernel.with_news": as_long},
         (headers.with_news,)),
    Part("warm-up (WARM_UP_DAYS, WARM_UP_UPDATES)",
         {"counts.WARM_UP_DAYS": 0, "counts.WARM_UP_UPDATES": 1}, (choice.warm_up_minutes,)),
)  # fmt: skip


def place(name: str) -> tuple[ModuleType, str]:
    """The module, of the room `ttl` or else of `publisher`, and the attribute of a name."""
    home, _, attribute = name.rpartition(".")
    module = sys.modules.get(f"{rule.__package__}.{home}") or sys.modules[f"publisher.{home}"]
    return module, attribute


def put(name: str, value: Any) -> None:
    """Replace a constant wherever it is imported, or a function in its module alone: `planner`
    keeps its own `look_ahead` to itself."""
    module, attribute = place(name)
    old = getattr(module, attribute)
    elsewhere = [] if callable(old) else list(sys.modules.values())
    for other in (module, *elsewhere):
        if getattr(other, "__name__", "").startswith("publisher.") and (
            getattr(other, attribute, None) is old
        ):
            setattr(other, attribute, value)


Figures = dict[str, dict[str, list[float]]]
"""The cost of each timeline by client: of each folder by its name, and of `FIRST`, the first week
of all of them, `CHANGED`, authors who change, and `EVEN`, flat blogs."""
FIRST, CHANGED, EVEN = "first week", "changed", "flat"


class Work(NamedTuple):
    """What one row is measured on: the last so many days of the timelines of the folders."""

    name: str
    folders: tuple[str, ...]
    days: int


def sources(folder: Path, days: int = LAST_DAYS) -> list[Timeline]:
    """The timelines of a folder, without those that its index calls unseen, and without those that
    have nothing to score in these days."""
    with (folder / "index.csv").open(encoding="utf-8") as index:
        slugs = [row["slug"] for row in csv.DictReader(index) if row.get("half") != "unseen"]
    read = (read_timeline(folder / f"{slug}.csv") for slug in slugs)
    found = []
    for one in read:
        with suppress(NothingToScore):
            last = cut(one, last_days=days)
            scoring(last)
            found.append(last)
    return found


def changing_authors() -> Iterator[Timeline]:
    """Eight authors who move by six hours, and eight whose rate of one a day becomes three or the
    other way round, on day 200; days 8 to 30 after it are scored."""
    yield from moved_authors(8, 30)
    begin = 1_672_531_200
    for seed in range(8):
        rng = np.random.default_rng(100 + seed)
        rates = (1.0, 3.0) if seed % 2 else (3.0, 1.0)
        days = np.concatenate([
            np.repeat(np.arange(200), rng.poisson(rates[0], 200)),
            np.repeat(np.arange(200, 231), rng.poisson(rates[1], 31)),
        ])  # fmt: skip
        at = begin + days * DAY + rng.integers(9 * 3600, 18 * 3600, len(days))
        times = np.unique(at).tolist()
        scored = begin + 208 * DAY
        yield Timeline(f"rate {seed}", times, times[0], begin + 231 * DAY, scored_from=scored)


def flat_blogs() -> list[Timeline]:
    """Three blogs at each of some constant rates (Poisson)."""
    kinds = [parse_synthetic(f"poisson:rate={rate}") for rate in FLAT]
    return [one for kind in kinds for one in shards(kind, 3, 1200, "UTC", 1)[0].timelines()]


def costs(
    lines: Sequence[Timeline], publisher: str, options: ReplayOptions
) -> dict[str, list[float]]:
    """The cost of each timeline, over that of the best fixed value, by client."""
    found = [one for part in run(tasks(lines, [publisher]), options) for one in part]
    rows = report.rows(found, options.window)
    return {
        client: [float(report.cost_of_fixed(row) or 0.0) for row in rows if row["client"] == client]
        for client in OBEDIENT
    }


def measure(work: Work) -> Figures:
    """The figures of the decision without the part of that name."""
    part = next(part for part in PARTS if part.name == work.name)
    for name, value in part.out.items():
        put(name, value)
    options, found, early = ReplayOptions(OBEDIENT), Figures(), []
    for folder in work.folders:
        lines = sources(Path(folder), work.days)
        found[folder] = costs(lines, part.publisher, options)
        for line in lines:
            with suppress(NothingToScore):  # nothing was posted in these days
                early.append(score_days(line, 0, 7))
    soon = options._replace(within=WITHIN_THE_FIRST_HOUR)
    found[FIRST] = costs(early, part.publisher, soon)
    found[CHANGED] = costs(list(changing_authors()), part.publisher, options)
    found[EVEN] = costs(flat_blogs(), part.publisher, options)
    return found


def measured(works: Sequence[Work], keep: Path | None, jobs: int) -> Iterator[Figures]:
    """The figures of each row in order, each in a process of its own; rows that the file `keep` has
    are read from it, the others are added to it."""
    known: dict[Work, Figures] = {}
    if keep is not None and keep.exists():
        for line in keep.read_text("utf-8").splitlines():
            name, folders, days, found = json.loads(line)
            known[Work(name, tuple(folders), days)] = found
    with multiprocessing.get_context("spawn").Pool(jobs, maxtasksperchild=1) as pool:
        coming = pool.imap(measure, [one for one in works if one not in known], chunksize=1)
        for work in works:
            if work not in known:
                known[work] = next(coming)
                if keep is not None:
                    with keep.open("a", encoding="utf-8") as file:
                        print(json.dumps([*work, known[work]]), file=file)
            yield known[work]


def logs(values: Sequence[float]) -> NDArray[np.float64]:
    """Logarithms, as the geometric mean takes them."""
    return np.asarray(np.log(np.maximum(values, report.SMALLEST_EFFICIENCY)))


def change(ours: Sequence[float], as_is: Sequence[float]) -> str:
    """How much larger the geometric mean is than as it is, in per cent, with its interval; bold
    where the interval excludes 0."""
    apart = logs(ours) - logs(as_is)
    mean, (low, high) = float(np.exp(apart.mean())), interval(apart.tolist(), 0)
    shown = [f"{100 * (one or 1.0) - 100:+.1f}" for one in (mean, low, high)]
    known = low is not None and high is not None and not low <= 1.0 <= high
    return f"{f'**{shown[0]}**' if known else shown[0]} ({shown[1]} to {shown[2]})"


def ablation(
    folders: Sequence[Path], names: Sequence[str], days: int, keep: Path | None, jobs: int
) -> Table:
    """The table of all parts whose name contains one of `names` (of all without names)."""
    wanted = [
        part
        for row, part in enumerate(PARTS)
        if row == 0 or not names or any(name in part.name for name in names)
    ]
    paths = tuple(map(str, folders))
    head = ["without"]
    for folder in folders:
        kind = folder.parent.name if folder.name == "timelines" else folder.name
        head += [f"{kind}: headers", f"{kind}: element", "worst"]
    head += ["first week: headers", "element", "changed: headers", "element",
             "flat: headers, worst", "element, worst", "lines"]  # fmt: skip
    table = Table("Ablation", head)
    works = [Work(part.name, paths, days) for part in wanted]
    as_is: Figures | None = None
    for part, found in zip(wanted, measured(works, keep, jobs), strict=True):
        as_is = as_is or found
        cells = []
        for kind in (*paths, FIRST, CHANGED):
            cells += [_cell(found[kind][who], as_is[kind][who]) for who in OBEDIENT]
            if kind in paths:
                cells.append(", ".join(f"{max(found[kind][who]):.2f}" for who in OBEDIENT))
        for who in OBEDIENT:
            flat = found[EVEN][who]
            cells.append(f"{report.geometric_mean(flat):.2f}, {max(flat):.2f}")
        table.add(part.name, *cells, str(part.lines))
        print(*table.rows[-1], sep=" | ", file=sys.stderr, flush=True)
    return table


def _cell(found: Sequence[float], as_is: Sequence[float]) -> str:
    if found is as_is:
        return f"{report.geometric_mean(found):.3f}"
    return change(found, as_is)


def main(arguments: Sequence[str]) -> int:
    """Print the table; 1 if a folder is not there."""
    options = argparse.ArgumentParser(prog="bench.ablation")
    options.add_argument("folders", nargs="*", type=Path, default=list(FOLDERS))
    options.add_argument("--only", action="append", default=[], help="part of a part's name")
    options.add_argument("--days", type=int, default=LAST_DAYS, help="the last so many days")
    options.add_argument("--keep", type=Path, help="file of the rows that are measured")
    options.add_argument("--jobs", type=int, default=CORES)
    given = options.parse_args(arguments)
    for folder in given.folders:
        if not (folder / "index.csv").is_file():
            print(f"ablation: no timelines in {folder}", file=sys.stderr)
            return 1
    print(ablation(given.folders, given.only, given.days, given.keep, given.jobs))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
