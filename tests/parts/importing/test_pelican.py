"""Pelican: which files it takes, and the address of each."""

from datetime import UTC, datetime
from typing import Any

import pytest

from publisher.parts.importing.sites.generators.generator import Text
from publisher.parts.importing.sites.generators.pelican import Pelican
from tests.parts.importing.conftest import folder

DATE = datetime(2021, 2, 3, 23, 30, tzinfo=UTC)


def site(settings: str = "", files: dict[str, str] | None = None) -> Pelican:
    files = {"content/z.md": ""} if files is None else files
    return Pelican(folder({"pelicanconf.py": settings} | files), "", UTC)


@pytest.mark.parametrize(
    ("place", "settings", "fields", "address"),
    [
        ("a.md", "", {}, "/hot-tea.html"), ("a.md", "", {"slug": "s"}, "/s.html"),
        ("a.md", "", {"url": "own/"}, "/own/"),
        ("a.md", "", {"url": "/own/"}, "/own/"), ("a.md", "", {"title": "\u8336"}, ""),
        ("a.md", "", {"title": "Stra\u00dfe"}, "/strasse.html"),
        ("a b.md", "SLUGIFY_SOURCE = 'basename'", {}, "/a-b.html"),
        ("a b.md", "SLUGIFY_SOURCE = 'title'", {}, "/hot-tea.html"),
        ("a b.md", "SLUGIFY_SOURCE = 'a'", {}, "/hot-tea.html"),
        ("pages/a.md", "", {}, "/pages/hot-tea.html"),
        ("pages/a.md", "PAGE_URL = '{slug}/'", {}, "/hot-tea/"),
        ("a.md", "PAGE_URL = '{slug}/'", {}, "/hot-tea.html"),
        ("a.md", "ARTICLE_URL = '/x/{slug}'", {}, "/x/hot-tea"),
        ("a.md", "ARTICLE_URL = '{date:%Y}/{slug}'", {}, "/2021/hot-tea"),
        ("a.md", "ARTICLE_URL = '{date}'", {}, "/2021-02-03"),
        ("a.md", "ARTICLE_URL = '{date:%d}'\nTIMEZONE = 'Europe/Berlin'", {}, "/04"),
        ("a.md", "ARTICLE_URL = '{category}/{slug}'", {}, "/misc/hot-tea"),
        ("a.md", "ARTICLE_URL = '{category}'\nDEFAULT_CATEGORY = 'My Own'", {}, "/my-own"),
        ("News/a.md", "ARTICLE_URL = '{category}'", {}, "/news"),
        ("News/a.md", "ARTICLE_URL = '{category}'", {"category": "B c"}, "/b-c"),
        ("a.md", "ARTICLE_URL = '{author}'", {"author": "Ada L"}, "/ada-l"),
        ("a.md", "ARTICLE_URL = '{lang}'", {"lang": "de"}, "/de"),
        ("a.md", "ARTICLE_URL = '{lang}'\nDEFAULT_LANG = 'en'", {}, "/en"),
        ("a.md", "ARTICLE_URL = '{unknown}'", {}, ""),
        ("a.md", "SLUG_REGEX_SUBSTITUTIONS = [(r'[^a-z]', '_'), 5, ('x',)]", {}, "/hot_tea.html"),
    ],
)  # fmt: skip
def test_the_address_of_a_text(
    place: str, settings: str, fields: dict[str, Any], address: str
) -> None:
    assert (
        site(settings).path(Text(f"content/{place}", {"title": "Hot Tea"} | fields, DATE))
        == address
    )


def test_a_text_without_a_date_in_a_pattern_of_one() -> None:
    assert site("ARTICLE_URL = '{date}/{slug}'").path(Text("content/a.md", {"title": "T"})) == ""


def test_a_pattern_that_the_person_gives_is_for_posts() -> None:
    found = site()
    found.set_pattern("/p/:title/")
    assert found.path(Text("content/a.md", {"title": "T"}, DATE)) == "/p/a/"
    assert found.path(Text("content/pages/a.md", {"title": "T"}, DATE)) == "/pages/t.html"


@pytest.mark.parametrize(
    ("settings", "files", "root"),
    [("", {"content/a.md": ""}, "content/"), ("", {"a.md": ""}, ""),
    ("PATH = './texts/'", {"texts/a.md": ""}, "texts/"),
     ("PATH = 'gone'", {"a.md": ""}, "")],
)  # fmt: skip
def test_the_folder_of_texts(settings: str, files: dict[str, str], root: str) -> None:
    assert site(settings, files).root == root


