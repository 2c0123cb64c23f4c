"""Dates in words of a language, and its direction: 4 March 2024, 4. März 2024, 2024年3月4日.

A language is a tag such as de or pt-BR; English stands in for one that Babel does not know.
"""

from datetime import date
from functools import cache

from babel import Locale, UnknownLocaleError
from babel.dates import format_date, format_skeleton


def date_in(language: str, at: date) -> str:
    """A date in words."""
    words = format_date(at, "long", locale=_locale(language))
    first = at.day == 1 and language.lower().startswith("fr")  # which CLDR writes as 1
    return words.replace("1 ", "1er ", 1) if first else words


def month_in(language: str, at: date) -> str:
    """A month's name as it stands alone, at the beginning of a line."""
    here = _locale(language)
    # Babel gives another language's stand-alone names for one without its own.
    alone = "LLLL" in here.datetime_skeletons["yMMMM"].pattern
    return _capital(format_date(at, "LLLL" if alone else "MMMM", locale=here))


def month_of_year_in(language: str, at: date) -> str:
    """A month and its year, as a heading: March 2024, 2024年3月."""
    return _capital(format_skeleton("yMMMM", at, locale=_locale(language)))


def right_to_left(language: str) -> bool:
    """Whether the language's script runs from right to left."""
    return str(_locale(language).character_order) == "right-to-left"


def _capital(words: str) -> str:
    return words[0].upper() + words[1:]


@cache
def _locale(language: str) -> Locale:
    british = Locale.parse("en_GB")
    if language.lower() == "en":
        return british
    try:
        return Locale.parse(language, sep="-")
    except (ValueError, UnknownLocaleError):
        return british
