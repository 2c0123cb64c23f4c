"""Astro and Docusaurus: what their programs say, and the address of each text."""

from datetime import UTC, datetime
from typing import Any

import pytest

from publisher.parts.importing.sites.generators.astro import Astro, Docusaurus
from publisher.parts.importing.sites.generators.generator import Text
from tests.parts.importing.conftest import folder

DATE = datetime(2021, 2, 3, 23, 30, tzinfo=UTC)
POST = "src/content/blog/Hot Tea.md"
ROUTE = "src/pages/blog/[slug].astro"


def site(program: str = "", files: dict[str, str] | None = None) -> Astro:
    held = {"astro.config.mjs": program, "src/content/blog/z.md": ""}
    return Astro(folder(held | (files or {})), "", UTC)


@pytest.mark.parametrize(
    ("route", "text", "address"),
    [
        ("blog/[slug]", "getCollection('blog')", "/blog/hot-tea/"),
        ("blog/[...slug]", "getCollection(\n 'blog')", "/blog/hot-tea/"),
        ("blog/[slug]/index", "CollectionEntry<'blog'>", "/blog/hot-tea/"),
        ("[slug]", "const all = 'blog'", "/hot-tea/"), ("b/[slug]", "", "/b/hot-tea/"),
        ("b/[slug]", "getCollection('other')", ""), ("blog/x", "getCollection('blog')", ""),
        ("blog/[slug]/x", "getCollection('blog')", ""),
        ("blog/[page]", "getCollection('blog')", ""),
        ("tags/[tag]", "getCollection('blog')", ""), ("[lang]/[slug]", "getCollection('blog')", ""),
        ("[category]/[slug]", "getCollection('blog')", ""),
        ("b/[slug]", "getCollection('blog') paginate(", ""),
        ("b/[year]/[month]/[slug]", "getCollection('blog')", "/b/2021/02/hot-tea/"),
        ("b/[year]/[day]/[slug]", "getCollection('blog')", "/b/2021/03/hot-tea/"),
        ("b/[slug]", "getCollection('blog'); slug: post.data.Own, x", "/b/mine/"),
        ("b/[slug]", "getCollection('blog'); slug: post.data.gone }", ""),
        ("b/[slug]", "getCollection('blog'); slug: post.id.replace(/a/, ''),", ""),
        ("b/[slug]", "getCollection('blog'); slug: post.id.split('/'),", ""),
        ("b/[slug]", "getCollection('blog'); slug: post.slug,", "/b/hot-tea/"),
    ],
)  # fmt: skip
def test_the_route_of_a_collection(route: str, text: str, address: str) -> None:
    found = site("", {f"src/pages/{route}.astro": text})
    assert found.path(Text(POST, {"own": "mine"}, DATE)) == address


@pytest.mark.parametrize(
    ("place", "fields", "address"),
    [
        ("src/content/blog/deep/One.md", {}, "/blog/deep/one/"),
        ("src/content/blog/deep/index.md", {}, "/blog/deep/"),
        ("src/content/blog/index.md", {}, "/blog/index/"),
        (POST, {"slug": "Own One"}, "/blog/Own One/"),
        ("src/content/notes/a.md", {}, ""), ("src/pages/A b.md", {}, "/A b/"),
        ("src/pages/index.md", {}, "/"),
        ("src/pages/a/index.md", {}, "/a/"), ("src/pages/indey.md", {}, "/indey/"),
        ("src/pages/aa.md", {}, "/aa/"),
    ],
)  # fmt: skip
def test_the_address_of_a_text(place: str, fields: dict[str, Any], address: str) -> None:
    found = site("", {ROUTE: "getCollection('blog')"})
    assert found.path(Text(place, fields, DATE)) == address


def test_dates_in_names_and_routes() -> None:
    """Where a route has the day, the name has it no more."""
    found = site("", {"src/pages/[year]/[month]/[day]/[slug].astro": "getCollection('blog')"})
    assert found.path(Text("src/content/blog/2020-05-06-a.md")) == "/2020/05/06/a/"
    assert found.path(Text("src/content/blog/a.md", {}, DATE)) == "/2021/02/03/a/"
    assert found.path(Text("src/content/blog/a.md")) == ""


