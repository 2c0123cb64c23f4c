"""Jekyll: which files it takes, and the address, name and state of each."""

import json
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from publisher.parts.importing.sites.generators.generator import Text
from publisher.parts.importing.sites.generators.jekyll import Jekyll
from tests.parts.importing.conftest import folder

DATE = datetime(2021, 2, 3, 23, 30, tzinfo=UTC)
POST = "_posts/2021-02-03-hot-tea.md"


def site(settings: str = "", files: dict[str, str] | None = None) -> Jekyll:
    return Jekyll(folder({"_config.yml": settings} | (files or {})), "", UTC)


@pytest.mark.parametrize(
    ("place", "settings", "fields", "address"),
    [
        (POST, "", {}, "/2021/02/03/hot-tea.html"),
        (POST, "permalink: pretty", {}, "/2021/02/03/hot-tea/"),
        (POST, "permalink: date", {"categories": ["A", "b"]}, "/a/b/2021/02/03/hot-tea.html"),
        (POST, "permalink: none", {}, "/hot-tea.html"),
        (POST, "permalink: ordinal", {}, "/2021/034/hot-tea.html"),
        (POST, "permalink: weekdate", {}, "/2021/W05/Wed/hot-tea.html"),
        (POST, "permalink: /b/:title", {}, "/b/hot-tea"),
        (POST, "permalink: none\ncollections: {posts: {permalink: /c/:title/}}", {}, "/c/hot-tea/"),
        (POST, "permalink: none", {"permalink": "/own/"}, "/own/"),
        (POST, "permalink: none", {"permalink": "pretty"}, "/2021/02/03/hot-tea/"),
        ("a/_posts/2021-02-03-b.md", "", {"category": "c"}, "/a/c/2021/02/03/b.html"),
        ("about.md", "", {}, "/about.html"), ("about.md", "permalink: pretty", {}, "/about/"),
        ("about.md", "permalink: /:title", {}, "/about"),
        ("about.md", "permalink: /:title/", {}, "/about/"),
        ("a/index.md", "", {}, "/a/"), ("index.md", "", {}, "/"), ("a/b.md", "", {}, "/a/b.html"),
        ("about.md", "", {"permalink": "/x/"}, "/x/"), (POST, "permalink: /:unknown/", {}, ""),
    ],
)  # fmt: skip
def test_the_address_of_a_text(
    place: str, settings: str, fields: dict[str, Any], address: str
) -> None:
    assert site(settings).path(Text(place, fields, DATE)) == address


def test_a_pattern_that_the_person_gives_is_for_posts() -> None:
    found = site()
    found.set_pattern("/p/:title/")
    assert found.path(Text(POST, {}, DATE)) == "/p/hot-tea/"
    assert found.path(Text(POST, {"permalink": "/own/"}, DATE)) == "/own/"
    assert found.path(Text("about.md")) == "/about.html"


@pytest.mark.parametrize(
    ("place", "taken"),
    [
        (POST, True), ("_drafts/a.md", True), ("a/_posts/b.md", True), ("about.md", True),
        ("_notes/a.md", True), ("_other/a.md", False), ("_layouts/a.md", False),
        ("vendor/a.md", False),
        ("a/vendor/b.md", True), ("node_modules/a.md", False), ("_hidden.md", True),
        ("_off/a.md", False),
    ],
)  # fmt: skip
def test_which_files_it_takes(place: str, taken: bool) -> None:
    settings = "collections: {notes: {output: true}, off: {output: false}}"
    assert site(settings).takes(place) == taken
    assert not site("collections: [notes]").takes("_notes/a.md")


@pytest.mark.parametrize(
    ("place", "kind", "title"),
    [(POST, "post", "Hot Tea"), ("_drafts/a.md", "post", ""), ("a.md", "page", ""),
     ("_posts/2021-02-03-hOT.md", "post", "Hot"), ("_postsx/a.md", "page", "")],
)  # fmt: skip
def test_kinds_and_titles(place: str, kind: str, title: str) -> None:
    assert (site().kind(Text(place)), site().title(Text(place))) == (kind, title)


@pytest.mark.parametrize(
    ("written", "utc"),
    [("2021-02-03 04:05:06", True), ("2021-2-3T4:05:06", True), ("2021-02-03 04:05:06.7", True),
     ("2021-02-03 04:05", False), ("2021-02-03", False), ("", False),
     ("x2021-02-03 04:05:06", False)],
)  # fmt: skip
def test_the_zone_of_a_date(written: str, utc: bool) -> None:
    """A whole time without an offset is UTC; anything else is of the site."""
    found = site("timezone: Europe/Berlin")
    assert found.date_zone(written) == (UTC if utc else ZoneInfo("Europe/Berlin"))


