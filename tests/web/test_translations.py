"""Each language has each of the public pages' words, with the same placeholders."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.pofile import read_po
from flask.testing import FlaskClient
from jinja2 import Environment

from publisher.base.media_files import Attachment
from publisher.base.text import BUILT_IN, parse_links
from publisher.installation import Site
from publisher.web import page_answers
from publisher.web.translations import FOLDER, languages
from tests.factories import make_post, set_settings

ROOT = Path(__file__).parent.parent.parent
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]")
LANGUAGES = ["de", "es", "fr", "it", "ja", "nl", "pl", "pt", "zh"]
SHOWN_FAILURES = (404, 410, 429, 503)  # what readers meet; other refusals are for programs


def words_of_templates() -> Iterator[str | tuple[str, ...]]:
    """The words in `_("…")` and `ngettext("…", "…", n)`."""
    jinja = Environment(extensions=["jinja2.ext.i18n"], autoescape=True)
    for path in sorted((ROOT / "templates").rglob("*.html")):
        messages = jinja.extract_translations(path.read_text("utf-8"))  # type: ignore[attr-defined]
        for _line, _function, words in messages:
            forms = (words,) if isinstance(words, str) else tuple(filter(None, words))
            yield forms[0] if len(forms) == 1 else forms


def words_of_modules() -> Iterator[str]:
    """The words in `gettext("…")`, of failures, and of the links that a new blog has."""
    for path in sorted((ROOT / "publisher" / "web").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "gettext":
                yield from (str(a.value) for a in node.args if isinstance(a, ast.Constant))
    for status in SHOWN_FAILURES:
        yield from page_answers.WORDS[status]
    yield from (link.label for link in parse_links(BUILT_IN))


WORDS = set(words_of_templates()) | set(words_of_modules())


def test_all_words_are_found() -> None:
    """The search for words sees templates, plural forms and modules."""
    assert languages() == LANGUAGES
    assert {"Read on", ("%(num)d minute", "%(num)d minutes"), "Archive", "Gone"} <= WORDS
    assert len(WORDS) > 70


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_every_word(language: str) -> None:
    """In all its plural forms; placeholders are kept, and markup is never added."""
    with (FOLDER / f"{language}.po").open("rb") as file:
        catalogue = read_po(file)
    for words in WORDS:
        message = catalogue.get(words)
        assert message, f"{words} is missing"
        forms = message.string if isinstance(message.string, tuple | list) else (message.string,)
        forms = [form or "" for form in forms]
        assert len(forms) == (1 if isinstance(words, str) else catalogue.num_plurals)
        wanted = set(PLACEHOLDER.findall(words if isinstance(words, str) else words[0]))
        for form in forms:
            assert form.strip(), words
            assert set(PLACEHOLDER.findall(form)) == wanted, words
            assert "%" not in PLACEHOLDER.sub("", form), words
            assert not set(form) & set("<>"), words


def episode(site: Site, minutes: int) -> str:
    """The address of a post with a recording of this length."""
    sound = Attachment("/a.mp3", "audio/mpeg", 1_000_000, minutes * 60)
    make_post(site, "Spoken.", title=f"Episode {minutes}", enclosure=sound)
    return f"/posts/episode-{minutes}"


def test_pages_speak_the_blogs_language(site: Site, client: FlaskClient) -> None:
    """Words, links that nobody renamed, plural forms and failures; the studio stays English."""
    set_settings(site, {"language": "pl", "navigation": f"{BUILT_IN}\nMoje | /moje"})
    counted = {1: "1 minuta", 3: "3 minuty", 5: "5 minut", 22: "22 minuty", 112: "112 minut"}
    for minutes, words in counted.items():
        assert f", {words}," in client.get(episode(site, minutes)).text
    page = client.get("/").text
    assert re.findall(r'<li><a href="/\w*"[^>]*>(\w+)</a>', page)[:3] == [
        "Wpisy",
        "Archiwum",
        "Subskrybuj",
    ]
    assert ">Moje</a>" in page
    assert "Najnowsze wpisy" in page
    assert "Nic tu nie ma" in client.get("/nothing-here-at-all").text
    assert "Log in" in client.get("/studio/login").text
    assert "Przejdź" not in client.get("/studio/login").text


@pytest.mark.parametrize(
    ("language", "words"),
    [("pt-BR", "Subscrever"), ("zh-Hant-TW", "订阅"), ("fi", "Subscribe"), ("xx", "Subscribe")],
)
def test_a_region_has_the_words_of_its_language(
    site: Site, client: FlaskClient, language: str, words: str
) -> None:
    """A language without a catalogue is English."""
    set_settings(site, {"language": language})
    assert words in client.get("/subscribe").text


def test_a_page_runs_as_its_script_does(site: Site, client: FlaskClient) -> None:
    """The whole page of an Arabic blog; the studio stays as it is."""
    set_settings(site, {"language": "ar"})
    assert '<html lang="ar" dir="rtl">' in client.get("/").text
    assert "dir=" not in client.get("/studio/login").text.partition("<head>")[0]
