"""Hugo: the address of a text by its place, its fields and the site's settings."""

from datetime import UTC, datetime
from typing import Any

import pytest

from publisher.parts.importing.sites.generators.generator import Text
from publisher.parts.importing.sites.generators.hugo import Hugo
from tests.parts.importing.conftest import folder

DATE = datetime(2021, 2, 3, 23, 30, tzinfo=UTC)
SECTION = {"content/posts/z.md": "x"}


def site(settings: str = "", **files: str) -> Hugo:
    held = {"hugo.toml": settings} | {name.replace("__", "/"): text for name, text in files.items()}
    return Hugo(folder(held | SECTION), "", UTC)


def path(place: str, settings: str = "", **fields: Any) -> str:
    return site(settings).path(Text(f"content/{place}", {"title": "Hot Tea", **fields}, DATE))


ADDRESSES: list[tuple[str, str, dict[str, Any], str]] = [
    ("posts/My File.md", "", {}, "/posts/my-file/"),
    ("posts/a.md", "", {"slug": "Own One"}, "/posts/own-one/"),
    ("posts/a.md", "uglyURLs = true", {}, "/posts/a.html"), ("a.md", "", {}, "/a/"),
    ("posts/My File.md", "disablePathToLower = true", {}, "/posts/My-File/"),
    ("posts/tea/index.md", "", {}, "/posts/tea/"), ("tea/index.md", "", {}, "/tea/"),
    ("posts/Deep One/a.md", "", {}, "/posts/deep-one/a/"),
    ("posts/a.md", "", {"url": "/own/x"}, "/own/x"), ("posts/a.md", "", {"url": "own"}, "/own"),
    ("posts/a.md", "[permalinks]\nposts = '/:year/:slug/'", {}, "/2021/hot-tea/"),
    ("posts/a.md", "[permalinks]\nposts = '/:year/:slug/'", {"slug": "s"}, "/2021/s/"),
    ("posts/a.md", "[permalinks]\nposts = '/:slugorfilename/'", {}, "/a/"),
    ("posts/a.md", "[permalinks]\nposts = '/:slugorcontentbasename/'", {"slug": "s"}, "/s/"),
    ("posts/A b.md", "[permalinks]\nposts = '/:contentbasename/:filename/:title/'",
     {"slug": "s"},
     "/a-b/a-b/hot-tea/"),
    ("posts/a.md", "[permalinks.page]\nposts = '/p/:title/'", {}, "/p/hot-tea/"),
    ("posts/d/a.md", "[permalinks]\nposts = '/:sections/:section/:title/'", {},
     "/posts/d/posts/hot-tea/"),
    ("posts/tea/index.md", "[permalinks]\nposts = '/:sections/:filename/'", {}, "/posts/tea/"),
    ("d/tea/index.md", "[permalinks]\nd = '/:sections/:filename/'", {}, "/d/tea/"),
    ("a.md", "[permalinks]\n'/' = '/root/:title/'", {}, "/root/hot-tea/"),
    ("tea/index.md", "[permalinks]\n'/' = '/root/:title/'", {}, "/root/hot-tea/"),
    ("posts/a.md", "[permalinks]\nposts = '/:unknown/'", {}, ""),
    ("posts/2021-02-03-a.md", "", {}, "/posts/2021-02-03-a/"),
    ("posts/2021-02-03-a.md", "[frontmatter]\ndate = [':filename']", {}, "/posts/a/"),
    ("posts/2021-02-03-a/index.md", "[frontmatter]\ndate = [':filename']", {}, "/posts/a/"),
    ("posts/2021-02-03-a.md", "[frontmatter]\ndate = [':filename']",
     {"slug": "s"}, "/posts/s/"),
    ("de/posts/a.md", "[languages.de]\n[languages.en]", {}, "/de/posts/a/"),
    ("en/posts/a.md", "[languages.de]\n[languages.en]", {}, "/posts/a/"),
    ("posts/a.de.md", "[languages.de]\n[languages.en]", {}, "/de/posts/a/"),
    ("posts/a.fr.md", "[languages.de]\n[languages.en]", {}, "/posts/a.fr/"),
    ("posts/a.en.md", "[languages.de]\n[languages.en]", {}, "/posts/a/"),
    ("posts/a.en.md", "defaultContentLanguageInSubdir = true\n[languages.en]",
     {}, "/en/posts/a/"),
    ("posts/a.de.md", "defaultContentLanguage = 'de'\n[languages.de]", {}, "/posts/a/"),
    ("posts/tea/index.de.md", "[languages.de]", {}, "/de/posts/tea/"),
    ("posts/a.de.md", "[languages.de]", {"url": "/own/"}, "/de/own/"),
    ("de/posts/a.md", "[languages.de]\n[permalinks]\nposts = '/:title/'", {}, "/de/hot-tea/"),
    ("de.md", "[languages.de]", {}, "/de/"),
]  # fmt: skip


def test_the_address_of_a_text() -> None:
    wrong = [
        (place, settings, fields, address, got)
        for place, settings, fields, address in ADDRESSES
        if (got := path(place, settings, **fields)) != address
    ]
    assert not wrong


def test_a_pattern_that_the_person_gives() -> None:
    found = site()
    found.set_pattern("/:year/:day/:title/")
    assert found.path(Text("content/posts/a.md", {"title": "T"}, DATE)) == "/2021/03/t/"


def test_days_are_those_of_the_sites_zone() -> None:
    found = site("timeZone = 'Europe/Berlin'\n[permalinks]\nposts = '/:day/'")
    assert found.path(Text("content/posts/a.md", {}, DATE)) == "/04/"


