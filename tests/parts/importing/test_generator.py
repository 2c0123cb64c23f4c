"""What is the same for all generators: fields that hide a text, patterns of files, addresses."""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from publisher.parts.importing.sites.generators import generator
from publisher.parts.importing.sites.generators.generator import Generator, Text
from tests.parts.importing.conftest import folder

DATE = datetime(2021, 2, 3, 23, 30, tzinfo=UTC)


def made(pattern: str = "", **files: str) -> Generator:
    held = {name.replace("_", "."): text for name, text in files.items()}
    found = Generator(folder({"z": ""} | held), "", UTC)
    if pattern:
        found.set_pattern(pattern)
    return found


@pytest.mark.parametrize(
    ("stem", "date", "name"),
    [
        ("2021-02-03-tea", "2021-02-03", "tea"), ("2021-2-3_tea", "2021-2-3", "tea"),
        ("2021-02-03 - tea", "2021-02-03", "tea"), ("2021-02-03", "", "2021-02-03"),
        ("tea", "", "tea"), ("x2021-02-03-tea", "", "x2021-02-03-tea"),
        ("20210203-tea", "", "20210203-tea"),
    ],
)  # fmt: skip
def test_the_date_in_a_name(stem: str, date: str, name: str) -> None:
    assert Text(f"a/{stem}.md").dated_name == (date, name)


@pytest.mark.parametrize(
    "fields",
    [
        {"draft": "true"}, {"isdraft": "Yes"}, {"private": "1"}, {"unlisted": "on"},
         {"hidden": "true"},
        {"headless": "true"}, {"eleventyexcludefromcollections": "true"}, {"published": "false"},
        {"publish": "no"}, {"public": "0"}, {"listed": "off"}, {"render": "False"},
         {"dg-publish": "false"},
        {"status": "Draft"}, {"visibility": "hidden"}, {"status": "private"}, {"status": "skip"},
        {"status": "unlisted"}, {"status": "unpublished"}, {"visibility": "members"},
         {"password": "x"},
        {"expirydate": "2021-01-01"}, {"build": {"list": "never"}}, {"_build": {"render": False}},
        {"build": {"list": False}},
    ],
)  # fmt: skip
def test_fields_that_hide_a_text(fields: dict[str, Any]) -> None:
    assert generator.hides(fields)


@pytest.mark.parametrize(
    "fields",
    [
        {}, {"draft": "false"}, {"draft": ""}, {"published": "true"}, {"published": "2021-01-01"},
        {"status": "published"}, {"password": ""}, {"build": {"list": "always"}},
         {"title": "draft"},
        {"build": {"publishResources": False}}, {"draft": "maybe"}, {"public": "maybe"},
    ],
)  # fmt: skip
def test_fields_that_hide_none(fields: dict[str, Any]) -> None:
    assert not generator.hides(fields)


@pytest.mark.parametrize(
    ("patterns", "fit", "fit_not"),
    [
        ("", "", "a.md"), ("a.md", "a.md b/a.md", "xa.md a.mdx"), ("/a.md", "a.md", "b/a.md"),
        ("b/", "b/a.md c/b/a.md", "a/c.md"), ("b/c", "b/c/a.md b/c", "x/b/c/a.md"),
        ("./b/c", "b/c/a.md", "x/b/c/a.md"), ("**/c", "c/a.md b/c/a.md", "b/xc/a.md"),
        ("*.md", "a.md b/c.md", "a.mdx"), ("b/*.md", "b/a.md", "a.md"),
        ("[Dd]rafts", "Drafts/a drafts/a", "a"),
        ("*.md !a.md", "b.md", "a.md"), ("!a.md *.md", "a.md b.md", "c"),
        ("{a,b}.md", "a.md", "a.txt"),
        (" a.md ", "a.md", "b.md"),
    ],
)  # fmt: skip
def test_patterns_of_files(patterns: str, fit: str, fit_not: str) -> None:
    """As in `.gitignore`: of the folders above, too, and the last one counts."""
    found = made()
    found.private = patterns.split(" ") if patterns.strip() == patterns else [patterns]
    found.private = [pattern for pattern in found.private if pattern]
    for places, whether in ((fit, True), (fit_not, False)):
        for place in places.split():
            assert found.is_draft(Text(place)) == whether, place


def test_drafts_by_place_and_field() -> None:
    """Of no known program those in folders of such a name."""
    found = made()
    assert [found.is_draft(Text(place)) for place in ("drafts/a.md", "Private/a.md", "_drafts/a.md",
            "a/_drafts/b.md", "a.md")] == [True, True, True, True, False]  # fmt: skip
    assert found.is_draft(Text("a.md", {"draft": "true"}))


