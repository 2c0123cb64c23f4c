"""Dates in words: the forms that differ from a plain list of month names."""

from datetime import date

import pytest

from publisher.web.translations import date_in, month_in, month_of_year_in, right_to_left


@pytest.mark.parametrize(
    ("language", "day", "month", "heading"),
    [
        ("en", "1 March 2024", "March", "March 2024"),
        ("en-US", "March 1, 2024", "March", "March 2024"),
        ("en-GB", "1 March 2024", "March", "March 2024"),
        ("de-AT", "1. März 2024", "März", "März 2024"),
        ("fr", "1er mars 2024", "Mars", "Mars 2024"),
        ("pt-BR", "1 de março de 2024", "Março", "Março de 2024"),
        ("pl", "1 marca 2024", "Marzec", "Marzec 2024"),
        ("ru", "1 марта 2024\u202fг.", "Март", "Март 2024\u202fг."),
        ("fi", "1. maaliskuuta 2024", "Maaliskuu", "Maaliskuu 2024"),
        ("hu", "2024. március 1.", "Március", "2024. március"),
        ("ja", "2024年3月1日", "3月", "2024年3月"),
        ("ko", "2024년 3월 1일", "3월", "2024년 3월"),
        ("ar", "1 مارس 2024", "مارس", "مارس 2024"),
        ("xx", "1 March 2024", "March", "March 2024"),
    ],
)
def test_known_forms(language: str, day: str, month: str, heading: str) -> None:
    """A date, a month alone, and a month as a heading."""
    first = date(2024, 3, 1)
    assert date_in(language, first) == day
    assert month_in(language, first) == month
    assert month_of_year_in(language, first) == heading
    assert date_in("fr", date(2024, 3, 2)) == "2 mars 2024"


def test_direction() -> None:
    """Arabic, Hebrew, Persian and Urdu run from right to left; regions do as their language."""
    assert [right_to_left(tag) for tag in ("ar", "he", "fa-IR", "ur")] == [True] * 4
    assert [right_to_left(tag) for tag in ("en", "ja", "pt-BR", "xx")] == [False] * 4