def test_settings_anywhere() -> None:
    """In any of its files and in any case; the more special one wins."""
    found = site(
        "baseURL = 'https://a.example/b/'\ncontentDir = 'texts/'",
        config___default__hugo__toml="x",
    )
    assert (found.base, found.root) == ("https://a.example/b", "texts/")
    files = {
        "config/_default/hugo.toml": "baseURL = 'https://b.example'",
        "config/_default/permalinks.toml": "Posts = '/:title/'",
        "config/_default/languages.yaml": "de: {weight: 1}",
        "hugo.toml": "baseURL = 'https://a.example'\n[permalinks]\nposts = '/x/'",
        "content/Posts/z.md": "x",
    }
    found = Hugo(folder(files), "", UTC)
    assert (found.base, found.languages) == ("https://b.example", ["de"])
    assert found.path(Text("content/Posts/a.md", {"title": "T"})) == "/t/"


def test_feeds_of_the_site_and_its_sections() -> None:
    files = {"content/b c/a.md": "x", "content/a/x.html": "x", "content/d/index.md": "x",
             "content/e.md": "x", "content/f/a.png": "x", "content/posts/z.md": "x"}  # fmt: skip
    found = Hugo(folder({"hugo.toml": ""} | files), "", UTC)
    assert found.feeds == ["/index.xml", "/a/index.xml", "/b-c/index.xml", "/posts/index.xml"]
    assert site("[outputFormats.RSS]\nbaseName = 'feed'").feeds == ["/feed.xml", "/posts/feed.xml"]
    many = Hugo(folder({f"content/s{n:03}/a.md": "x" for n in range(60)}), "", UTC)
    assert (len(many.feeds), many.feeds[-1]) == (51, "/s049/index.xml")


@pytest.mark.parametrize(
    ("place", "fields", "dated", "kind"),
    [
        ("posts/a.md", {}, True, "post"), ("posts/a.md", {}, False, "post"),
        ("a.md", {}, True, "page"),
        ("a.md", {}, False, "page"), ("a/index.md", {}, True, "page"),
        ("a/index.md", {}, False, "page"),
        ("posts/a/index.md", {}, True, "post"), ("a.md", {"type": "post"}, True, "post"),
        ("a.md", {"layout": "post"}, False, "page"), ("posts/a.md", {"type": "page"}, True, "page"),
        ("a/indey.md", {}, True, "post"), ("a/indew.md", {}, True, "post"),
    ],
)  # fmt: skip
def test_posts_and_pages(place: str, fields: dict[str, Any], dated: bool, kind: str) -> None:
    """What is in no section is a page, unless it is dated and says that it is a post."""
    assert site().kind(Text(f"content/{place}", fields, DATE if dated else None)) == kind


def test_a_site_without_sections() -> None:
    """There a dated text is a post; a bundle is no section."""
    found = Hugo(folder({"content/a.md": "x", "content/b/index.md": "x"}), "", UTC)
    assert found.sections == set()
    assert found.kind(Text("content/a.md", {}, DATE)) == "post"
    assert found.kind(Text("content/a.md")) == "page"


@pytest.mark.parametrize(
    ("cascade", "hidden"),
    [("cascade: {draft: true}", True), ("cascade: [{draft: true}]", True), ("cascade: 5", False),
     ("x: 1", False), ("cascade: [5]", False)],
)  # fmt: skip
def test_what_a_section_hands_down(cascade: str, hidden: bool) -> None:
    files = {"content/posts/_index.md": f"---\n{cascade}\n---\n", "hugo.toml": ""}
    found = Hugo(folder(files), "", UTC)
    assert found.is_draft(Text("content/posts/a.md")) == hidden
    assert not found.is_draft(Text("content/other/a.md"))


def test_a_section_whose_head_is_broken_hands_nothing_down() -> None:
    found = Hugo(folder({"content/posts/_index.md": "---\na: [\n---\n"}), "", UTC)
    assert not found.is_draft(Text("content/posts/a.md"))


def test_files_that_are_ignored() -> None:
    """By patterns, of which one that is none stops nothing."""
    found = site("ignoreFiles = ['/a\\.md$']")
    assert found.is_draft(Text("content/a.md"))
    assert not found.is_draft(Text("content/aa.md"))
    assert not site("ignoreFiles = ['(']").is_draft(Text("content/a.md"))


@pytest.mark.parametrize(
    ("settings", "kind", "lists"),
    [
        ("", "tag", [("/tags/hot-tea/", "/tags/hot-tea/index.xml")]),
        ("", "category", [("/categories/hot-tea/", "/categories/hot-tea/index.xml")]),
        ("", "author", []),
        ("[taxonomies]\na = 'authors'", "author", [("/authors/hot-tea/",
         "/authors/hot-tea/index.xml")]),
        ("[taxonomies]\na = 'author'", "author", [("/author/hot-tea/",
         "/author/hot-tea/index.xml")]),
        ("[taxonomies]\na = 'people'", "author", []),
    ],
)  # fmt: skip
def test_lists(settings: str, kind: Any, lists: list[tuple[str, str]]) -> None:
    assert site(settings).lists("Hot tea", kind) == lists


@pytest.mark.parametrize(
    ("place", "alias", "path"),
    [("posts/a.md", "/old/", "/b/old/"), ("posts/a.md", "old", "/b/posts/old"),
     ("posts/a/index.md", "old", "/b/posts/old"),
     ("posts/a.md", "https://c.example/", "https://c.example/")],
)  # fmt: skip
def test_former_addresses(place: str, alias: str, path: str) -> None:
    found = site("baseURL = 'https://a.example/b/'")
    assert found.alias(Text(f"content/{place}"), alias) == path
