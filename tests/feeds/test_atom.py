"""Atom 1.0 as RFC 4287 wants it."""

import feedparser
import pytest

from publisher.base.media_files import Attachment
from publisher.feeds import atom
from tests.feeds.samples import GOLDEN, HOME, channel, everything, item, parse, texts


def test_golden() -> None:
    """A feed with everything in it looks exactly like the file that a person has checked."""
    assert atom.render(everything()) == (GOLDEN / "everything.atom.xml").read_bytes()


def test_a_parser_of_readers_understands_it() -> None:
    """feedparser finds nothing to complain about; ids, content and enclosures are there."""
    parsed = feedparser.parse(atom.render(everything()))
    assert not parsed.bozo
    assert parsed.version == "atom10"
    assert len({entry.id for entry in parsed.entries}) == 5
    assert parsed.entries[0].content[0].value == "<p>The text of post 1.</p>"
    assert parsed.entries[2].enclosures[0].href == f"{HOME}/media/3.mp3"


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<p>Short &amp; sweet.</p>", "Short & sweet."),
        ("<p>a b</p><p>c d e f g h i j k l</p>", "a b c d e f g h i j …"),
        ("<img src='x.png'>", f"{HOME}/posts/1"),
    ],
)
def test_a_titleless_post_gets_its_first_words(html: str, title: str) -> None:
    """Atom demands a title: the first words as text, and the address where there are none."""
    root = parse(atom.render(channel(item(title="", html=html))))
    assert texts(root, "atom:entry/atom:title") == [title]


@pytest.mark.parametrize("guid", ["urn:x:1", "https://old.example/?p=3", "tag:blog,2004:1"])
def test_an_iri_stays_the_id(guid: str) -> None:
    """The id is the guid wherever Atom allows it."""
    assert atom.entry_id(guid) == guid


def test_another_guid_becomes_an_iri_that_stays() -> None:
    """An imported guid that is no IRI is turned into one, the same every time."""
    assert atom.entry_id("4711") == atom.entry_id("4711") != atom.entry_id("4712")
    assert atom.entry_id("4711").startswith("urn:uuid:")


def test_updated_is_never_before_published() -> None:
    """An entry that was written before it was published was updated when it was published."""
    post = item(attachment=Attachment(f"{HOME}/a.mp3", "audio/mpeg", 5))
    early = item(changed_at=post.published_at.replace(year=2020))
    root = parse(atom.render(channel(early)))
    assert texts(root, "atom:entry/atom:updated") == texts(root, "atom:entry/atom:published")
