"""Tables, JSON, CSV, summaries, populations and the comparison of two results."""

import csv
import io
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from publisher.base.errors import InvalidData
from publisher.dynamic_ttl.core.specs import SpecError
from publisher.simulator import grid
from publisher.simulator import results as report
from publisher.simulator.clients import CLIENTS, parse_client, read_population
from publisher.simulator.grid import Result
from publisher.simulator.replaying import counted
from publisher.simulator.replaying.figures import Tally, figures, quantile
from tests.simulator.cases import DAY, random_timeline, timeline

FIELDS = {
    "timeline",
    "publisher",
    "client",
    "days",
    "updates",
    "polls_per_day",
    "polls_per_update",
    "hit_rate",
    "delay_mean_minutes",
    "delay_median_minutes",
    "delay_p95_minutes",
    "stale_share",
    "missed_updates",
    "pending",
    "bytes_per_day",
    "efficiency",
}


def results(*clients: str, lines: int = 2) -> list[Result]:
    """Small real results."""
    work = grid.tasks(
        [
            replace(random_timeline(np.random.default_rng(seed), days=20), name=f"case {seed}")
            for seed in range(lines)
        ],
        ["fixed:60"],
    )
    return [part for parts in grid.run(work, grid.ReplayOptions(clients)) for part in parts]


def test_json_has_the_fixed_fields_and_csv_the_same_numbers() -> None:
    """The names that scripts rely on, in every row; both formats agree."""
    rows = report.rows(results("ttl", "fixed:30"), 20)
    read = json.loads(report.as_json(rows))
    assert len(read) == 4
    assert read[0].keys() >= FIELDS
    from_csv = list(csv.DictReader(io.StringIO(report.as_csv(rows))))
    assert [float(row["efficiency"]) for row in from_csv] == [row["efficiency"] for row in read]
    assert json.loads(report.as_json([])) == []


def test_figures_by_hand() -> None:
    """Two clients for two days: ten polls a day, four items, one missed and one pending."""
    known = {
        counted.POLLS: 40, counted.HITS: 10, counted.FULL: 12,
        counted.ITEMS: 8, counted.SEEN: 4, counted.MISSED: 2, counted.PENDING: 2,
        counted.DELAY: 4 * 1800, counted.LONGEST: 3600, counted.STALE: 86400,
    }  # fmt: skip
    counts = [known.get(column, 0) for column in range(counted.COUNTS)]
    delays = Counter({30: 4})
    measured = figures(Tally(counts, delays, 2, 4 * DAY, 6, 1, 1, 1800.0, 10.0), window=10)
    assert (measured.changes_per_day, measured.cost) == (1.5, 10 * 10 + 2 * 30)
    assert measured.cost_of_best_fixed == 24 * 10 + 2 * 30  # two updates a day, every hour
    assert (measured.days, measured.updates, measured.polls_per_day, measured.polls_per_update) == (
        2,
        4,
        10,
        5,
    )
    assert (measured.hit_rate, measured.stale_share) == (0.25, 0.25)
    assert (measured.missed_updates, measured.pending) == (1, 1)
    assert (measured.delay_mean_minutes, measured.delay_max_minutes) == (30, 60)
    assert measured.delay_median_minutes == 29.5
    assert measured.bytes_per_day == (40 * 300 + 12 * (600 + 28_000)) / 4
    assert measured.efficiency == pytest.approx(30 * 10 / 720)


def test_quantiles_of_minute_bins() -> None:
    """Bin 0 is no delay at all; within a bin the value is interpolated, up to the longest delay;
    nothing seen gives 0."""
    assert quantile({}, 0.5, 0.0) == 0
    delays = {10: 4, 0: 6}
    assert quantile(delays, 0.5, 10.0) == 0
    assert quantile(delays, 0.8, 10.0) == 9.5
    assert quantile(delays, 0.8, 9.25) == 9.25
    assert quantile(delays, 1.0, 10.0) == 10