@pytest.mark.parametrize(
    ("program", "address", "also"),
    [
        ("trailingSlash: 'never'", "/blog/a", ()), ("trailingSlash: 'always'", "/blog/a/", ()),
        ("build: { format: 'file' }", "/blog/a/", ("/blog/a.html",)),
        ("build: { format: 'directory' }", "/blog/a/", ()),
        ("build: { format: 'a' }", "/blog/a/", ()),
    ],
)  # fmt: skip
def test_ends_of_addresses(program: str, address: str, also: tuple[str, ...]) -> None:
    found = site(program, {ROUTE: "getCollection('blog')"})
    assert found.path(Text("src/content/blog/a.md")) == address
    assert (found.also(address), found.also("")) == (also, ())


def test_a_pattern_that_the_person_gives() -> None:
    found = site("", {ROUTE: "getCollection('blog')"})
    found.set_pattern("/p/:title/")
    assert found.path(Text("src/content/blog/a.md", {}, DATE)) == "/p/a/"
    assert found.path(Text("src/pages/a.md", {}, DATE)) == "/a/"


@pytest.mark.parametrize(
    ("program", "files", "base"),
    [
        ('site: "https://a.example/", base: "/b"', {}, "https://a.example/b"), ("", {}, ""),
        ("", {"src/consts.ts": "export const SITE_URL = 'https://a.example'"}, "https://a.example"),
        ("", {"src/site.config.mjs": "website: 'https://a.example/'"}, "https://a.example"),
        ("", {"src/consts.ts": "export const SITE = 'no address'"}, ""),
        ("", {"src/other.ts": "url: 'https://a.example'"}, ""),
        ("site: 'https://a.example'",
         {"src/consts.ts": "SITE_URL = 'https://b.example'"}, "https://a.example"),
    ],
)  # fmt: skip
def test_where_the_site_was(program: str, files: dict[str, str], base: str) -> None:
    assert site(program, files).base == base


COLLECTIONS = """
const posts = defineCollection({ loader: glob({ base: './texts/posts' }),
  schema: z.object({
    created: z.date(), title: z.string(),
    updatedAt: z.date(),
  }) })
const notes = defineCollection({ loader: glob({ base: `${TOP}/notes`, generateId: x }) })
const TOP = 'deep'
export const collections = { blog: posts, notes }
"""


@pytest.mark.parametrize("name", ["src/content.config.ts", "src/content/config.mjs"])
def test_collections_of_a_program(name: str) -> None:
    """Their folders under the names by which they are exported, and the field of the date."""
    found = site(
        "",
        {
            name: COLLECTIONS,
            "src/pages/n/[slug].astro": "getCollection('notes')",
            ROUTE: "getCollection('blog')",
        },
    )
    assert found.tops == {"texts/posts/": "blog", "deep/notes/": "notes"}
    assert (found.computed, found.dates) == ({"notes"}, ["created"])
    assert found.path(Text("texts/posts/a.md")) == "/blog/a/"
    assert found.path(Text("deep/notes/a.md")) == ""
    assert (found.takes("texts/posts/a.md"), found.takes("texts/a.md")) == (True, False)


@pytest.mark.parametrize(
    ("place", "taken"),
    [(POST, True), ("src/pages/a.md", True), ("src/data/a.md", True), ("src/a.md", False),
    ("src/content/_a.md", False),
     ("src/pages/_b/a.md", False), ("src/content/layouts/a.md", False)],
)  # fmt: skip
def test_which_files_it_takes(place: str, taken: bool) -> None:
    assert site().takes(place) == taken


@pytest.mark.parametrize(
    ("place", "dated", "kind"),
    [
        (POST, False, "post"),
        (POST, True, "post"),
        ("src/pages/a.md", False, "page"),
        ("src/pages/a.md", True, "post"),
    ],
)
def test_posts_and_pages(place: str, dated: bool, kind: str) -> None:
    assert site().kind(Text(place, {}, DATE if dated else None)) == kind


