"""Eleventy: its folder, and the address of each text by its permalink."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from publisher.parts.importing.sites.generators.eleventy import Eleventy
from publisher.parts.importing.sites.generators.generator import Text
from tests.parts.importing.conftest import folder

DATE = datetime(2021, 2, 3, 23, 30, tzinfo=UTC)


def site(program: str = "", files: dict[str, str] | None = None) -> Eleventy:
    return Eleventy(folder({".eleventy.js": program} | (files or {})), "", UTC)


ADDRESSES: list[tuple[str, dict[str, Any], str]] = [
    ("a.md", {}, "/a/"), ("b/index.md", {}, "/b/"), ("index.md", {}, "/"),
    ("b/a.md", {}, "/b/a/"),
    ("a.md", {"permalink": "/own/"}, "/own/"),
    ("a.md", {"permalink": "own/index.html"}, "/own/"),
    ("a.md", {"permalink": "own.html"}, "/own.html"), ("a.md", {"permalink": False}, ""),
    ("a.md", {"permalink": "false"}, ""), ("a.md", {"permalink": ""}, ""),
    ("a.md", {"permalink": None}, ""),
    ("a.md", {"permalink": "/{{ page.fileSlug }}/"}, "/a/"),
    ("2021-02-03-a.md", {"permalink": "/{{page.fileSlug}}/"}, "/a/"),
    ("b/index.md", {"permalink": "/{{ page.fileSlug }}/"}, "/b/"),
    ("b/2021-02-03-a.md", {"permalink": "/x{{ page.filePathStem }}/"}, "/x/b/a/"),
    ("a.md", {"permalink": "/{{ title }}/", "title": "Hot Tea"}, "/Hot Tea/"),
    ("a.md", {"permalink": "/{{ Title | slug }}/", "title": "Hot Tea"}, "/hot-tea/"),
    ("a.md", {"permalink": "/{{- title | slugify -}}/", "title": "Hot Tea"}, "/hot-tea/"),
    ("a.md", {"permalink": "/{{ title | slugify | url }}/", "title": "A"}, "/a/"),
    ("a.md", {"permalink": "/{{ title | url }}/", "title": "A"}, "/A/"),
    ("a.md", {"permalink": "/{{ title | shout }}/", "title": "A"}, ""),
    ("a.md", {"permalink": "/{{ unknown }}/"}, ""), ("a.md", {"permalink": "/{% x %}/"}, ""),
    ("a.md", {"permalink": "/{{ n }}/", "n": 5}, ""),
    ("a.md", {"permalink": "/{{ page.date | date: '%Y/%m' }}/"}, "/2021/02/"),
    ("a.md", {"permalink": "/{{ date | dateFormat('%Y') }}/"}, "/2021/"),
    ("a.md", {"permalink": "/{{ page.date | date: 'YYYY' }}/"}, ""),
    ("a.md", {"permalink": "/{{ page.date | other: '%Y' }}/"}, ""),
    ("a.md", {"permalink": "/{{ page.date | date: '%Y' | slug }}/"}, ""),
    ("a.md", {"permalink": "/{{ page.date }}/"}, ""),
    ("a.md", {"permalink": "/{{ date | slug }}/", "date": "x"}, ""),
]  # fmt: skip


def test_the_address_of_a_text() -> None:
    wrong = [
        (place, fields, address, got)
        for place, fields, address in ADDRESSES
        if (got := site().path(Text(place, fields, DATE))) != address
    ]
    assert not wrong


def test_a_date_that_is_not_known_makes_no_address() -> None:
    text = Text("a.md", {"permalink": "/{{ page.date | date: '%Y' }}/"})
    assert site().path(text) == ""


def test_a_pattern_that_the_person_gives() -> None:
    """A text's own address comes before it."""
    found = site()
    found.set_pattern("/p/:title/")
    assert found.path(Text("a.md", {}, DATE)) == "/p/a/"
    assert found.path(Text("a.md", {"permalink": "/own/"}, DATE)) == "/own/"