def test_summary_takes_geometric_means_and_names_the_worst() -> None:
    """Efficiencies below 0.01 count as 0.01."""
    rows = report.rows(results("oracle", "fixed:30", lines=3), 20)
    oracle, fixed = report.summary(rows)
    assert oracle["efficiency_geometric_mean"] == pytest.approx(0.01)
    theirs = [row["efficiency"] for row in rows if row["client"] == "fixed:30"]
    assert fixed["efficiency_geometric_mean"] == pytest.approx(np.prod(theirs) ** (1 / 3))
    assert fixed["efficiency_worst"] == max(theirs)
    assert report.geometric_mean([0.0, 1.0]) == pytest.approx(0.1)
    assert "geometric mean" in report.as_table(rows)


def test_population_is_reported_per_kind_and_in_total(tmp_path: Path) -> None:
    """Shares weigh polls by readers and delays by the items they saw."""
    file = tmp_path / "readers.txt"
    file.write_text("# who reads\n30% fixed:60\n10 fixed:480  # the lazy ones\n\n")
    population = read_population(file)
    assert tuple(population.values()) == (0.75, 0.25)
    rows = report.rows(results(*population, lines=1), 20, population)
    assert [row["client"] for row in rows] == ["fixed:60", "fixed:480", "population"]
    often, seldom, whole = rows
    assert whole["polls_per_day"] == pytest.approx(
        0.75 * often["polls_per_day"] + 0.25 * seldom["polls_per_day"], rel=1e-5
    )
    assert often["delay_mean_minutes"] < whole["delay_mean_minutes"] < seldom["delay_mean_minutes"]
    assert often["delay_p95_minutes"] < whole["delay_p95_minutes"] < seldom["delay_p95_minutes"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no clients"),
        ("ttl\n", "line 1: expected: share client"),
        ("1 ttl\nhalf ttl\n", "line 2: expected: share client"),
        ("0 ttl\n", "line 1: a share is a number above 0"),
        ("nan ttl\n", "line 1: a share is a number above 0"),
        ("1 nobody\n", "line 1: unknown client 'nobody'; known: ttl, fixed"),
    ],
)
def test_bad_populations(tmp_path: Path, text: str, message: str) -> None:
    """What is wrong, and on which line."""
    (tmp_path / "readers.txt").write_text(text)
    with pytest.raises(InvalidData) as error:
        read_population(tmp_path / "readers.txt")
    assert message in str(error.value)


def test_every_client_can_be_simulated_by_name() -> None:
    """All names of the interface parse; the oracle is the simulator's own."""
    for name in CLIENTS:
        assert parse_client(name).name == name
    with pytest.raises(SpecError, match="takes no options"):
        parse_client("oracle:5")


def saved(folder: Path, name: str, factor: float, timelines: int, client: str = "ttl") -> Path:
    """A result file in which every figure is `factor` times the place of its timeline."""
    rows = [
        {"timeline": f"t{place}", "publisher": "forward", "client": client}
        | dict.fromkeys(report.MEASURES, factor * (place + 1))
        for place in range(timelines)
    ]
    path = folder / name
    path.write_text(json.dumps(rows))
    return path


def test_compare_pairs_timelines(tmp_path: Path) -> None:
    """The ratio is taken per timeline, so that differences between timelines do not blur it."""
    first = report.read_results(saved(tmp_path, "a.json", 1, 21))
    second = report.read_results(saved(tmp_path, "b.json", 0.8, 20))
    (comparison,) = report.compare(first, second)
    assert comparison["timelines"] == 20
    assert comparison["efficiency"] == pytest.approx(
        {"ratio": 0.8, "low": 0.8, "high": 0.8, "beyond_chance": True}
    )
    assert "0.800 (0.800 to 0.800)" in report.compared_table([comparison])
    assert "efficiency: B has 20.0% less than A, beyond chance" in report.compared_table(
        [comparison]
    )


