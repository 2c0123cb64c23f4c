"""How much the figures of docs/evidence.md vary: `python -m bench.evidence_spreads [FOLDER]`.

Prints a table of single flat blogs beside the best constant ttl, and one of real readers whose
first polls come from other seeds.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench.evidence import DEFAULT, FIXED_HOUR, READERS, of, replayed, timelines
from bench.simulator import TIMELINES
from bench.table import Table
from publisher.simulator import results as report
from publisher.simulator.clients import parse_client
from publisher.simulator.grid import ReplayOptions, Task, prepare
from publisher.simulator.replaying.counted import WINDOW
from publisher.simulator.replaying.engine import replay
from publisher.simulator.replaying.figures import figures
from publisher.simulator.synthetic import parse_synthetic, shards
from publisher.simulator.timelines import Timeline

BLOGS = (
    *((rate, 24, 1500, 11) for rate in (0.1, 0.2, 0.3, 0.35, 0.4, 0.5)),
    *((rate, 40, 400, 7) for rate in (0.8, 1.0, 1.25)),
    *((rate, 16, 400, 11) for rate in (2.0, 3.0, 5.0, 10.0, 20.0, 32.0)),
)  # updates a day, blogs, days, seed
LIMIT = 1.10
CONSTANTS = ("fixed:15", "fixed:60", "fixed:480")
SEEDS = 8


def flat_blogs() -> Table:
    """Flat blogs one by one. A single reader at a constant 480 shows the spread by chance alone."""
    head = ["updates a day", "blogs, days", "element: mean", "worst", "above 1.10", "headers: mean",
            "worst", "above 1.10", "best of 15, 60, 480: worst",
            "one reader at a constant 480: standard deviation, worst"]  # fmt: skip
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


def other_first_polls(sources: Sequence[Timeline]) -> Table:
    """Real readers at the default and at a constant ttl of 60, with first polls of eight seeds."""
    head = ["reader and timeline", "ratio of the means", "smallest ratio", "largest ratio",
            "seeds above 1.05"]  # fmt: skip
    title = "Readers at least 5 % worse than at ttl 60 with some seed"
    table = Table(title, head, notes=f"{SEEDS} seeds.")
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
    """Print both tables."""
    sources = timelines(Path(sys.argv[1]) if len(sys.argv) > 1 else TIMELINES)
    print(flat_blogs(), flush=True)
    print(other_first_polls(sources))
    return 0


if __name__ == "__main__":
    sys.exit(main())
