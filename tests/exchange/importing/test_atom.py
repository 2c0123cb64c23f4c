"""Atom, entry by entry."""

from datetime import UTC, datetime

import pytest

from publisher.base.media_files import Attachment
from tests.exchange.importing.conftest import one

XHTML = "http://www.w3.org/1999/xhtml"


def feed(entry: str) -> str:
    """A feed with one entry."""
    return (
        '<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title><author><name>Eve</name>'
        f'</author><link href="https://old.example/"/><entry>{entry}</entry></feed>'
    )


def test_a_full_entry() -> None:
    """Every element has its place; the id is kept and is no address."""
    post = one(
        feed(
            """<id>urn:uuid:1</id><title type="html">A &lt;i&gt;b&lt;/i&gt;</title>
            <link href="/posts/a-b"/>
            <link rel="enclosure" href="/a.mp3" type="audio/mpeg" length="9"/>
            <published>2020-01-02T03:04:05+01:00</published><updated>2020-02-02T03:04:05Z</updated>
            <author><name>Ada</name></author><category term="x" label="Ex"/><category term="y"/>
            <summary>Short</summary><content type="html">&lt;p&gt;Text&lt;/p&gt;</content>"""
        )
    )
    assert (post.guid, post.guid_is_permalink, post.title) == ("urn:uuid:1", False, "A b")
    assert (post.address, post.slug) == ("https://old.example/posts/a-b", "a-b")
    assert post.published_at == datetime(2020, 1, 2, 2, 4, 5, tzinfo=UTC)
    assert post.changed_at == datetime(2020, 2, 2, 3, 4, 5, tzinfo=UTC)
    assert (post.by, post.tags) == (("Ada",), ("Ex", "y"))
    assert (post.source, post.summary) == ("<p>Text</p>", "Short")
    assert post.enclosure == Attachment("https://old.example/a.mp3", "audio/mpeg", 9)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("<content>a &lt; b</content>", "a &lt; b"),
        ('<content type="text">one\n\ntwo\nthree</content>', "<p>one</p>\n<p>two<br>\nthree</p>"),
        (
            f'<content type="xhtml"><div xmlns="{XHTML}">Hi <b>x</b>!</div></content>',
            "Hi <b>x</b>!",
        ),
        ("<summary>Only this</summary>", "Only this"),
    ],
)
def test_text_constructs(content: str, expected: str) -> None:
    """Text is escaped, XHTML is unwrapped; a summary without content is the text."""
    assert one(feed(f"<id>1</id>{content}")).source == expected


def test_what_the_feed_says_for_all() -> None:
    """Author and date fall back to the feed's author and the entry's last change."""
    post = one(feed("<id>1</id><content>x</content><updated>2020-02-02T00:00:00Z</updated>"))
    assert post.by == ("Eve",)
    assert post.published_at == datetime(2020, 2, 2, tzinfo=UTC)


def test_a_link_that_is_no_address() -> None:
    """It is left out; it refused the whole file."""
    entry = '<id>1</id><title>a</title><link href="http://["/><content>words</content>'
    assert one(feed(entry)).title == "a"
