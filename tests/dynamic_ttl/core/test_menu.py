"""Menus as people write them, and the values that stand for others."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from publisher.dynamic_ttl.core.menu import band, parse_menu
from publisher.dynamic_ttl.core.ttl.rule import planner_for


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("15/60/480", (15, 60, 480)),
        (" 60 / 15 / 60 ", (15, 60)),
        ("30", (30,)),
        ("any:15-17", (15, 16, 17)),
    ],
)
def test_a_menu_is_read(text: str, values: tuple[int, ...]) -> None:
    """Ascending, each value once, whatever the order and the spaces."""
    assert parse_menu(text).values == values


@given(st.integers(-5, 2000), st.sampled_from(["15/60/480", "any", "7", "30/90/1000"]))
def test_nearest_and_at_most(minutes: int, text: str) -> None:
    """`nearest` is the closest value, the smaller of two; `at_most` never above if it can."""
    menu = parse_menu(text)
    assert menu.nearest(minutes) == min(menu.values, key=lambda v: (abs(v - minutes), v))
    below = [value for value in menu.values if value <= minutes]
    assert menu.at_most(minutes) == (below[-1] if below else menu.smallest)
    above = [value for value in menu.values if value > minutes]
    assert menu.next_above(minutes) == (above[0] if above else None)


def test_milestones_span_a_fine_menu() -> None:
    """A coarse menu stands for itself; `any` is stood for by its ends and even ratios between."""
    assert parse_menu("15/60/480").milestones() == (15, 60, 480)
    some = parse_menu("any").milestones()
    assert (some[0], some[-1]) == (15, 1440)
    assert all(1 < later / earlier < 1.35 for earlier, later in pairwise(some))


def test_24_values_are_all_tried_and_25_are_not() -> None:
    """`auto` plans with a menu of 24 values, each of them, and looks ahead with one more."""
    for number, planner in ((24, "planned"), (25, "look-ahead")):
        menu = parse_menu("/".join(str(10 * value) for value in range(1, number + 1)))
        assert menu.coarse is (number == 24)
        assert planner_for("auto", menu) == planner
    assert parse_menu("any:30-53").milestones() == tuple(range(30, 54))


def test_a_day_is_shaded_in_five_bands() -> None:
    """Up to 20, 45, 120, 300 minutes, and above."""
    assert [band(minutes) for minutes in (15, 20, 21, 45, 46, 120, 121, 300, 301, 1440)] == [
        0, 0, 1, 1, 2, 2, 3, 3, 4, 4,
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["1", "10080", "any:1-1", "any:10080-10080"])
def test_a_ttl_is_from_a_minute_to_a_week(text: str) -> None:
    """The ends are allowed, what is beyond them is not."""
    assert parse_menu(text).values in {(1,), (10080,)}
    for wrong in ("0", "10081", "9" * 5000):
        with pytest.raises(ValueError, match="is not between 1 and 10080"):
            parse_menu(wrong)
