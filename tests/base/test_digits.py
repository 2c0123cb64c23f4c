"""Whole numbers that strangers wrote."""

import pytest

from publisher.base.digits import LARGEST_ROW, number_up_to, whole_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("007", 7),
        ("2147483647", LARGEST_ROW),
        ("2147483648", None),
        ("9" * 5_000, None),  # Python would raise
        *((text, None) for text in ("", "-1", "+1", "1.0", " 1", "1_0", "x", "²", "٣")),
    ],
)
def test_a_whole_number(text: str, number: int | None) -> None:
    assert whole_number(text) == number


def test_a_bound_of_its_own() -> None:
    assert whole_number("400", 400) == 400
    assert whole_number("401", 400) is None
    assert whole_number("99999999999", 10**12) == 99999999999


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("0000000000007", 7),
        ("60", 60),
        ("61", 60),
        ("9" * 5_000, 60),
        *((text, None) for text in ("", "-1", "1.0", " 1", "x", "²")),
    ],
)
def test_a_number_that_is_cut(text: str, number: int | None) -> None:
    assert number_up_to(60, text) == number