@pytest.mark.parametrize(
    ("files", "address", "draft"),
    [
        ({"b/b.json": '{"permalink": "/x/{{ page.fileSlug }}/"}'}, "/x/a/", False),
        ({"b/b.11tydata.json": '{"permalink": "/x/"}'}, "/x/", False),
        ({"b/b.11tydata.js": 'module.exports = { permalink: "/x/" }'}, "/x/", False),
        ({"b/b.11tydata.cjs": "module.exports = { permalink: false }"}, "", True),
        ({"b/b.11tydata.mjs": "export default { draft: true }"}, "/b/a/", True),
        ({"b/b.11tydata.js": "export default { draft: false }"}, "/b/a/", False),
        ({"b/b.json": '{"draft": true}'}, "/b/a/", True),
        ({"b/c.json": '{"draft": true}'}, "/b/a/", False),
    ],
)  # fmt: skip
def test_data_of_a_folder(files: dict[str, str], address: str, draft: bool) -> None:
    found, text = site("", files), Text("b/a.md", {}, DATE)
    assert (found.path(text), found.is_draft(text)) == (address, draft)


@pytest.mark.parametrize(
    ("program", "files", "root"),
    [
        ('input: "./src/"', {"src/a.md": ""}, "src/"), ('input: "gone"', {}, ""),
        ("", {"a.md": ""}, ""),
        ("", {"src/_includes/a": "", "src/b.md": ""}, "src/"), ("", {"_data/a": ""}, ""),
        ("", {"a/_data/x": "", "b/_data/x": ""}, ""), ("", {"a/b/_data/x": ""}, ""),
    ],
)  # fmt: skip
def test_the_folder_of_texts(program: str, files: dict[str, str], root: str) -> None:
    """That of the settings, or the one that has Eleventy's own folders."""
    assert site(program, files).root == root


@pytest.mark.parametrize(
    ("program", "files", "base"),
    [
        ("", {"_data/site.json": '{"url": "https://a.example/"}'}, "https://a.example"),
        ("", {"x/_data/metadata.yaml": "siteUrl: https://a.example"}, "https://a.example"),
        ("", {"_data/meta.yml": "baseUrl: https://a.example"}, "https://a.example"),
        ("", {"_data/config.json": '{"base": "http://a.example"}'}, "http://a.example"),
        ("", {"_data/site.json": '{"origin": "https://a.example"}'}, "https://a.example"),
        ("", {"_data/site.json": '{"url": "/b"}'}, ""),
        ("", {"_data/other.json": '{"url": "https://a.example"}'}, ""),
        ("",
         {"_data/site.js": 'module.exports = { siteURL: "https://a.example" }'},
          "https://a.example"),
        ('base: "https://a.example"', {}, "https://a.example"),
        ("", {"a/site.json": '{"url": "https://a.example"}'}, ""),
        ('url: "https://b.example"',
         {"_data/site.json": '{"url": "https://a.example"}'}, "https://a.example"),
    ],
)  # fmt: skip
def test_where_the_site_was(program: str, files: dict[str, str], base: str) -> None:
    assert site(program, files).base == base


@pytest.mark.parametrize(
    ("program", "files", "feeds"),
    [
        ("outputPath: '/a.xml'", {}, ["/a.xml"]), ("outputPath: 'a.json'", {}, []),
        ("outputPath: '${x}/a.xml'", {}, []),
        ("", {"feed.njk": "permalink: /f.xml"}, ["/f.xml"]),
        ("", {"b/rss.xml.njk": "permalink: 'f.xml'"}, ["/f.xml"]),
        ("", {"atom.11ty.js": 'permalink: "f.xml"'}, ["/f.xml"]), ("", {"feed.njk": "x"}, []),
        ("", {"other.njk": "permalink: /f.xml"}, []),
        ("outputPath: '/f.xml'", {"feed.njk": "permalink: /f.xml"}, ["/f.xml"]),
    ],
)  # fmt: skip
def test_feeds(program: str, files: dict[str, str], feeds: list[str]) -> None:
    assert site(program, files).feeds == feeds


