"""Which format a source has, and who reads it."""

import json
from collections.abc import Mapping
from datetime import UTC
from zoneinfo import ZoneInfo

import pytest

from publisher.base.errors import InvalidData, InvalidInput
from publisher.parts.importing.formats import recognition
from publisher.parts.importing.imported import Batch
from tests.parts.importing.conftest import document, folder, read

HEAD = "---\ntitle: T\ndate: 2021-02-03 23:30:00\n---\nx"
FEED = '{"version": "jsonfeed.org/1", "items": [{"id": 1, "url": "b", "content_html": "x"}]}'
ENTRY = "AUTHOR: a\nTITLE: b\nSTATUS: Publish\n-----\nBODY:\nx\n-----\n--------\n"


@pytest.mark.parametrize(
    ("text", "name", "found"),
    [
        ('{"db": []}', "x", "ghost"),
        (" " * 9 + '{"x": "' + "y" * 190 + '", "db": 1}', "x", "json"),
        ('{ "meta" : {', "x", "ghost"), ('{"data":{', "x", "ghost"),
        ('{"x": {"data": {', "x", "json"), (FEED, "x", "json"),
        ('[{"appearance": 1}]', "x", "writeas"), ('{"username": 1}', "x", "writeas"),
        ("\ufeff\n " + FEED, "x", "json"),
        ("title,slug,content\n", "x", "bear"), ("web_title,content_html,status\n", "x", "beehiiv"),
        (ENTRY, "x", "movabletype"),
        ("<rss/>", "x", "rss"), ("<RDF/>", "x", "rss"), ("<feed/>", "x", "atom"),
        ('<rss xmlns:wp="http://wordpress.org/export/1.2/"/>', "x", "wxr"),
        ('<feed xmlns:wp="http://wordpress.org/export/1.2/"/>', "x", "atom"),
        ('<rss xmlns:wp="http://x/"/>', "x", "rss"), (HEAD, "x", "markdown"),
        ("+++\n+++\n", "x", "markdown"), ("words", "a.MD", "markdown"),
        ("words", "a.markdown", "markdown"), ("<p>words", "a.md", "markdown"),
        ('{"title": 1}', "a.md", "markdown"), ("[x]", "a.md", "markdown"),
        ('{ "title": "x" }', "a.json", "json"),
    ],
)  # fmt: skip
def test_formats_by_their_beginning(text: str, name: str, found: str) -> None:
    assert recognition.sniff(document(text, name)) == found


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is empty"), (" \n", "it is empty"), ("<html/>", "this is a web page"),
        ("<HTML/>", "this is a web page"), ("<!DOCTYPE html><p>", "this is a web page"),
        ("<html><br></p>", "this is a web page"),
        ("<livejournal/>", "LiveJournal's export is not read"), ("<zoo/>", "not a format we know"),
        ("words", "not a format we know"),
        ("[1]", "not a format we know"), ("<a/>", "not a format we know"),
    ],
)  # fmt: skip
def test_what_is_none(text: str, why: str) -> None:
    """The document is named."""
    with pytest.raises(InvalidData, match=f"^x: {why}"):
        read(text, name="x")


def test_a_format_that_is_named() -> None:
    """It wins over what the document looks like; one that is unknown is refused."""
    assert [*read("<rss><channel/></rss>", "rss").posts] == []
    with pytest.raises(
        InvalidInput, match=r"no format is called 'zoo' \(known: rss, atom, json, wxr, markdown, "
    ):
        read(HEAD, "zoo")
    with pytest.raises(InvalidData, match=r"^x: this is JSON, but not a JSON Feed"):
        read("{}", "json", "x")
    for format_, fits in (
        ("markdown", True),
        (None, True),
        ("rss", False),
        ("zoo", False),
        ("a", False),
    ):
        if fits:
            assert len([*recognition.read(folder({"a.md": HEAD}), format_, UTC).posts]) == 1
        else:
            with pytest.raises(
                InvalidInput, match=f"a folder or zip is read as markdown, not as {format_}"
            ):
                recognition.read(folder({"a.md": HEAD}), format_, UTC)


def addresses(text: str, permalink: str, zone: ZoneInfo | None = None) -> list[str]:
    return [
        post.address
        for post in recognition.read(document(text), None, zone or UTC, permalink).posts
    ]


