"""RSS, item by item: what each element becomes."""

from datetime import UTC, datetime

import pytest

from publisher.base.errors import InvalidData
from publisher.base.media_files import Attachment
from publisher.parts.importing.formats import fields
from tests.parts.importing.conftest import one, read

NAMESPACES = (
    'xmlns:content="http://purl.org/rss/1.0/modules/content/" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" '
    'xmlns:source="http://source.scripting.com/"'
)


def feed(items: str) -> str:
    """A feed with these items."""
    head = "<title>T</title><link>https://old.example/</link><description>D</description>"
    return f'<rss version="2.0" {NAMESPACES}><channel>{head}{items}</channel></rss>'


def test_a_full_item() -> None:
    """Guid, link, texts, author, tags, date and enclosure arrive as they were sent."""
    post = one(
        feed(
            """<item><title>Fish &amp;amp; chips</title>
            <link>https://old.example/2020/01/fish.html?p=1</link>
            <guid isPermaLink="false">tag:old.example,2020:1</guid>
            <description>Short &lt;b&gt;words&lt;/b&gt;</description>
            <content:encoded><![CDATA[<p>Long words</p>]]></content:encoded>
            <dc:creator>Ada</dc:creator><category>food</category><category>sea</category>
            <pubDate>Tue, 07 Jan 2020 10:00:00 EST</pubDate>
            <enclosure url="https://old.example/1.mp3" length="123" type="audio/mpeg"/>
            <itunes:duration>01:02:03</itunes:duration></item>"""
        )
    )
    assert (post.guid, post.guid_is_permalink) == ("tag:old.example,2020:1", False)
    assert (post.title, post.summary) == ("Fish & chips", "Short words")
    assert (post.source, post.source_format) == ("<p>Long words</p>", "html")
    assert (post.by, post.tags, post.slug) == (("Ada",), ("food", "sea"), "fish")
    assert post.published_at == datetime(2020, 1, 7, 15, tzinfo=UTC)
    assert post.enclosure == Attachment("https://old.example/1.mp3", "audio/mpeg", 123, 3723)
    assert post.address == "https://old.example/2020/01/fish.html?p=1"


def test_a_note_without_title() -> None:
    """No title is invented; the description is the text and no summary."""
    post = one(feed("<item><description>Just a note</description></item>"))
    assert (post.title, post.source, post.summary) == ("", "Just a note", "")
    assert post.guid.startswith("urn:sha256:")


@pytest.mark.parametrize(
    ("guid", "permalink"),
    [
        ("<guid>https://old.example/1</guid>", True),
        ('<guid isPermaLink="true">https://old.example/1</guid>', True),
        ('<guid isPermaLink="false">https://old.example/1</guid>', False),
        ("<guid>1234</guid>", False),
    ],
)
def test_permalink_guids(guid: str, permalink: bool) -> None:
    """A guid is an address only when it says so (or nothing) and is one."""
    assert one(feed(f"<item>{guid}<title>T</title></item>")).guid_is_permalink is permalink


def test_source_markdown_is_kept() -> None:
    """A feed that carries the Markdown gives it back; the HTML is only what was made of it."""
    post = one(
        feed(
            "<item><description>&lt;p&gt;&lt;em&gt;a&lt;/em&gt;&lt;/p&gt;</description>"
            "<source:markdown>*a*</source:markdown></item>"
        )
    )
    assert (post.source, post.source_format, post.summary) == ("*a*", "markdown", "")


def test_relative_addresses_start_from_the_old_page() -> None:
    """Pictures of the old site are found from the new one; what is absolute stays untouched."""
    item = "<item><link>https://old.example/a/b</link><description>{}</description></item>"
    moved = one(feed(item.format("&lt;img src='/x.png'&gt;")))
    assert 'src="https://old.example/x.png"' in moved.source
    picture = "<img src='https://a.example/x.png'>"
    assert one(feed(item.format(picture.replace("<", "&lt;")))).source == picture


def test_rdf() -> None:
    """RSS 1.0 keeps its items beside the channel, in a namespace of their own."""
    batch = read(
        """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
        xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
        <channel rdf:about="x"><title>T</title></channel>
        <item rdf:about="y"><title>One</title><link>https://old.example/1</link>
        <description>Text</description><dc:date>2004-01-02T03:04:05Z</dc:date></item></rdf:RDF>"""
    )
    (post,) = batch.posts
    assert (post.title, post.source, post.guid) == ("One", "Text", "https://old.example/1")
    assert post.published_at == datetime(2004, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    "date", ["Sat, 01 Jan 0000 00:00:00 GMT", "9999-12-31", "soon", f"2024-03-04T07:{'9' * 40}:00Z"]
)
def test_impossible_dates(date: str) -> None:
    """A date that cannot be makes a draft that says so, not a post of some other day."""
    items = f"<item><title>A</title></item><item><title>B</title><pubDate>{date}</pubDate></item>"
    _, bad = read(feed(items)).posts
    assert bad.published_at is None
    assert "its date cannot be read, so it became a draft" in bad.needs[0]


def test_namespaces_that_were_made_secure() -> None:
    """Texts, authors and durations under `https:` are those under `http:`."""
    own = (
        "<item><title>T</title><content:encoded>&lt;p&gt;Long&lt;/p&gt;</content:encoded>"
        "<dc:creator>Ada</dc:creator></item>"
    )
    names = [f'xmlns:{name}="http' for name in ("content", "dc", "itunes")]
    text = feed(own)
    for name in names:
        text = text.replace(name, f"{name}s")
    post = one(text)
    assert (post.source, post.by) == ("<p>Long</p>", ("Ada",))
    atom = (
        '<feed xmlns="https://www.w3.org/2005/Atom"><id>urn:x</id><title>T</title>'
        "<entry><id>urn:1</id><title>One</title><updated>2020-01-07T10:00:00Z</updated>"
        '<content type="html">&lt;p&gt;Long&lt;/p&gt;</content></entry></feed>'
    )
    assert (one(atom).title, one(atom).source) == ("One", "<p>Long</p>")


def test_a_document_that_is_too_long_is_not_mended(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "<rss version='2.0'><channel><item><title>a & b</title></item></channel></rss>"
    monkeypatch.setattr(fields, "_MOST_MENDED", len(text))
    assert one(text).title == "a & b"
    with pytest.raises(InvalidData, match="the XML breaks at line 1"):
        read(text + "\n")
