"""Menus as people write them, and the values that stand for others."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from publisher.core.menu import parse_menu


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
