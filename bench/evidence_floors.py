"""Floors and spreads behind docs/evidence.md: `python -m bench.evidence_floors [FOLDER]`.

Single flat blogs beside who knows their rate; the element of one timeline beside a planner that
knows the coming weeks; real readers with other first polls. Prints tables.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.evidence import DEFAULT, FIXED_HOUR, READERS, of, replayed, timelines
from bench.simulator import TIMELINES
from bench.table import Table
from publisher.core.civil import HOUR_SECONDS
from publisher.core.ttl.activity import HALF_LIFE_DAYS
from publisher.core.ttl.choice import Workspace, workspace
from publisher.core.ttl.planner import ServedSpan, planned
from publisher.core.ttl.rule import RuleNumbers, TtlRule, numbers
from publisher.simulator import results as report
from publisher.simulator.clients import parse_client
from publisher.simulator.compiled import as_arrays, specialise
from publisher.simulator.engine import WINDOW, one_feed, replay
from publisher.simulator.figures import figures
from publisher.simulator.grid import ReplayOptions, Task, prepare
from publisher.simulator.publishers import unskipped
from publisher.simulator.synthetic import parse_synthetic, shards
from publisher.simulator.timelines import Timeline

Floats = NDArray[np.float64]
BLOGS = (
    *((rate, 24, 1500, 11) for rate in (0.1, 0.2, 0.3)),
    *((rate, 40, 400, 7) for rate in (0.8, 0.9, 1.0, 1.1, 1.25)),
    *((rate, 16, 400, 11) for rate in (2.0, 3.0, 5.0, 10.0, 20.0, 32.0)),
)  # updates a day, blogs, days, seed
LIMIT = 1.10
CONSTANTS = ("fixed:15", "fixed:60", "fixed:480")
WORST = "hugo-commits"
DAYS = (3, 7, 14, 28, 45)  # on either side
WORTHS = (0.25, 1.0, 4.0, 8.0, 16.0)  # minutes of waiting that a poll is worth
LEAST = 0.02 / 24.0  # updates expected in an hour in which none came
SEEDS = 8


def flat_blogs() -> Table:
    """Each flat blog by itself; one reader who says 480 all the time is what chance makes of it."""
    head = ["updates a day", "blogs, days", "element: mean", "worst", "above 1.10", "headers: mean",
            "worst", "above 1.10", "best of 15, 60, 480: worst",
            "one reader, 480: deviation, worst"]  # fmt: skip
    table = Table("Single flat blogs", head)
    for rate, number, days, seed in BLOGS:
        kind = parse_synthetic(f"poisson:rate={rate}")
        lines = [line for shard in shards(kind, number, days, "UTC", seed)
                 for line in shard.timelines()]  # fmt: skip
        options = ReplayOptions(("ttl", "max-age"))
        rows = report.rows(replayed(lines, [DEFAULT, *CONSTANTS], options), WINDOW)
        alone = report.rows(replayed(lines, ["fixed:480"], ReplayOptions(phases=1)), WINDOW)
        best = np.min([of(rows, name, "ttl") for name in CONSTANTS], axis=0)
        one = of(alone, "fixed:480", "ttl")
        table.add(
            f"{rate:g}", f"{number}, {days}", *_spread(of(rows, DEFAULT, "ttl")),
            *_spread(of(rows, DEFAULT, "max-age")), f"{best.max():.2f}",
            f"{np.std(one):.3f}, {max(one):.2f}",
        )  # fmt: skip
    return table


def _spread(values: Sequence[float]) -> list[str]:
    above = sum(value > LIMIT for value in values)
    return [f"{np.mean(values):.2f}", f"{max(values):.2f}", str(above)]


def plan_ahead(
    rates: Sequence[float], worth: float, rule: RuleNumbers, work: Workspace, ttls: Any
) -> None:
    """The planner's ttl for each hour, where the updates to expect in every hour are known."""
    number, waiting = work.curve.number, work.curve.waiting
    for hour in range(len(ttls)):
        number[0] = waiting[0] = 0.0
        for step in range(len(number) - 1):
            rate = rates[min(hour + step // 12, len(rates) - 1)] / 12.0
            number[step + 1] = number[step] + rate
            waiting[step + 1] = waiting[step] + (number[step] + rate / 2.0) * 5.0
        ttls[hour] = planned(ServedSpan(work.curve, 0.0, 60.0, worth), rule, work.cells)


def hourly(line: Timeline, days: int) -> Floats:
    """The mean of each hour's updates with those of the same hour so many days before and after."""
    hours = (line.end - line.start) // HOUR_SECONDS + 1
    places = (line.times.astype(np.int64) - line.start) // HOUR_SECONDS
    counts = np.pad(np.bincount(places, minlength=hours).astype(float), 24 * days)
    known = np.pad(np.ones(hours), 24 * days)
    shifts = [slice(24 * day, 24 * day + hours) for day in range(2 * days + 1)]
    total, weight = (np.sum([part[at] for at in shifts], axis=0) for part in (counts, known))
    return np.asarray(total / weight + LEAST)


def foreknown(line: Timeline, days: int, worth: float) -> float:
    """The efficiency of the element where its planner knows the `hourly` updates."""
    rule, rates = numbers(TtlRule(), HALF_LIFE_DAYS), hourly(line, days)
    ttls = np.zeros(len(rates), np.int32)
    run = specialise(plan_ahead, "foreknown")
    run(rates, worth, as_arrays(rule), as_arrays(workspace(rule)), ttls)
    built = (line.start + HOUR_SECONDS * np.arange(len(ttls))).astype(np.uint32)
    sums = replay(one_feed(line, unskipped(built, ttls)), parse_client("ttl"))
    return float(figures(sums, WINDOW).efficiency)


def known_weeks(line: Timeline) -> Table:
    """The same planner and menu, with the past and future days instead of a forecast."""
    head = ["days known on either side", *(f"a poll is worth {worth:g} min" for worth in WORTHS)]
    table = Table(f"The element of {line.name} if the days around were known", head)
    for days in DAYS:
        table.add(str(days), *(f"{foreknown(line, days, worth):.2f}" for worth in WORTHS))
    return table


def other_first_polls(sources: Sequence[Timeline]) -> Table:
    """Real readers at the default against a fixed hour, with first polls from several seeds."""
    head = ["reader and timeline", "ratio of the means", "least", "most", "seeds above 1.05"]
    table = Table("Readers that lose 5 % with any seed", head, notes=f"{SEEDS} seeds.")
    for source in sources:
        ours, hour = (prepare(Task(0, source, name)) for name in (DEFAULT, FIXED_HOUR))
        for reader in READERS:
            policy = parse_client(reader)
            both = np.array([
                [figures(replay(feeds, policy, seed=seed), WINDOW).efficiency
                 for feeds in (ours, hour)]
                for seed in range(SEEDS)
            ])  # fmt: skip
            ratios, means = both[:, 0] / both[:, 1], both.mean(axis=0)
            if ratios.max() > 1.05:
                table.add(f"`{reader}` {source.name}", f"{means[0] / means[1]:.2f}",
                          f"{ratios.min():.2f}", f"{ratios.max():.2f}",
                          str((ratios > 1.05).sum()))  # fmt: skip
    return table


def main() -> int:
    """Print all tables."""
    sources = timelines(Path(sys.argv[1]) if len(sys.argv) > 1 else TIMELINES)
    print(flat_blogs(), flush=True)
    for line in sources:
        if line.name == WORST:
            print(known_weeks(line), flush=True)
    print(other_first_polls(sources))
    return 0


if __name__ == "__main__":
    sys.exit(main())
