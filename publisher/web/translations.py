"""The words of the blog's pages in its language: catalogues of gettext, one file a language; dates
in words: 4 March 2024, 4. März 2024, 2024年3月4日.

Templates mark their words with `_("…")`, in English. Pages behind the login stay English: they call
the same functions, which return the words unchanged there. A language is a tag such as de or pt-BR;
English stands in for one that Babel does not know.
"""

import io
from contextlib import suppress
from datetime import date
from functools import cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path

from babel import Locale, UnknownLocaleError
from babel.dates import format_date, format_skeleton
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from flask import Flask, request

from publisher.base.errors import PublisherError
from publisher.web.context import is_behind_login, settings

FOLDER = Path(__file__).parent / "languages"


def prepare(app: Flask) -> None:
    """Give an application's templates `_`, `gettext` and `ngettext`."""
    app.jinja_env.add_extension("jinja2.ext.i18n")
    app.jinja_env.install_gettext_callables(gettext, ngettext, newstyle=True)  # type: ignore[attr-defined]


def languages() -> list[str]:
    """The languages that there is a catalogue for, besides English."""
    return sorted(path.stem for path in FOLDER.glob("*.po"))


def gettext(words: str) -> str:
    """`words` in the language of this page."""
    return _of_page().gettext(words) if words else words


def ngettext(singular: str, plural: str, number: int) -> str:
    """The form of the words that `number` needs, in the language of this page."""
    return _of_page().ngettext(singular, plural, number)


def _of_page() -> NullTranslations:
    if is_behind_login() or request.path.startswith("/setup"):
        return catalogue("en")
    with suppress(PublisherError):
        return catalogue(settings().language)
    return catalogue("en")  # the database does not answer, and the error page says so


@cache
def catalogue(language: str) -> NullTranslations:
    """The words of a language tag such as de or pt-BR; those of English where there are none."""
    path = FOLDER / f"{language.lower().partition('-')[0]}.po"
    if not path.is_file():
        return NullTranslations()
    compiled = io.BytesIO()
    with path.open("rb") as file:
        write_mo(compiled, read_po(file))
    compiled.seek(0)
    return GNUTranslations(compiled)


def date_in(language: str, at: date) -> str:
    """A date in words."""
    words = format_date(at, "long", locale=_locale(language))
    first = at.day == 1 and language.lower().startswith("fr")  # which CLDR writes as 1
    return words.replace("1 ", "1er ", 1) if first else words


def month_in(language: str, at: date) -> str:
    """A month's name as it stands alone, at the beginning of a line."""
    locale = _locale(language)
    # Babel gives another language's stand-alone names for one without its own.
    alone = "LLLL" in locale.datetime_skeletons["yMMMM"].pattern
    return _capital(format_date(at, "LLLL" if alone else "MMMM", locale=locale))


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
