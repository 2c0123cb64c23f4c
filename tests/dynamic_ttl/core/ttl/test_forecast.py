"""What the counts say of the hours to come, checked against a process that is played out."""

from bisect import bisect
from math import exp
from random import Random

import pytest

from publisher.dynamic_ttl.core.ttl.activity import HALF_LIFE_DAYS, Activity
from publisher.dynamic_ttl.core.ttl.choice import choose, workspace
from publisher.dynamic_ttl.core.ttl.counts import (
    SIZES,
    SLOTS,
    Tables,
    minute_pattern,
    spread_within,
    within_hour,
)
from publisher.dynamic_ttl.core.ttl.forecast import Curve, integrate, sums_by, usual_cost
from publisher.dynamic_ttl.core.ttl.mixture import after
from publisher.dynamic_ttl.core.ttl.rule import TtlRule, numbers


def summed(usual: list[float], factor: float) -> tuple[list[float], float]:
    """The running sum of expected updates, and the chance that none comes at all."""
    number, steps = [0.0] * (len(usual) + 1), len(usual)
    curve, alone = Curve(number, [0.0] * len(number)), (1.0, 0.0)
    quiet = integrate(curve, 0, steps, (1.0, usual, -1), (factor, 1.0), 1.0, alone)
    return number, quiet


def played(usual: list[float], factor: float, rng: Random) -> int:
    """Updates of one play: `factor` times the usual rate until the first one, then the usual."""
    number, boost = 0, factor
    for updates in usual:
        at = 0.0
        while updates > 0.0:
            at += rng.expovariate(updates * boost)
            if at >= 1.0:
                break
            number, boost = number + 1, 1.0
    return number


def test_beyond_the_horizon_the_best_fixed_interval_is_assumed() -> None:
    """An update in 50 minutes and a poll worth 4: every 20 minutes, half of the cost for polls and
    half for waiting; a longer or a shorter interval where the menu has no such ttl."""
    curve = Curve([0.1 * step for step in range(101)], [0.0] * 101)
    assert usual_cost(curve, 15.0, 480.0, 4.0) == pytest.approx(4.0 / 20 + 20 / 50 / 2)
    assert usual_cost(curve, 30.0, 480.0, 4.0) == pytest.approx(4.0 / 30 + 30 / 50 / 2)
    assert usual_cost(curve, 1.0, 10.0, 4.0) == pytest.approx(4.0 / 10 + 10 / 50 / 2)


def test_an_ordinary_silence_changes_nothing() -> None:
    """With the factor 1 what is expected is what is usual, dense or sparse."""
    usual = [0.0, 0.001, 0.3, 4.0, 0.0, 1e-12]
    number, quiet = summed(usual, 1.0)
    assert number[-1] == pytest.approx(sum(usual))
    assert quiet == pytest.approx(exp(-sum(usual)))


def test_what_comes_every_night_comes_once() -> None:
    """However sure a silence makes it, one update is not expected to be ten."""
    number, quiet = summed([0.9, 0.0, 0.0], 50.0)
    assert 1.0 < number[-1] < 1.9
    assert quiet < 1e-9


@pytest.mark.parametrize("factor", [0.1, 3.0, 12.0])
def test_the_expectation_is_that_of_the_process(factor: float) -> None:
    """The sum is the mean of many plays, within four standard errors."""
    usual, rng, plays = [0.2, 0.0, 0.8, 0.05], Random(11), 20_000
    seen = [played(usual, factor, rng) for _ in range(plays)]
    mean = sum(seen) / plays
    error = (sum((share - mean) ** 2 for share in seen) / plays / plays) ** 0.5
    number, quiet = summed(usual, factor)
    assert number[-1] == pytest.approx(mean, abs=4 * error)
    assert quiet == pytest.approx(seen.count(0) / plays, abs=0.02)


def test_the_factors_of_a_day_are_those_of_each_slot() -> None:
    rng = Random(3)
    tables = Tables(*([rng.random() for _ in range(size)] for size in SIZES.values()))
    within = [0.0] * len(tables.minutes)
    spread_within(tables, 7.0, 0.8, within)
    for slot, factor in enumerate(within):
        common = minute_pattern(tables, slot % SLOTS, 7.0, 0.8)
        assert factor == within_hour(tables, slot, common, 0.8)


@pytest.mark.parametrize("together", [1, 3])
def test_as_many_are_expected_as_come(together: int) -> None:
    """In the middle of a silence, where each update comes alone or with two others."""
    rng, day, begin, times = Random(0), 86_400, 0, list[int]()
    while begin < 300 * day:
        begin += int(rng.expovariate(0.5 / day)) + 7200
        times += [begin + 600 * place for place in range(together)]
    rule = numbers(TtlRule(), HALF_LIFE_DAYS)
    work, known = workspace(rule), Activity.empty("UTC").history(0)
    expected, came = 0.0, 0
    for now in range(100 * day, 290 * day, day):
        for at in times[known.past.number : bisect(times, now)]:
            known = after(known, at, rule.half_life)
        if now - known.past.last > 3 * 3600:
            choose(known, now, rule, work)
            expected += sums_by(work.curve, 24 * 60.0)[0]
            came += bisect(times, now + day) - known.past.number
    assert expected == pytest.approx(came, rel=0.15)