@pytest.mark.parametrize(
    ("folders", "taken"),
    [("archetypes layouts themes node_modules scaffolds _layouts _includes _site", False),
     ("posts _posts layout a", True)],
)  # fmt: skip
def test_folders_that_have_no_posts(folders: str, taken: bool) -> None:
    for name in folders.split():
        assert made().takes(f"{name}/a.md") == made().takes(f"b/{name}/a.md") == taken
    assert made().takes("themes.md")


@pytest.mark.parametrize(
    ("place", "fields", "kind"),
    [
        ("a.md", {}, "post"), ("about.md", {}, "page"), ("About.md", {}, "page"),
        ("b/about.md", {}, "post"),
        ("about.md", {"date": "2021-02-03"}, "post"),
        ("about.md", {"pubdate": "2021-02-03"}, "post"),
        ("2021-02-03-about.md", {}, "post"), ("abous.md", {}, "post"), ("aboutx.md", {}, "post"),
        ("a.md", {"layout": "page"}, "page"), ("a.md", {"type": "pages"}, "page"),
        ("a.md", {"kind": "page"}, "page"), ("a.md", {"layout": "post"}, "post"),
    ],
)  # fmt: skip
def test_posts_and_pages(place: str, fields: dict[str, Any], kind: str) -> None:
    assert made().kind(Text(place, fields)) == kind


@pytest.mark.parametrize(
    ("place", "slug", "title"),
    [
        ("a/tea.md", "tea", ""), ("a/index.md", "a", ""), ("index.md", "index", ""),
        ("2021-02-03-hot tea.md", "hot tea", "hot tea"), ("a/grün.md", "grün", "grün"),
        ("hot tea/index.md", "hot tea", "hot tea"), ("a/indey.md", "indey", ""),
        ("a/aa.md", "aa", ""),
    ],
)  # fmt: skip
def test_the_name_of_a_text_by_its_file(place: str, slug: str, title: str) -> None:
    assert (made().slug(Text(place)), made().title(Text(place))) == (slug, title)


@pytest.mark.parametrize(
    ("pattern", "fields", "path"),
    [
        ("", {}, ""), ("", {"permalink": "/own/"}, "/own/"), ("", {"url": "/own/"}, "/own/"),
        ("", {"permalink": "own"}, ""), ("", {"permalink": "/{{ x }}/"}, ""),
        ("", {"permalink": "https://a.example/x"}, "https://a.example/x"),
        ("", {"url": "http://a.example/x"}, "http://a.example/x"),
        ("", {"url": "ftp://a.example/x"}, ""),
        ("", {"permalink": "/:year/:title/"}, "/2021/tea/"), ("", {"permalink": "/a:b/"}, "/a:b/"),
        ("/:year/:title/", {}, "/2021/tea/"), ("/:year/:title/", {"url": "/own/"}, "/own/"),
        ("/:month/:day/:unknown/", {}, ""),
    ],
)  # fmt: skip
def test_the_path_of_a_text(pattern: str, fields: dict[str, Any], path: str) -> None:
    """Its own, or by the pattern that the person gives."""
    assert made(pattern).path(Text("a/tea.md", fields, DATE)) == path


def test_days_in_addresses_are_those_of_the_site() -> None:
    found = made("/:day/:title/")
    found.zone = ZoneInfo("Europe/Berlin")
    assert found.path(Text("tea.md", {}, DATE)) == "/04/tea/"
    assert found.path(Text("tea.md", {}, None)) == ""


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("title", "Hot-tea"), ("slug", "hot-tea"), ("name", "2021-02-03-Hot tea"),
        ("categories", "b/c"),
        ("category", "b"), ("path", "x/y"), ("basename", "2021-02-03-Hot tea"),
        ("output_ext", ".html"),
        ("id", "7"), ("filename", "2021-02-03-Hot tea"), ("section", "x"),
    ],
)  # fmt: skip
def test_words_of_a_pattern(word: str, value: str) -> None:
    fields = {"id": "7", "category": "B", "categories": ["c", "b"]}
    assert made().words(Text("x/y/2021-02-03-Hot tea.md", fields))[word] == value


