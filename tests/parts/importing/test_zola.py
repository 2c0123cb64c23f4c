"""Zola: the address of a text, its lists, and what a theme's fields do not say."""

from datetime import UTC, datetime
from typing import Any

import pytest

from publisher.parts.importing.sites.generators.generator import Text
from publisher.parts.importing.sites.generators.zola import Zola
from tests.parts.importing.conftest import folder

DATE = datetime(2021, 2, 3, 23, 30, tzinfo=UTC)


def site(settings: str = "", files: dict[str, str] | None = None) -> Zola:
    return Zola(folder({"zola.toml": settings, "x": ""} | (files or {})), "", UTC)


@pytest.mark.parametrize(
    ("place", "settings", "fields", "address"),
    [
        ("posts/Hot Tea.md", "", {}, "/posts/hot-tea/"),
        ("posts/a.md", "", {"slug": "Own One"}, "/posts/own-one/"),
        ("posts/a.md", "", {"path": "/x/y"}, "/x/y/"),
        ("posts/a/index.md", "", {}, "/posts/a/"), ("a.md", "", {}, "/a/"),
        ("index.md", "", {}, "/index/"), ("posts/2021-02-03-a.md", "", {}, "/posts/a/"),
        ("posts/茶.md", "", {}, ""),
        ("Hot Tea/a.md", "[slugify]\npaths = 'off'", {}, "/Hot Tea/a/"),
        ("Hot Tea/a.md", "[slugify]\npaths = 'safe'", {}, "/Hot Tea/a/"),
        ("Hot Tea/a.md", "[slugify]\npaths = 'on'", {}, "/hot-tea/a/"),
        ("posts/a.de.md", "[languages.de]", {}, "/de/posts/a/"),
        ("posts/a/index.de.md", "[languages.de]", {}, "/de/posts/a/"),
        ("posts/a.fr.md", "[languages.de]", {}, "/posts/a-fr/"),
        ("posts/a.en.md", "[languages.en]", {}, "/posts/a-en/"),
        ("posts/a.de.md", "default_language = 'de'\n[languages.de]\n[languages.en]",
         {}, "/posts/a-de/"),
    ],
)  # fmt: skip
def test_the_address_of_a_text(
    place: str, settings: str, fields: dict[str, Any], address: str
) -> None:
    assert site(settings).path(Text(f"content/{place}", fields, DATE)) == address


def test_a_pattern_that_the_person_gives() -> None:
    found = site()
    found.set_pattern("/p/:title/")
    assert found.path(Text("content/a.md", {}, DATE)) == "/p/a/"
    assert found.path(Text("content/a.md", {"path": "own"}, DATE)) == "/own/"


@pytest.mark.parametrize(
    ("place", "dated", "kind"),
    [("a.md", False, "page"), ("a.md", True, "post"), ("a/index.md", False, "page"),
    ("a/index.md", True, "post"),
     ("a/b.md", False, "post"), ("a/b/index.md", False, "post"), ("a/indey.md", False, "post"),
     ("a/aa.md", False, "post")],
)  # fmt: skip
def test_posts_and_pages(place: str, dated: bool, kind: str) -> None:
    assert site().kind(Text(f"content/{place}", {}, DATE if dated else None)) == kind


def test_fields_below_others() -> None:
    """Those of a theme say neither an address nor a state; a text's own win."""
    made = site().fields(
        {
            "a": 1,
            "extra": {"A": 2, "B": 3, "date": 4, "draft": True},
            "taxonomies": {"tags": ["t"]},
        },
        "x",
    )
    assert {name: made.get(name) for name in ("a", "b", "tags", "date", "draft")} == {
        "a": 1, "b": 3, "tags": ["t"], "date": None, "draft": None,
    }  # fmt: skip
    assert site().fields({"extra": 5, "taxonomies": None}, "x") == {"extra": 5, "taxonomies": None}


@pytest.mark.parametrize(
    ("head", "hidden"),
    [("draft = true", True), ("draft = false", False), ("password = 'x'", False), ("", False)],
)
def test_sections_that_are_drafts(head: str, hidden: bool) -> None:
    found = site("", {"content/posts/_index.md": f"+++\n{head}\n+++\n"})
    assert found.is_draft(Text("content/posts/a.md")) == hidden


def test_other_settings() -> None:
    lists = "ignored_content = ['x.md']\nfeed_filenames = ['r.xml', 'a.xml']"
    found = site(f"base_url = 'https://a.example/b'\n{lists}")
    assert (found.base, found.private, found.feeds) == (
        "https://a.example/b",
        ["x.md"],
        ["/r.xml", "/a.xml"],
    )
    assert (site().feeds, site("feed_filename = 'r.xml'").feeds) == (["/atom.xml"], ["/r.xml"])


TAXONOMIES = "taxonomies = [{name = 'tags'}, {name = 'authors'}]\nfeed_filename = 'r.xml'"


@pytest.mark.parametrize(
    ("settings", "kind", "lists"),
    [
        (TAXONOMIES, "tag", [("/tags/hot-tea/", "/tags/hot-tea/r.xml")]),
        (TAXONOMIES, "category", []), ("", "tag", []),
        (TAXONOMIES, "author", [("/authors/hot-tea/", "/authors/hot-tea/r.xml")]),
        ("taxonomies = [{name = 'author'}]", "author", [("/author/hot-tea/",
         "/author/hot-tea/atom.xml")]),
        ("taxonomies = [{name = 'categories'}]", "category", [("/categories/hot-tea/",
         "/categories/hot-tea/atom.xml")]),
    ],
)  # fmt: skip
def test_lists(settings: str, kind: Any, lists: list[tuple[str, str]]) -> None:
    assert site(settings).lists("Hot tea", kind) == lists
    assert site(settings).lists("茶", kind) == []