MT = "TITLE: Tea\nBASENAME: {}\nSTATUS: {}\nDATE: 02/03/2021 11:30:00 PM\n"


@pytest.mark.parametrize(
    ("basename", "status", "permalink", "address"),
    [
        ("tea", "Publish", "/:year/:title/", "/2021/tea/"),
        ("tea", "Publish", "/:slug.html", "/tea.html"), ("tea", "Publish", "/:basename", "/tea"),
        ("tea", "Draft", "/:title/", ""), ("tea", "Future", "/:title/", ""),
        ("tea", "Publish", "", ""), ("", "Publish", "/:title/", ""),
        ("t\u00e9", "Publish", "/:title/", "/t%C3%A9/"),
        ("tea", "Publish", "/:unknown/", ""),
        ("2021/02/tea", "Publish", "/:title/", "/entry/2021/02/tea"),
    ],
)  # fmt: skip
def test_addresses_by_a_pattern(basename: str, status: str, permalink: str, address: str) -> None:
    """For public posts that have none and a name."""
    assert addresses(
        f"{MT.format(basename, status)}-----\nBODY:\nx\n-----\n--------\n", permalink
    ) == [address]


def test_days_in_addresses_are_those_of_the_zone() -> None:
    zone = ZoneInfo("America/New_York")
    text = '<rss><channel><item><guid isPermaLink="false">https://a.example/tea</guid></item></channel></rss>'
    assert addresses(text, "/:title/") == [""]
    row = {"appearance": 1, "slug": "tea", "body": "x", "collection": {"title": "A"}}
    row["created"] = "2021-02-03T02:00:00Z"
    assert addresses(json.dumps([row]), "/:day/:title/", zone) == ["/02/tea/"]


def batch_of(files: Mapping[str, str], permalink: str = "") -> Batch:
    batch = recognition.read(folder(files), None, UTC, permalink)
    batch.posts = [*batch.posts]
    return batch


@pytest.mark.parametrize(
    ("files", "posts"),
    [
        ({"feed.json": FEED, "x": ""}, ["item 1"]), ({"index.json": FEED, "x": ""}, ["item 1"]),
        ({"a/feed.json": FEED, "b.md": HEAD}, ["b.md"]),
        ({"feed.json": FEED, "_config.yml": "", "_posts/2021-02-03-a.md": HEAD},
         ["_posts/2021-02-03-a.md"]),
        ({"publisher.json": '{"format": 1}', "feed.json": FEED, "posts/a.md": HEAD},
         ["posts/a.md"]),
        ({"export.json": FEED}, ["item 1"]), ({"a/export.txt": FEED}, ["item 1"]),
        ({"a.md": HEAD}, ["a.md"]), ({"a.txt": HEAD, "b.md": HEAD}, ["b.md"]),
        ({"a.HTML": HEAD}, ["a.HTML"]),
        ({"posts.csv": "post_id,post_date,is_published,title\n1.a,,TRUE,A", "b.md": HEAD},
         ["1.a (A)"]),
    ],
)  # fmt: skip
def test_what_a_folder_is(files: dict[str, str], posts: list[str]) -> None:
    """Our own export, an archive, pages, texts, or one file that was packed."""
    assert [post.where for post in batch_of(files).posts] == posts


def test_a_broken_archive_is_named() -> None:
    with pytest.raises(InvalidData, match=r"^standard input: feed.json: the JSON cannot be read"):
        batch_of({"feed.json": "{", "x": ""})


def test_an_archive_starts_from_its_home() -> None:
    feed = json.loads(FEED) | {"home_page_url": "https://a.example/"}
    feed["items"][0]["content_html"] = "<a href='b'>x</a>"
    (post,) = batch_of({"feed.json": json.dumps(feed), "x": ""}).posts
    assert post.source == '<a href="https://a.example/b">x</a>'


def test_the_permalink_of_a_folder() -> None:
    """Of pages and texts alike; the blog's feeds come with them."""
    batch = batch_of(
        {"posts.csv": "post_id,post_date,is_published,title,type\n1.a,,TRUE,A,page"},
        "https://a.example/:title/",
    )
    assert ([post.address for post in batch.posts], batch.old_feeds) == (["/p/a"], ["/feed"])
    assert [post.address for post in batch_of({"a.md": HEAD, "x": ""}, "/:year/:title/").posts] == [
        "/2021/a/"
    ]
