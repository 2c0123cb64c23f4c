"""The measure, worked out by hand on three small timelines."""

import pytest

from publisher.dynamic_ttl.core.replay.measure import (
    at_equal_polls,
    best_fixed,
    cost,
    cost_of_best_fixed,
    fixed_cost,
)


@pytest.mark.parametrize(
    ("per_day", "worth", "best", "least"),
    [
        # One post a day: every 480 minutes 3 visits and 240 minutes of waiting; every 60 minutes
        # 24 visits and 30 minutes; every 15 minutes 96 visits and 7.5 minutes.
        (1.0, 10.0, 60, 270.0),
        (1.0, 2.0, 60, 78.0),
        (1.0, 50.0, 480, 390.0),
        # A post a week, and a hundred a day.
        (1 / 7, 10.0, 480, 30.0 + 240.0 / 7),
        (100.0, 10.0, 15, 960.0 + 750.0),
    ],
)
def test_the_best_fixed_value_is_that_of_trying_the_three(
    per_day: float, worth: float, best: int, least: float
) -> None:
    """15, 60 or 480 minutes; its cost is visits times worth plus waiting."""
    assert best_fixed(per_day, worth) == best
    assert cost_of_best_fixed(per_day, worth) == pytest.approx(least)


def test_a_reader_that_comes_when_a_post_does_costs_its_visits_alone() -> None:
    """Two posts a day, each seen at once by a visit of its own: 2 x 10; a third visit and half an
    hour of waiting for each post: 3 x 10 + 2 x 30."""
    assert cost(2.0, 0.0, 2.0, 10.0) == 20.0
    assert cost(3.0, 30.0, 2.0, 10.0) == 90.0
    assert fixed_cost(480.0, 2.0, 10.0) == 30.0 + 2.0 * 240.0


def test_a_fixed_interval_is_1_at_equal_polls() -> None:
    """Every 90 minutes: 16 visits; mean and median 45, and 81 minutes for nine of ten."""
    assert at_equal_polls(16.0, 45.0, 0.5) == 1.0
    assert at_equal_polls(16.0, 81.0, 0.9) == pytest.approx(1.0)
    assert at_equal_polls(8.0, 47.0, 0.5) == pytest.approx(47.0 / 90.0)