@pytest.mark.parametrize(
    ("settings", "place", "taken", "kind"),
    [
        ("", "content/a.md", True, "post"), ("", "a.md", False, "post"),
        ("", "content/pages/a.md", True, "page"),
        ("", "content/pagesx/a.md", True, "post"),
        ("PAGE_PATHS = ['p', 'q']", "content/q/a.md", True, "page"),
        ("PAGE_PATHS = ['p']", "content/pages/a.md", True, "post"),
        ("", "content/themes/a.md", False, "post"),
    ],
)  # fmt: skip
def test_which_files_it_takes(settings: str, place: str, taken: bool, kind: str) -> None:
    found = site(settings)
    assert (found.takes(place), found.kind(Text(place))) == (taken, kind)
    assert not site("", {"a.md": ""}).takes("output/a.md")


@pytest.mark.parametrize(
    ("settings", "feeds"),
    [
        ("", ["/feeds/all.atom.xml"]), ("FEED_ALL_ATOM = None", []),
        ("FEED_ALL_ATOM = '/a.xml'", ["/a.xml"]),
        ("FEED_ALL_RSS = 'r.xml'", ["/feeds/all.atom.xml", "/r.xml"]),
        ("FEED_ATOM = 'a'\nFEED_RSS = 'r'", ["/feeds/all.atom.xml", "/a", "/r"]),
    ],
)  # fmt: skip
def test_feeds(settings: str, feeds: list[str]) -> None:
    assert site(settings).feeds == feeds


@pytest.mark.parametrize(
    ("settings", "kind", "lists"),
    [
        ("", "tag", [("/tag/hot-tea.html", "/"), ("/tag/hot-tea.html", "/")]),
        ("", "category", [("/category/hot-tea.html", "/feeds/hot-tea.atom.xml"),
        ("/category/hot-tea.html", "/")]),
        ("", "author", [("/author/hot-tea.html", "/feeds/hot-tea.atom.xml"),
        ("/author/hot-tea.html", "/feeds/hot-tea.rss.xml")]),
        ("TAG_SAVE_AS = ''", "tag", []),
        ("TAG_URL = 't/{slug}/'\nTAG_FEED_RSS = 't/{slug}.xml'", "tag",
         [("/t/hot-tea/", "/"), ("/t/hot-tea/", "/t/hot-tea.xml")]),
    ],
)  # fmt: skip
def test_lists(settings: str, kind: Any, lists: list[tuple[str, str]]) -> None:
    found = site(settings).lists("Hot tea", kind)
    assert [(page, feed or "/") for page, feed in found] == lists
    assert site(settings).lists("\u8336", kind) == []


def test_people_and_defaults() -> None:
    settings = {
        "AUTHOR": "Ada", "DEFAULT_METADATA": {"status": "draft"}, "ARTICLE_EXCLUDES": ["x"],
        "IGNORE_FILES": ["y"], "PAGE_EXCLUDES": ["z"],
    }  # fmt: skip
    found = site("\n".join(f"{name} = {value!r}" for name, value in settings.items()))
    assert (found.authors(Text("a.md")), found.authors(Text("a.md", {"author": "Bo"}))) == (
        ["Ada"],
        ["Bo"],
    )
    assert found.is_draft(Text("content/a.md"))
    assert not found.is_draft(Text("content/a.md", {"status": "published"}))
    assert found.private == ["x", "z", "y"]
    assert not site("DEFAULT_METADATA = 5").is_draft(Text("content/a.md"))
    assert found.of_folder("content/") == {}


def test_guids() -> None:
    """Tag addresses of host, day and path."""
    text = Text("a.md", {}, DATE)
    assert site().guid(text, "https://a.example:80/ä") == "tag:a.example,2021-02-03:/%C3%A4"
    assert site().guid(text, "/a") == site().guid(Text("a.md"), "https://a.example/a") == ""
    assert (
        site("TIMEZONE = 'Europe/Berlin'").guid(text, "https://a.example/a")
        == "tag:a.example,2021-02-04:/a"
    )
    assert site("SITEURL = 'https://a.example/b/'").base == "https://a.example/b"
