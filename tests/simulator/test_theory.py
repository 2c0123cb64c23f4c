"""The simulator against closed forms and known results."""

import os
from math import exp

import joblib
import numpy as np
import pytest

from publisher.dynamic_ttl.core import civil
from publisher.simulator import grid, synthetic
from publisher.simulator.publishers import parse_publisher
from publisher.simulator.replaying.engine import lay_out
from publisher.simulator.replaying.figures import Figures, figures
from publisher.simulator.synthetic import parse_synthetic, shards
from publisher.simulator.timelines import scoring_between

DAYS = 365


def poisson(rate: float, client: str, feeds: int = 60, items: int = 1000) -> Figures:
    """Figures of `client` on Poisson feeds with `rate` updates a day, 4 phases each."""
    options = grid.ReplayOptions((client,), phases=4, window=items)
    work = grid.tasks([shards(parse_synthetic(f"poisson:rate={rate}"), feeds, DAYS, "UTC", 7)],
                      ["fixed:60"])  # fmt: skip
    (result,) = grid.merged([part for parts in grid.run(work, options) for part in parts])
    return figures(result.tally, items)


@pytest.mark.parametrize(("rate", "minutes"), [(0.5, 60), (3, 480), (40, 15), (20, 480)])
def test_fixed_interval_on_poisson_updates(rate: float, minutes: int) -> None:
    """Mean delay I/2, hit rate 1 - exp(-rI), stale share 1 - (1 - exp(-a)) / a, efficiency 1."""
    figures = poisson(rate, f"fixed:{minutes}")
    expected = rate * minutes / 1440
    assert figures.polls_per_day == pytest.approx(1440 / minutes, rel=1e-3)
    assert figures.delay_mean_minutes == pytest.approx(minutes / 2, rel=0.02)
    assert figures.delay_median_minutes == pytest.approx(minutes / 2, rel=0.03)
    assert figures.delay_p95_minutes == pytest.approx(minutes * 0.95, rel=0.02)
    assert figures.hit_rate == pytest.approx(1 - exp(-expected), rel=0.02)
    assert figures.stale_share == pytest.approx(1 - (1 - exp(-expected)) / expected, rel=0.02)
    assert figures.efficiency == pytest.approx(1, rel=0.02)
    assert figures.pending == figures.missed_updates == 0


@pytest.mark.parametrize(("factor", "price"), [("2", 1.63), ("1.25", 1.18)])
def test_doubling_settles_at_one_half_and_costs_what_it_costs(factor: str, price: float) -> None:
    """P(hit) = 1/2, usual interval 0.693 / rate; at equal cost +63 % or +18 % mean delay.

    The mean interval is near the usual one for small steps only.
    """
    figures = poisson(0.7, f"doubling:factor={factor}")
    assert figures.hit_rate == pytest.approx(0.5, abs=0.01)
    if factor == "1.25":
        assert 0.7 / figures.polls_per_day == pytest.approx(0.693, rel=0.1)
    assert figures.efficiency == pytest.approx(price, rel=0.03)


def test_a_small_document_loses_items_and_flatters_the_delay() -> None:
    """With fewer items in the document more are missed, and the late ones are seen."""
    whole, small = poisson(40, "fixed:480"), poisson(40, "fixed:480", items=10)
    assert whole.missed_updates == 0
    assert small.missed_updates / small.updates > 0.2
    assert small.delay_mean_minutes < whole.delay_mean_minutes


def test_per_feed_means_differ_from_per_item_means() -> None:
    """Busy feeds dominate the mean over items, every feed counts once in the mean over feeds."""
    options = grid.ReplayOptions(("weekly-average",), phases=4)
    parts = [
        result
        for rate in (0.2, 30)
        for result in grid.run_task(
            grid.tasks([shards(parse_synthetic(f"poisson:rate={rate}"), 20, DAYS, "UTC", 1)],
                       ["fixed:60"])[0],
            options,
        )
    ]  # fmt: skip
    both = figures(parts[0].tally + parts[1].tally, 20)
    alone = [figures(part.tally, 20) for part in parts]
    mean = sum(figures_alone.delay_mean_minutes for figures_alone in alone) / 2
    assert both.feed_delay_mean_minutes == pytest.approx(mean, rel=0.05)
    assert both.delay_mean_minutes < both.feed_delay_mean_minutes / 3


def test_jobs_change_nothing() -> None:
    """One job, two jobs and other shards: the same integers."""
    kind = parse_synthetic("poisson:rate=2,profile=office")
    options = grid.ReplayOptions(("ttl", "doubling"), phases=2, seed=5)

    def run(jobs: int, size: int) -> list[tuple[object, ...]]:
        made = shards(kind, 30, 60, "Europe/Berlin", 5, size)
        work = grid.tasks([made], ["warm-up"])
        merged = grid.merged([part for parts in grid.run(work, options, jobs) for part in parts])
        tallies = [(part.client, part.tally) for part in merged]
        return [(name, list(tally.counts), tally.delays.total()) for name, tally in tallies]

    assert run(1, 30) == run(2, 30) == run(2, 7)