@pytest.mark.parametrize(
    ("name", "pages"),
    [
        ("tags/[tag]", [("tag", "/tags/:name/")]),
        ("tag/[...tag]/[page]", [("tag", "/tag/:name/")]),
        ("t/[Tags]", [("tag", "/t/:name/")]), ("by/[author]", [("author", "/by/:name/")]),
        ("authors/[id]", [("author", "/authors/:name/")]),
        ("author/[id]/index", [("author", "/author/:name/")]),
        ("b/[id]", []), ("b/[category]", []), ("authors/[id]/x", []),
    ],
)  # fmt: skip
def test_pages_of_lists(name: str, pages: list[tuple[str, str]]) -> None:
    assert site("", {f"src/pages/{name}.astro": ""}).list_pages == pages


def test_feeds() -> None:
    names = ("rss.xml.js", "b/atom.xml.ts", "my-feed.xml.mjs", "rss.js", "x.xml.js", "rss.xml.txt")
    found = site("", {f"src/pages/{name}": "" for name in names})
    assert found.feeds == ["/b/atom.xml", "/my-feed.xml", "/rss.xml"]


# -- Docusaurus


def docusaurus(program: str = "", files: dict[str, str] | None = None) -> Docusaurus:
    return Docusaurus(folder({"docusaurus.config.js": program} | (files or {})), "", UTC)


@pytest.mark.parametrize(
    ("program", "place", "fields", "address"),
    [
        ("", "blog/a.md", {}, "/blog/a"), ("", "blog/2021-02-03-a.md", {}, "/blog/2021/02/03/a"),
        ("", "blog/2021-02-03/a.md", {}, "/blog/2021/02/03/a"),
        ("", "blog/2021-2-3-a.md", {}, "/blog/2021/2/3/a"),
        ("", "blog/2021/02/03/a.md", {}, "/blog/2021/02/03/a"),
        ("", "blog/2021-02/03-a/index.md", {}, "/blog/2021/02/03/a"),
        ("", "blog/team/2021-02-03-a.md", {}, "/blog/2021/02/03/team/a"),
        ("", "blog/a/index.md", {}, "/blog/a"), ("", "blog/a.md", {"slug": "/own/"}, "/blog/own"),
        ("blog: { routeBasePath: '/' }", "blog/a.md", {}, "/a"),
        ("blog: { routeBasePath: 'news/' }", "blog/a.md", {}, "/news/a"),
        ("blog: { path: './texts' }", "texts/a.md", {}, "/blog/a"),
        ("plugins: [['@docusaurus/plugin-content-blog', { path: 'texts' }]]", "texts/a.md",
         {}, "/blog/a"),
    ],
)  # fmt: skip
def test_addresses_of_docusaurus(
    program: str, place: str, fields: dict[str, Any], address: str
) -> None:
    found = docusaurus(program)
    assert (found.path(Text(place, fields, DATE)), found.takes(place)) == (address, True)


def test_other_settings_of_docusaurus() -> None:
    found = docusaurus("url: 'https://a.example', baseUrl: '/b/', blog: { exclude: ['x/**'] }")
    assert (found.base, found.private) == ("https://a.example/b", ["_*", "x/**"])
    assert found.feeds == ["/blog/rss.xml", "/blog/atom.xml"]
    assert found.is_draft(Text("blog/_a.md"))
    assert not found.is_draft(Text("blog/a.md"))
    found.set_pattern("/p/:title/")
    assert found.path(Text("blog/a.md", {}, DATE)) == "/p/a/"


@pytest.mark.parametrize(
    ("page", "lists"),
    [
        ("true", ["/blog/authors/ada-lovelace-2"]),
        ("{permalink: /me/}", ["/blog/authors/me"]),
        ("false", []),
    ],
)
def test_pages_of_authors_of_docusaurus(page: str, lists: list[str]) -> None:
    found = docusaurus("", {"blog/authors.yml": f"AdaLovelace2:\n  page: {page}"})
    assert [path for path, _ in found.lists("AdaLovelace2", "author")] == lists
    assert found.lists("a", "tag") == [("/blog/tags/a", "")]
    assert found.lists("AdaLovelace2", "category") == []