def test_words_of_a_text_at_the_root_and_with_a_slug() -> None:
    words = made().words(Text("a.md", {"slug": "My Own"}))
    assert [words[n] for n in ("section", "path", "title", "slug", "category", "id")] == [
        "", "", "My-Own", "my-own", "", "",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("pattern", "base", "address", "guid"),
    [
        ("/:title/", "", "/tea/", ""),
        ("https://a.example/:title/", "https://a.example", "https://a.example/tea/",
         "https://a.example/tea/"),
        ("http://a.example:80/b/:title/", "http://a.example:80", "http://a.example:80/b/tea/",
         "http://a.example:80/b/tea/"),
    ],
)  # fmt: skip
def test_the_address_and_the_guid_of_a_text(
    pattern: str, base: str, address: str, guid: str
) -> None:
    found, text = made(pattern), Text("tea.md", {}, DATE)
    assert (found.base, found.address(text)) == (base, address)
    assert found.guid(text, found.address(text)) == guid
    assert found.address(Text("a.md", {"url": "https://b.example/x"})) == "https://b.example/x"


def test_what_is_not_known_has_no_address() -> None:
    assert made().address(Text("a.md")) == ""
    assert made().guid(Text("a.md"), "https://a.example/ä") == "https://a.example/%C3%A4"


@pytest.mark.parametrize(
    ("address", "path", "base"),
    [
        ("https://a.example/", "", "https://a.example"),
        ("http://a.example", "/b/", "http://a.example/b"),
        ("https://a.example/c/", "b", "https://a.example/c/b"), ("", "/b/", "/b"), ("", "", ""),
        ("a.example", "", ""), ("https://", "b", "/b"), ("ftp://a.example", "", ""),
    ],
)  # fmt: skip
def test_where_a_site_was(address: str, path: str, base: str) -> None:
    found = made()
    found._site(address, path)
    assert found.base == base


def test_zones_by_their_names() -> None:
    found = made()
    found._zone("Europe/Berlin", UTC)
    assert found.zone == ZoneInfo("Europe/Berlin")
    found._zone("Europe/Nowhere", UTC)
    assert found.zone == UTC


def test_former_addresses_are_paths_of_the_site() -> None:
    found = made()
    assert found.alias(Text("a.md"), "old/") == "/old/"
    found.base = "https://a.example/b"
    assert found.alias(Text("a.md"), "/old/") == "/b/old/"
    assert found.alias(Text("a.md"), "https://c.example/") == "https://c.example/"
    assert found.also("/x") == ()


def test_lists_by_their_patterns() -> None:
    """As the name is, and as a part of an address; for its own kind."""
    found = made()
    found.list_pages = [("tag", "/t/:name/"), ("author", "/a/:name/")]
    assert found.lists("Hot tea", "tag") == [("/t/hot-tea/", ""), ("/t/Hot tea/", "")]
    assert found.lists("tea", "author") == [("/a/tea/", "")]
    assert found.lists("tea", "category") == found.lists("", "tag") == []


def test_people_and_categories() -> None:
    text = Text("a.md", {"authors": ["Ada", "Bo"], "category": "x", "categories": ["y", "z"]})
    assert (made().authors(text), made().categories(text)) == (["Ada", "Bo"], ["x", "y", "z"])


def test_feeds_of_files() -> None:
    found = made(
        a_xml="<rss>", b_xml="<?xml?><feed x>", c_xml="<x>", d_xml="<rdf:RDF>", e_xml="<rssx>"
    )
    found.feeds_of_files([f"{name}.xml" for name in "abcde"])
    assert found.feeds == ["/a.xml", "/b.xml", "/d.xml"]


@pytest.mark.parametrize(
    ("inner", "ending", "path"),
    [("a", "/", "/a/"), ("a", ".html", "/a.html"), ("index", ".html", "/"),
    ("a/index", ".html", "/a/"),
     ("a/b", "", "/a/b"), ("h-index", "/", "/h-index/"), ("index", "", "/")],
)  # fmt: skip
def test_the_path_of_a_file(inner: str, ending: str, path: str) -> None:
    assert generator.path_of(inner, ending) == path


def test_fields_that_a_text_has_by_its_folders() -> None:
    """The nearest one counts; each is read once."""
    read = list[str]()

    class Some(Generator):
        def of_folder(self, top: str) -> dict[str, Any]:
            read.append(top)
            return {"": {"A": 1, "b": 1}, "x/": {"B": 2}, "x/y/": {"c": 3}}.get(top, {})

    found = Some(folder({"a": ""}), "", UTC)
    assert found.above("x/y/a.md") == {"a": 1, "b": 2, "c": 3}
    assert found.above("x/a.md") == {"a": 1, "b": 2}
    assert read == ["", "x/", "x/y/"]