def test_processes_come_to_the_same_as_threads() -> None:
    """joblib's setting sends the tasks to other processes, and the integers are the same."""
    kind = parse_synthetic("poisson:rate=2")
    work = grid.tasks([shards(kind, 8, 40, "UTC", 5, 4)], ["warm-up"])
    options = grid.ReplayOptions(("ttl", "doubling"), phases=2)

    def run() -> list[tuple[object, ...]]:
        return [
            (part.client, list(part.tally.counts), part.tally.delays)
            for parts in grid.run(work, options, 2)
            for part in parts
        ]

    threads = run()
    with joblib.parallel_config(backend="loky", n_jobs=2):
        where = joblib.Parallel(n_jobs=2, prefer="threads")(
            joblib.delayed(os.getpid)() for _ in "ab"
        )
        assert run() == threads
    assert os.getpid() not in where


def test_winers_day_by_the_hour() -> None:
    """Made-up updates follow the stated day in local time, through both clock changes."""
    from publisher.simulator.plots import local_hours

    (line,) = shards(parse_synthetic("winer"), 1, DAYS, "America/Los_Angeles", 3)[0].timelines()
    clock = local_hours(line, np.array(line.times))
    per_hour = [(clock == hour).sum() / DAYS for hour in range(24)]
    assert per_hour == pytest.approx(synthetic.WINER, abs=0.6)
    assert line.times == sorted(set(line.times))


def test_made_up_feeds_are_the_same_without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    """The generator run as plain Python writes the same seconds."""
    shard = shards(parse_synthetic("poisson:rate=5,profile=office"), 3, 40, "Asia/Kolkata", 11)[0]
    fast = shard.feeds()
    monkeypatch.setattr(synthetic, "available", lambda: False)
    monkeypatch.setattr(synthetic, "specialise", lambda kernel, label: kernel)
    slow = shard.feeds()
    assert fast[0].tolist() == slow[0].tolist()
    assert fast[1].tolist() == slow[1].tolist()


def test_made_up_feeds_are_the_same_a_few_numbers_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A feed may need more random numbers than are drawn at once."""
    shard = shards(parse_synthetic("poisson:rate=1"), 40, 40, "America/New_York", 11)[0]
    usual = shard.feeds()
    for block in (1, 7, 75, 200):
        monkeypatch.setattr(synthetic, "BLOCK", block)
        few = shard.feeds()
        assert few[0].tolist() == usual[0].tolist(), block
        assert few[1].tolist() == usual[1].tolist(), block


@pytest.mark.parametrize("zone", ["Europe/Berlin", "Australia/Lord_Howe", "Africa/Casablanca"])
def test_made_up_updates_come_when_the_local_clock_says_so(zone: str) -> None:
    """Found for each update by itself, through all clock changes of three years."""
    begin, end = synthetic.BEGINNING, synthetic.BEGINNING + 1100 * 86400
    table, waits = civil.zone_table(zone), np.random.default_rng(4).exponential(0.02, 60_000)
    times = [0] * len(waits)
    written, _, _ = synthetic.write_row(
        waits.tolist(), 0.0, [], table, begin, end, times, 0, begin - 1
    )
    midnight = (begin + table.offsets[civil.period(table, begin)]) // 86400 * 86400
    expected = [begin - 1]
    for days in np.cumsum(waits).tolist():
        local = midnight + int(days * 86400)
        guess = local - table.offsets[civil.period(table, local)]
        at = local - table.offsets[civil.period(table, guess)]
        expected.append(max(at, expected[-1] + 1))
    assert written > 50_000
    assert times[:written] == expected[1 : written + 1]


def test_an_even_day_needs_no_hours() -> None:
    """Going by twenty-four equal hours comes to the same seconds, but for a rounding."""
    running = np.linspace(0, 1, 25).tolist()
    for days in np.random.default_rng(4).uniform(0, 365, 20_000).tolist():
        assert synthetic.second(days, running) == pytest.approx(int(days * 86400), abs=1)


def test_a_feed_scored_from_a_given_moment_remembers_what_was_before() -> None:
    """The learning period can be longer than usual without being cut off."""
    options = scoring_between(0, 100 * 86400, (), 70 * 86400)
    assert (options.begin, options.seconds) == (70 * 86400, 30 * 86400)


def test_feeds_laid_out_at_once_are_those_laid_out_one_by_one() -> None:
    """A shard under a fixed ttl is the same to the bit without an object for each feed."""
    shard = shards(parse_synthetic("poisson:rate=2"), 12, 60, "UTC", 5, 8)[1]
    lines = shard.timelines()
    documents = [parse_publisher("fixed:60")(line) for line in lines]
    usual = lay_out(lines, documents, [scoring_between(*shard.span)] * len(lines))
    at_once = grid.prepare(grid.Task(0, shard, "fixed:60"))
    for name, single, other in zip(usual._fields, usual, at_once, strict=True):
        assert single.dtype == other.dtype, name
        assert single.tobytes() == other.tobytes(), name
