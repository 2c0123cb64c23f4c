"""Feeds, element by element: which of several says it, and what an odd one does."""

import json
from collections.abc import Iterable
from typing import Any

import pytest

from publisher.base.errors import InvalidData
from publisher.base.media_files import Attachment
from publisher.parts.importing.formats import feed_files
from publisher.parts.importing.imported import ImportedPost
from tests.parts.importing.conftest import document, one, read

FULL = "http://purl.org/rss/1.0/modules/content/"
ATOM = 'xmlns="http://www.w3.org/2005/Atom"'


def item(inside: str) -> ImportedPost:
    """The post of an item of RSS."""
    return one(
        f'<rss xmlns:content="{FULL}" xmlns:dc="http://purl.org/dc/elements/1.1/"'
        ' xmlns:source="http://source.scripting.com/" xmlns:itunes='
        f'"http://www.itunes.com/dtds/podcast-1.0.dtd"><channel><item>{inside}</item></channel></rss>'
    )


LINK = "<link>https://a.example/b</link>"
GUID = "<guid>https://a.example/g</guid>"


@pytest.mark.parametrize(
    ("inside", "found"),
    [
        ("", {"where": "item 1", "guid_is_permalink": False, "address": "", "by": ("",)}),
        (GUID, {"guid": "https://a.example/g", "guid_is_permalink": True,
                "address": "https://a.example/g", "slug": "g"}),
        (f"{GUID}{LINK}", {"guid": "https://a.example/g", "address": "https://a.example/b"}),
        ("<guid>7</guid>", {"guid": "7", "guid_is_permalink": False, "address": ""}),
        ('<guid isPermaLink="false">https://a.example/g</guid>',
         {"guid_is_permalink": False, "address": ""}),
        ('<guid isPermaLink=" TRUE ">https://a.example/g</guid>', {"guid_is_permalink": True}),
        ('<guid isPermaLink="zoo">https://a.example/g</guid>', {"guid_is_permalink": False}),
        (f"<guid/>{LINK}", {"guid": "https://a.example/b", "guid_is_permalink": False}),
        (LINK, {"guid": "https://a.example/b", "slug": "b"}),
        ("<title>a &lt;b&gt;b&lt;/b&gt;</title>", {"title": "a b"}),
        ("<author>a@b.example (Ada)</author>", {"by": ("Ada",)}),
        ("<author>a@b.example (Ada (A.))</author>", {"by": ("Ada (A.)",)}),
        ("<author>a@b.example ()</author>", {"by": ("a@b.example ()",)}),
        ("<author>Ada</author><dc:creator>Bo</dc:creator>", {"by": ("Ada",)}),
        ("<dc:creator>Bo</dc:creator>", {"by": ("Bo",)}),
        ("<category> a </category><category/>", {"tags": ("a", "")}),
        ("<description>a</description>", {"source": "a", "summary": "", "source_format": "html"}),
        ("<description>a &lt;i&gt;b&lt;/i&gt;</description><content:encoded>c</content:encoded>",
         {"source": "c", "summary": "a b", "source_format": "html"}),
        ("<description>a</description><content:encoded> </content:encoded>",
         {"source": "a", "summary": ""}),
        ("<description>a</description><source:markdown>m</source:markdown>",
         {"source": "m", "summary": "", "source_format": "markdown"}),
        (("<description>a</description><content:encoded>c</content:encoded>"
          "<source:markdown>m</source:markdown>"), {"source": "m", "summary": "a"}),
        ("<content:encoded>c</content:encoded><source:markdown> </source:markdown>",
         {"source": "c", "source_format": "html"}),
        (f"{LINK}<description>&lt;a href='/c'&gt;x&lt;/a&gt;</description>",
         {"source": '<a href="https://a.example/c">x</a>'}),
        ('<enclosure type="audio/mpeg"/>', {"enclosure": None}),
    ],
)  # fmt: skip
def test_elements_of_an_item(inside: str, found: dict[str, Any]) -> None:
    post = item(inside)
    assert {name: getattr(post, name) for name in found} == found