@pytest.mark.parametrize(
    ("rule", "place", "value"),
    [
        ({"values": {"x": 1}}, POST, "1"),
        ({"scope": {"path": ""}, "values": {"x": 1}}, "a.md", "1"),
        ({"scope": {"type": "posts"}, "values": {"x": 1}}, POST, "1"),
        ({"scope": {"type": "posts"}, "values": {"x": 1}}, "a.md", ""),
        ({"scope": {"type": "pages"}, "values": {"x": 1}}, "a.md", "1"),
        ({"scope": {"type": "pages"}, "values": {"x": 1}}, POST, ""),
        ({"scope": {"path": "/a/"}, "values": {"x": 1}}, "a/b.md", "1"),
        ({"scope": {"path": "a"}, "values": {"x": 1}}, "b.md", ""),
        ({"values": {"y": 1}}, POST, ""),
        ({"scope": {"type": "drafts"}, "values": {"x": 1}}, POST, ""),
    ],
)  # fmt: skip
def test_defaults(rule: dict[str, Any], place: str, value: str) -> None:
    found = site(json.dumps({"defaults": [rule]}))
    assert found.default(Text(place), "x") == value


def test_the_last_default_that_says_something_counts() -> None:
    rules = [{"values": {"x": 1}}, {"values": {"x": 2}}, {"values": {"y": 3}}]
    assert site(json.dumps({"defaults": rules})).default(Text(POST), "x") == "2"
    assert site().default(Text(POST), "x") == ""


@pytest.mark.parametrize(
    ("settings", "fields", "draft"),
    [
        ("", {}, False), ("", {"published": "false"}, True), ("", {"published": "False"}, True),
        ("", {"published": "true"}, False), ("", {"draft": "true"}, True),
        ("defaults: [{values: {published: false}}]", {}, True),
        ("defaults: [{values: {published: false}}]", {"published": "true"}, False),
        ("exclude: [_posts]", {}, True), ("exclude: [x]", {}, False),
    ],
)  # fmt: skip
def test_drafts(settings: str, fields: dict[str, Any], draft: bool) -> None:
    assert site(settings).is_draft(Text(POST, fields)) == draft


@pytest.mark.parametrize(
    ("address", "also"),
    [("", ()), ("/a", ("/a.html",)), ("/a/", ()), ("/a.html", ()),
    ("https://a.example/b", ("https://a.example/b.html",))],
)  # fmt: skip
def test_files_of_addresses(address: str, also: tuple[str, ...]) -> None:
    assert site().also(address) == also


@pytest.mark.parametrize(
    ("files", "guid"),
    [
        ({}, "https://a.example/2021/hot-tea"),
        ({"feed.xml": "<rss><guid>{{ post.id }}</guid>"}, "https://a.example/2021/hot-tea"),
        ({"feed.xml": "<feed><id>x{{ post.url }}</id>"}, "https://a.example/2021/tea.html"),
        ({"feed.xml": "<rss><guid>{{ post.url }}</guid>", "Gemfile": "gem 'jekyll-feed'"},
         "https://a.example/2021/hot-tea"),
        ({"other.txt": "<rss><guid>{{ post.url }}</guid>"}, "https://a.example/2021/hot-tea"),
        ({"a/feed.xml": "<rss><guid>{{ post.url }}</guid>"}, "https://a.example/2021/hot-tea"),
    ],
)  # fmt: skip
def test_guids(files: dict[str, str], guid: str) -> None:
    """As its plugin makes them, or as the template of the feed says."""
    found = site("", files)
    address = "https://a.example/2021/tea.html"
    assert found.guid(Text(POST), address) == guid
    assert found.guid_is_address == guid.endswith(".html")
    assert found.guid(Text(POST), "/2021/tea.html") == ""


def test_a_slug_in_a_guid_and_signs() -> None:
    assert (
        site().guid(Text(POST, {"slug": "ä b"}), "https://a.example/x/")
        == "https://a.example/%C3%A4%20b"
    )


@pytest.mark.parametrize(
    ("settings", "files", "feeds"),
    [
        ("", {}, ["/feed.xml"]), ("feed: {path: /a.xml}", {}, ["/a.xml"]),
        ("", {"atom.xml": "<feed>"}, ["/atom.xml"]), ("", {"sitemap.xml": "<x>"}, ["/feed.xml"]),
        ("plugins: [jekyll-feed]", {"atom.xml": "<feed>"}, ["/atom.xml", "/feed.xml"]),
    ],
)  # fmt: skip
def test_feeds(settings: str, files: dict[str, str], feeds: list[str]) -> None:
    assert site(settings, files).feeds == feeds


def test_lists() -> None:
    """Only where a plugin makes them."""
    assert site().lists("a", "tag") == []
    found = site("jekyll-archives: {permalinks: {tag: t/:name/}}")
    assert found.list_pages == [("tag", "/t/:name/"), ("category", "/category/:name/")]


def test_where_the_site_was() -> None:
    assert site("url: https://a.example\nbaseurl: /b").base == "https://a.example/b"
    assert site("baseurl: /b").base == "/b"
    found = Jekyll(folder({"_config.toml": "url = 'https://a.example'"}), "", UTC)
    assert found.base == "https://a.example"