def test_compare_of_a_result_with_itself_says_no_less_and_no_more(tmp_path: Path) -> None:
    """Of one timeline, where nothing is said of chance."""
    same = report.read_results(saved(tmp_path, "a.json", 1, 1))
    assert "B has as much as A;" in report.compare(same, same)[0]["says"][0]


def test_compare_calls_noise_chance_and_leaves_rows_without_figures_out(tmp_path: Path) -> None:
    """Ratios on both sides of 1 are chance; 19 timelines are too few to say; nulls pair not."""
    first = report.read_results(saved(tmp_path, "a.json", 1, 21))
    noisy = [row | {"efficiency": row["efficiency"] * (0.5, 2.0)[place % 2]}
             for place, row in enumerate(first[:20])]  # fmt: skip
    (comparison,) = report.compare(first, noisy)
    assert comparison["efficiency"]["beyond_chance"] is False
    assert comparison["says"][0].startswith("efficiency: no difference beyond chance (1.000")
    (few,) = report.compare(first[:19], noisy)
    assert few["efficiency"]["beyond_chance"] is None
    assert "this may be chance" in few["says"][0]
    blank = report.blank_rows(first[0]["timeline"], ["p"], ["c"], None)[0]
    blank |= {name: first[0][name] for name in ("publisher", "client")}
    (tmp_path / "c.json").write_text(json.dumps([blank, *first[1:]]))
    (comparison,) = report.compare(first, report.read_results(tmp_path / "c.json"))
    assert comparison["timelines"] == 20


def test_compare_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    """Of 200 samples of 30 noisy ratios around 0.9, some 95 % have 0.9 in their interval."""
    rng = np.random.default_rng(2)
    covered = 0
    for seed in range(200):
        low, high = report.interval((np.log(0.9) + rng.normal(0, 0.2, 30)).tolist(), seed)
        assert low is not None
        assert high is not None
        covered += low <= 0.9 <= high
    assert 175 <= covered <= 198


def test_compare_seldom_sees_a_difference_where_there_is_none() -> None:
    """Of the fewest timelines of which it speaks, in a tenth of all cases at most."""
    rng, seen = np.random.default_rng(3), 0
    for seed in range(200):
        low, high = report.interval(rng.normal(0, 0.2, report.ENOUGH_TIMELINES).tolist(), seed)
        seen += not (low or 0) <= 1.0 <= (high or 0)
    assert seen <= 20


def test_compare_of_single_timelines_and_other_rules(tmp_path: Path) -> None:
    """One timeline has no interval; two files with one rule each are compared all the same."""
    first = report.read_results(saved(tmp_path, "a.json", 1, 1))
    second = report.read_results(saved(tmp_path, "b.json", 2, 1, client="doubling"))
    (comparison,) = report.compare(first, second)
    assert comparison["polls_per_day"] == {
        "ratio": 2.0,
        "low": None,
        "high": None,
        "beyond_chance": None,
    }
    with pytest.raises(InvalidData, match="in common"):
        report.compare(first, [row | {"timeline": "other"} for row in second])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "[1]",
        '[{"timeline": "x"}]',
        '[{"timeline": 1, "efficiency": "x"}]',
        "[" * 9**6,
        json.dumps(
            [
                {
                    **dict.fromkeys(report.MEASURES, float("nan")),
                    "timeline": "x",
                    "publisher": "y",
                    "client": "z",
                }
            ]
        ),
    ],
)
def test_compare_refuses_what_is_no_result(tmp_path: Path, text: str) -> None:
    """One line, no traceback."""
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(InvalidData) as error:
        report.read_results(tmp_path / "x.json")
    assert "\n" not in str(error.value)


def test_timelines_of_the_same_name_stay_apart() -> None:
    """Two files called alike, in two folders, are two rows."""
    lines = [timeline([DAY, 5 * DAY], 12), timeline([DAY, 5 * DAY, 6 * DAY], 12)]
    work = grid.tasks(lines, ["fixed:60"])
    parts = [part for results in grid.run(work, grid.ReplayOptions()) for part in results]
    assert len(grid.merged(parts)) == 2