@pytest.mark.parametrize(
    ("own", "dublin", "day", "needs"),
    [
        ("", "2021-02-03T04:05:06Z", 3, 0),
        ("Thu, 04 Feb 2021 04:05:06 GMT", "2021-02-03T04:05:06Z", 4, 0),
        ("Thu, 04 Feb 2021 04:05:06 GMT", "soon", 4, 0),
        ("soon", "2021-02-03T04:05:06Z", 3, 0), ("soon", "", None, 1), ("soon", "later", None, 1),
        ("", "", None, 0),
    ],
)  # fmt: skip
def test_dates_of_an_item(own: str, dublin: str, day: int | None, needs: int) -> None:
    """In either form; the first that can be read, its own one before the other."""
    post = item(f"<pubDate>{own}</pubDate><dc:date>{dublin}</dc:date>")
    assert (post.published_at and post.published_at.day, len(post.needs)) == (day, needs)


def test_the_file_of_an_item() -> None:
    file = item(
        '<enclosure url="https://a.example/1" type="audio/mpeg" length="9"/>'
        "<itunes:duration>1:01</itunes:duration>"
    ).enclosure
    assert file is not None
    assert file == Attachment("https://a.example/1", "audio/mpeg", 9, 61)


def test_items_are_counted_from_one_and_others_are_none() -> None:
    posts = read("<rss><channel><title>x</title><item/><x/><item/></channel></rss>").posts
    assert [post.where for post in posts] == ["item 1", "item 2"]


def test_items_of_rdf() -> None:
    """They stand beside the channel, in a namespace of their own."""
    rdf = (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
        'xmlns="http://purl.org/rss/1.0/"><channel/><item><title>A</title>'
        "<link>https://a.example/b</link></item></rdf:RDF>"
    )
    post = one(rdf)
    assert (post.title, post.address) == ("A", "https://a.example/b")


# -- Atom

BLOGGER = 'xmlns:b="http://schemas.google.com/blogger/2018"'
KIND = '<category scheme="http://schemas.google.com/g/2005#kind" term="x#{}"/>'


def atom(inside: str, above: str = "") -> str:
    return (
        f'<feed {ATOM} {BLOGGER} xmlns:app="http://www.w3.org/2007/app" '
        f'xmlns:old="http://purl.org/atom/app#">{above}<entry>{inside}</entry></feed>'
    )


ALTERNATE = '<link href="https://a.example/b"/>'


