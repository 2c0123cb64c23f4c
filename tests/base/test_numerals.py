"""Numbers as text: what strangers wrote, and numbers with their nouns."""

import pytest

from publisher.base.text import LARGEST_ROW, counted, number_up_to, whole_number


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


def test_each_number_has_the_form_it_needs() -> None:
    """None, one, two, many; a form of its own where an s does not make the plural."""
    assert [counted(number, "reader") for number in (0, 1, 2, 1200)] == [
        "0 readers", "1 reader", "2 readers", "1,200 readers",
    ]  # fmt: skip
    assert [counted(number, "fetch", "fetches") for number in (1, 2)] == ["1 fetch", "2 fetches"]
