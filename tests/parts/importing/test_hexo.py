"""Hexo: which files it takes, and the address of each."""

from datetime import UTC, datetime
from typing import Any

import pytest

from publisher.parts.importing.sites.generators.generator import Text
from publisher.parts.importing.sites.generators.hexo import Hexo
from tests.parts.importing.conftest import folder

DATE = datetime(2021, 2, 3, 23, 30, tzinfo=UTC)


def site(settings: str = "") -> Hexo:
    return Hexo(folder({"_config.yml": settings}), "", UTC)


@pytest.mark.parametrize(
    ("place", "settings", "fields", "address"),
    [
        ("_posts/a b.md", "", {}, "/2021/02/03/a b/"),
        ("_posts/d/a.md", "", {}, "/2021/02/03/d/a/"),
        ("_posts/a.md", "permalink: :title.html", {"slug": "s"}, "/s.html"),
        ("_posts/a.md", "", {"permalink": "own/"}, "/own/"),
        ("_posts/a.md", "", {"permalink": "/own"}, "/own"),
        ("_posts/d/a.md", "permalink: :name/", {}, "/a/"),
        ("_posts/a.md", "permalink: :category/:post_title/",
         {"title": "Hot Tea"}, "/uncategorized/hot-tea/"),
        ("_posts/a.md", "permalink: :category/", {"categories": ["Hot Tea", "x"]}, "/Hot-Tea/"),
        ("_posts/a.md", "permalink: :abbrlink/", {"abbrlink": 77}, "/77/"),
        ("_posts/2021-02-03-a.md", "permalink: :title/", {}, "/2021-02-03-a/"),
        ("_posts/2021-02-03-a.md",
         "permalink: :title/\nnew_post_name: :year-:month-:day-:title.md", {}, "/a/"),
        ("_posts/a.md", "permalink: :unknown/", {}, ""), ("about/index.md", "", {}, "/about/"),
        ("about.md", "", {}, "/about.html"), ("about.md", "", {"permalink": "/x/"}, "/about.html"),
        ("_posts/a.md", "timezone: Europe/Berlin\npermalink: :day/", {}, "/04/"),
    ],
)  # fmt: skip
def test_the_address_of_a_text(
    place: str, settings: str, fields: dict[str, Any], address: str
) -> None:
    assert site(settings).path(Text(f"source/{place}", fields, DATE)) == address


def test_a_pattern_that_the_person_gives() -> None:
    found = site("permalink: :title/")
    found.set_pattern("/p/:title/")
    assert found.path(Text("source/_posts/a.md", {}, DATE)) == "/p/a/"


@pytest.mark.parametrize(
    ("settings", "base"),
    [("url: https://a.example\nroot: /b/", "https://a.example/b"),
    ("url: https://a.example/b", "https://a.example/b"),
     ("url: https://a.example/b\nroot: /b/", "https://a.example/b"), ("root: /b/", "/b"), ("", "")],
)  # fmt: skip
def test_where_the_site_was(settings: str, base: str) -> None:
    assert site(settings).base == base


@pytest.mark.parametrize(
    ("place", "taken", "kind"),
    [
        ("source/_posts/a.md", True, "post"), ("source/_drafts/a.md", True, "post"),
        ("source/a.md", True, "page"), ("source/_data/a.md", False, "page"),
        ("a.md", False, "page"),
        ("source/_postsx/a.md", False, "page"), ("source/b/_c.md", True, "page"),
    ],
)  # fmt: skip
def test_which_files_it_takes(place: str, taken: bool, kind: str) -> None:
    assert (site().takes(place), site().kind(Text(place))) == (taken, kind)


def test_other_settings() -> None:
    """The folder of texts, files that are left out, feeds."""
    assert (site("source_dir: /src/").root, site().root) == ("src/", "source/")
    assert site("exclude: [a]\nignore: b").private == ["a", "b"]
    assert (site().feeds, site("feed: {path: [/a.xml, b.xml]}").feeds) == (
        ["/atom.xml"],
        ["/a.xml", "/b.xml"],
    )


def test_lists() -> None:
    assert site().lists("Hot  tea", "tag") == [("/tags/Hot-tea/", "")]
    assert site().lists("x", "category") == [("/categories/x/", "")]
    assert site().lists("x", "author") == []