ENTRIES: list[tuple[str, dict[str, Any]]] = [
    ("", {"where": "entry 1", "status": "published", "address": "", "by": ("",), "source": ""}),
    ("<id>1</id>", {"guid": "1", "guid_is_permalink": False}),
    (ALTERNATE, {"guid": "https://a.example/b", "address": "https://a.example/b", "slug": "b"}),
    ('<link rel="self" href="https://a.example/s"/>' + ALTERNATE,
     {"address": "https://a.example/b"}),
    ('<link rel="zoo" href="https://a.example/s"/>', {"address": ""}),
    ("<title type='html'>a &lt;b&gt;b&lt;/b&gt;</title>", {"title": "a b"}),
    ("<title>a &lt;b&gt;</title>", {"title": "a <b>"}),
    ("<summary>a</summary>", {"source": "a", "summary": ""}),
    ("<summary>a</summary><content>c</content>", {"source": "c", "summary": "a"}),
    ("<content>a &lt;b\n\nc</content>", {"source": "<p>a &lt;b</p>\n<p>c</p>"}),
    ("<content>a &lt;b</content>", {"source": "a &lt;b"}),
    ("<content type='text/html'> &lt;i&gt; </content>", {"source": "<i>"}),
    ("<content type=' HTML '>&lt;i&gt;</content>", {"source": "<i>"}),
    ("<content type='xhtml'><div>a <i>b</i> &lt;</div></content>",
     {"source": "a <i>b</i> &lt;"}),
    ("<content type='application/xhtml+xml'><div><i>b</i></div></content>",
     {"source": "<i>b</i>"}),
    ("<content type='xhtml'>a</content>", {"source": "a"}),
    (f"{ALTERNATE}<content type='html'>&lt;a href='c'&gt;x&lt;/a&gt;</content>",
     {"source": '<a href="https://a.example/c">x</a>'}),
    (f"{ALTERNATE}<content type='html' xml:base='/d/'>&lt;a href='c'&gt;x&lt;/a&gt;</content>",
     {"source": '<a href="https://a.example/d/c">x</a>'}),
    (f"{ALTERNATE}<content type='xhtml' xml:base='/d/'><div><a href='c'>x</a></div></content>",
     {"source": '<a href="https://a.example/d/c">x</a>'}),
    ("<content type='html'>a&lt;a name=\"more\"&gt;&lt;/a&gt;b</content>",
     {"source": "a<!--more-->b"}),
    ("<category term='a'/><category term='b' label=' B '/>" + KIND.format("post"),
     {"tags": ("a", "B")}),
    ("<author><name>Ada</name></author>", {"by": ("Ada",)}),
    ("<app:control><app:draft>yes</app:draft></app:control>" + ALTERNATE,
     {"status": "draft", "address": "", "slug": "b"}),
    ("<old:control><old:draft>yes</old:draft></old:control>", {"status": "draft"}),
    ("<app:control><app:draft>no</app:draft></app:control>", {"status": "published"}),
    ("<b:status>LIVE</b:status>", {"status": "published"}),
    ("<b:status>SCHEDULED</b:status>", {"status": "published"}),
    ("<b:status>DRAFT</b:status>", {"status": "draft"}),
    ("<b:status>ZOO</b:status>", {"status": "draft"}),
    ("<b:filename>/2020/a.html</b:filename>", {"aliases": ("/2020/a.html",), "slug": "a"}),
    ("<b:filename>/2020/a.html</b:filename><b:status>DRAFT</b:status>", {"aliases": ()}),
    ("<b:type>PAGE</b:type>", {"kind": "page"}),
    ("<b:type>POST</b:type>", {"kind": "post"}),
    (KIND.format("page"), {"kind": "page"}),
    (KIND.format("post"), {"kind": "post"}),
    ('<link rel="enclosure" href=" /1.mp3 " type="audio/mpeg" length="9"/>' + ALTERNATE,
     {"address": "https://a.example/b"}),
]  # fmt: skip


def fields_of(post: ImportedPost, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(post, name) for name in names}


def test_elements_of_an_entry() -> None:
    wrong = [
        (inside, found, got)
        for inside, found in ENTRIES
        if (got := fields_of(one(atom(inside)), found)) != found
    ]
    assert not wrong


def test_what_stands_above_the_entries() -> None:
    """The address that relative ones start from, and the author of those that name none."""
    above = (
        '<link rel="self" href="https://s.example/"/><link href="https://a.example/d/"/><link/>'
        "<author><name>Ada</name></author>"
    )
    post = one(atom('<link href="b"/>', above))
    assert (post.address, post.by) == ("https://a.example/d/b", ("Ada",))


def test_the_file_of_an_entry() -> None:
    file = one(atom(f'{ALTERNATE}<link rel="enclosure" href=" /1 " length="9"/>')).enclosure
    assert file is not None
    assert (file.url, file.bytes) == ("https://a.example/1", 9)
    assert one(atom(f'{ALTERNATE}<link rel="enclosure"/>')).enclosure is None


@pytest.mark.parametrize(
    ("published", "updated", "day", "needs"),
    [
        ("03", "04", 3, 0), ("", "04", 4, 0), ("x", "04", 4, 0), ("x", "", None, 1),
        ("", "", None, 0),
    ],
)  # fmt: skip
def test_dates_of_an_entry(published: str, updated: str, day: int | None, needs: int) -> None:
    """When it was updated counts where it does not say, so that it can be read, when it was
    published."""
    when = "<{0}>2021-02-{1}T00:00:00Z</{0}>"
    inside = "".join(
        when.format(name, text)
        for name, text in (("published", published), ("updated", updated))
        if text
    )
    post = one(atom(inside))
    assert (post.published_at and post.published_at.day, len(post.needs)) == (day, needs)
    assert (post.changed_at and post.changed_at.day) == (4 if updated else None)