@pytest.mark.parametrize(
    ("name", "text", "pages"),
    [
        ("tags.njk", "pagination: x\npermalink: /t/{{ tag }}/", [("tag", "/t/:name/")]),
        ("author.liquid", "pagination: x\npermalink: t/{{ author }}/", [("author", "/t/:name/")]),
        ("tags.njk", "permalink: /t/{{ tag }}/", []), ("tags.njk", "pagination: x", []),
        ("lists.njk", "pagination: x\npermalink: /t/{{ tag }}/", []),
        ("tags.txt", "pagination: x\npermalink: /t/{{ tag }}/", []),
    ],
)  # fmt: skip
def test_pages_of_lists(name: str, text: str, pages: list[tuple[str, str]]) -> None:
    assert site("", {name: text}).list_pages == pages


@pytest.mark.parametrize(
    ("place", "taken"),
    [("a.md", True), ("_includes/a.md", False), ("b/_data/a.md", False), ("_posts/a.md", True),
     ("_drafts/a.md", True), ("_pages/a.md", True), ("node_modules/a.md", False), ("_a.md", True)],
)  # fmt: skip
def test_which_files_it_takes(place: str, taken: bool) -> None:
    assert site().takes(place) == taken


def test_which_files_it_takes_in_a_folder_with_a_line() -> None:
    found = site('input: "_src"', {"_src/a.md": ""})
    assert (found.takes("_src/a.md"), found.takes("a.md"), found.takes("_src/_x/a.md")) == (
        True,
        False,
        False,
    )


def test_files_that_are_ignored() -> None:
    found = site(
        "c.ignores.add('./b/*.md'); c.ignores.add(`src/c.md`)", {"src/a.md": "", "src/_data/x": ""}
    )
    assert found.private == ["b/*.md", "c.md"]


@pytest.mark.parametrize(
    ("place", "fields", "kind"),
    [
        ("a.md", {}, "page"), ("a.md", {"tags": "post"}, "post"),
        ("a.md", {"tags": ["Posts"]}, "post"),
        ("a.md", {"tags": ["blog"]}, "post"), ("a.md", {"tags": ["x"]}, "page"),
        ("2021-02-03-a.md", {}, "post"),
        ("b/a.md", {}, "post"), ("b/a.md", {"layout": "page"}, "page"),
        ("a.md", {"tags": "post", "layout": "page"}, "page"),
    ],
)  # fmt: skip
def test_posts_and_pages(place: str, fields: dict[str, Any], kind: str) -> None:
    assert site().kind(Text(place, fields)) == kind


def test_pages_in_the_folder_of_texts() -> None:
    found = site('input: "src"', {"src/a.md": ""})
    assert (found.kind(Text("src/a.md")), found.kind(Text("src/b/a.md"))) == ("page", "post")


def test_notes_of_the_digital_garden() -> None:
    """What is kept of a note, its name and dates."""
    fields = {
        "dg-publish": True,
        "dg-note-properties": {"a": 1},
        "dg-created": "2021",
        "dg-updated": "2022",
    }
    made = site().fields(fields, "b/Hot tea.md")
    assert {name: made[name] for name in ("title", "a", "date", "updated")} == {
        "title": "Hot tea", "a": 1, "date": "2021", "updated": "2022",
    }  # fmt: skip
    made = site().fields(
        {"dg-publish": True, "title": "T", "dg-note-properties": 5, "created": "2020"}, "a.md"
    )
    assert (made["title"], made["date"], made["updated"]) == ("T", "2020", None)
    made = site().fields(
        {"dg-publish": True, "date": "2019", "updated": "x", "dg-created": "y"}, "a.md"
    )
    assert (made["date"], made["updated"]) == ("2019", "x")
    assert site().fields({"a": 1}, "b.md") == {"a": 1}


def test_data_are_known_in_texts() -> None:
    found = site("", {"_data/site.json": json.dumps({"name": "N"})})
    assert found.settings == {"site": {"name": "N"}, "metadata": {"name": "N"}}
