"""The words of the blog's pages in its language: catalogues of gettext, one file a language.

Templates mark their words with `_("…")`, in English. Pages behind the login stay English: they call
the same functions, which return the words unchanged there.
"""

import io
from contextlib import suppress
from functools import cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from flask import Flask, request

from publisher.base.errors import PublisherError
from publisher.web.rendering import settings

FOLDER = Path(__file__).parent / "languages"
_ENGLISH_ROOMS = ("/studio", "/readers", "/river", "/setup", "/indieauth")


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


def ngettext(one: str, several: str, number: int) -> str:
    """The form of the words that `number` needs, in the language of this page."""
    return _of_page().ngettext(one, several, number)


def _of_page() -> NullTranslations:
    if request.path.startswith(_ENGLISH_ROOMS):
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