def test_what_is_no_post_of_blogger() -> None:
    """Comments and settings, and what is in the trash; each is counted."""
    for inside, note in (
        (KIND.format("comment"), "comment is not a post and is left out"),
        ("<b:type>SETTINGS</b:type>", "settings is not a post and is left out"),
        ("<b:status>SOFT_TRASHED</b:status>", "post in the trash is left out"),
    ):
        batch = read(atom(inside))
        assert (batch.posts, batch.notes) == ([], {note: 1})


# -- JSON Feed


def feed(item: Any, **more: Any) -> str:
    return json.dumps({"version": "https://jsonfeed.org/version/1", "items": [item], **more})


@pytest.mark.parametrize(
    ("item", "found"),
    [
        ({}, {"where": "item 1", "source": "", "summary": "", "by": ("",), "tags": ()}),
        ({"id": 5}, {"guid": "5"}),
        ({"url": "https://a.example/b"}, {"guid": "https://a.example/b", "slug": "b"}),
        ({"content_html": "<i>h</i>", "content_text": "t", "summary": "s"},
         {"source": "<i>h</i>", "summary": "s"}),
        ({"content_text": "t", "summary": "s"}, {"source": "<p>t</p>", "summary": "s"}),
        ({"summary": "s"}, {"source": "<p>s</p>", "summary": ""}),
        ({"title": " a\n b "}, {"title": "a b"}),
        ({"author": {"name": "Ada"}}, {"by": ("Ada",)}),
        ({"authors": [{"name": "Ada"}, {"name": "Bo"}], "author": {"name": "C"}}, {"by": ("Ada",)}),
        ({"authors": 5, "author": 5}, {"by": ("",)}),
        ({"tags": ["a", 5]}, {"tags": ("a", "5")}), ({"tags": "a"}, {"tags": ()}),
        ({"date_published": "soon"}, {"published_at": None}),
        ({"attachments": [5]}, {"enclosure": None}), ({"attachments": []}, {"enclosure": None}),
        ({"url": "https://a.example/b", "content_html": "<a href='/c'>x</a>"},
         {"source": '<a href="https://a.example/c">x</a>'}),
    ],
)  # fmt: skip
def test_properties_of_an_item(item: dict[str, Any], found: dict[str, Any]) -> None:
    post = one(feed(item), "json")
    assert {name: getattr(post, name) for name in found} == found


def test_the_author_of_a_feed_and_items_that_are_none() -> None:
    text = json.dumps({"version": "jsonfeed.org/1", "items": [5, {}], "authors": [{"name": "Ada"}]})
    post = one(text, "json")
    assert (post.where, post.by) == ("item 2", ("Ada",))


def test_where_relative_addresses_start_from() -> None:
    """In an archive from the home page, elsewhere from the item's own address."""
    text = feed(
        {"url": "https://a.example/b/", "content_html": "<a href='c'>x</a>"},
        home_page_url="https://h.example/",
    )
    (here,) = feed_files.read_json(document(text))
    (archived,) = feed_files.read_json(document(text), in_archive=True)
    assert here.source == '<a href="https://a.example/b/c">x</a>'
    assert archived.source == '<a href="https://h.example/c">x</a>'


@pytest.mark.parametrize(
    "text",
    ['{"version": "https://jsonfeed.org/version/1"}', '{"items": []}', "[]", "5",
     '{"version": "x", "items": []}', '{"version": "https://jsonfeed.org/version/1", "items": {}}'],
)  # fmt: skip
def test_what_is_no_feed_of_json(text: str) -> None:
    with pytest.raises(InvalidData, match="not a JSON Feed"):
        read(text, "json")
