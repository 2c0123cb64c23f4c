"""Documents made to stop whoever reads them: linear in time, or refused in our own words."""

import random
import re
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest

from publisher.base.errors import InvalidData
from publisher.base.system import confined
from publisher.feed_reading.feed_document import FeedDocument, FeedItem
from publisher.feed_reading.feed_html import sanitised
from publisher.feed_reading.parse import (
    UnreadableFeed,
    parse_document,
    parse_sanitised,
    read_document,
)
from publisher.feed_reading.scan import UnsafeDocument, first_tag
from tests.parts.river.origin import rss

GOLDEN = Path(__file__).parents[1] / "feeds" / "golden"
XML = "application/xml"
HTML = "text/html"
RDF = b"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
 <channel rdf:about="http://a.example/"><title>a</title><link>http://a.example/</link></channel>
 <item rdf:about="http://a.example/1"><title>b</title><link>http://a.example/1</link>
 <dc:date>2024-03-04T09:00:00Z</dc:date><description>&lt;p&gt;c&lt;/p&gt;</description></item>
</rdf:RDF>"""
# What 200 kB cost on a quiet machine is a hundredth of this; before, it was minutes or hours.
SECONDS = 10.0
SIZE = 200_000

PIECES = [
    b"<?", b"<!--", b"<![CDATA[", b"<!a", b"<![", b"<!" + b"a" * 20, b"<!DOCTYPE [", b"]", b"]]>",
    b"&", b"<a ", b"<", b"</", b"<a b='", b"<a =", b" ", b"-->",
]  # fmt: skip


def seconds_to_read(document: bytes, content_type: str = XML) -> float:
    """Processor seconds for one document, whether it is refused or not."""
    begun = time.process_time()
    with suppress(InvalidData):
        parse_document(document, content_type, "http://a.example/f")
    return time.process_time() - begun


@pytest.mark.parametrize("piece", PIECES, ids=repr)
def test_repeated_pieces_take_linear_time(piece: bytes) -> None:
    """A feed, one that breaks off at once, and a page, each filled with half-open markup."""
    filling = piece * (SIZE // len(piece))
    broken = b"<rss version='2.0'><channel><title>a & b</title><item><description>" + filling
    assert seconds_to_read(filling) < SECONDS
    assert seconds_to_read(filling + b" " * 60_000) < SECONDS
    assert seconds_to_read(broken) < SECONDS
    assert seconds_to_read(b"<html><head>" + filling, HTML) < SECONDS


@pytest.mark.parametrize("well_formed", [True, False])
def test_a_tag_with_many_attributes_is_refused(well_formed: bool) -> None:
    """Whether it is well-formed or not."""
    attributes = b" ".join(b'a%d="1"' % number for number in range(400_000))
    title = b"a" if well_formed else b"a & b"
    document = b"<rss><channel><title>%s</title><item %s/></channel></rss>" % (title, attributes)
    begun = time.process_time()
    with pytest.raises(UnsafeDocument, match="more than 256 attributes"):
        parse_document(document, XML, "http://a.example/f")
    assert time.process_time() - begun < SECONDS


@pytest.mark.parametrize(("inside", "refused"), [(196, False), (197, True)])
def test_elements_of_two_hundred_levels_are_read(inside: int, refused: bool) -> None:
    """Those of an item begin at the fifth."""
    nested = b"<b>" * inside + b"</b>" * inside
    document = b"<rss><channel><item><title>a</title>%s</item></channel></rss>" % nested
    with pytest.raises(UnsafeDocument, match="too deeply") if refused else nullcontext():
        assert parse_document(document, XML, "http://a.example/f").items[0].title == "a"


def test_many_attributes_without_values() -> None:
    """Only documents that are not well-formed have such."""
    document = b"<rss><channel><title>a & b</title><item " + b"a " * 100_000 + b"/></channel></rss>"
    assert seconds_to_read(document) < SECONDS


@pytest.mark.parametrize(
    ("document", "tag"),
    [
        (b"<?xml version='1.0'?><!-- <a> --><rss/>", "rss"),
        (b"<!DOCTYPE rss [<!ELEMENT a (b)> ] ><rdf:RDF>", "RDF"),
        (b"<!DOCTYPE rss PUBLIC 'a' 'b'>\n<rss>", "rss"),
        (b"<!DOCTYPE rss [<!ENTITY a '] '><!ENTITY b 'b'>]><rss>", "rss"),
        (b"text before <feed xmlns='a'>", "feed"),
        (b"<!--" + b"x" * 100_000 + b"--><rss>", ""),
        (b"<!-- <rss>", ""),
        (b"<? <rss>", ""),
        (b"<! <rss", ""),
        (b"", ""),
    ],
)
def test_first_tag(document: bytes, tag: str) -> None:
    assert first_tag(document) == tag


def _mutated(document: bytes, rng: random.Random) -> bytes:
    """A document with a few bytes changed, cut out, doubled or put elsewhere."""
    body = bytearray(document)
    for _ in range(rng.randint(1, 12)):
        at, end = sorted(rng.randrange(len(body) + 1) for _ in range(2))
        kind = rng.randrange(5)
        if kind == 0 and at < len(body):
            body[at] = rng.randrange(256)
        elif kind == 1:
            del body[at : min(end, at + 200)]
        elif kind == 2:
            body[at:at] = body[at : min(end, at + 200)]
        elif kind == 3:
            body[at:at] = rng.choice(PIECES)
        else:
            body[at:at] = rng.choice([b"[", b"://[", b"\x00", b"&#x110000;", b"0" * 30, b"rel="])
        if not body:
            return b"<"
    return bytes(body)


def test_mutated_documents_raise_our_errors_only() -> None:
    """A fixed seed over the golden documents; 31 of some thousands raised others before."""
    samples = [path.read_bytes() for path in sorted(GOLDEN.iterdir()) if path.is_file()]
    samples.append(RDF)
    assert len(samples) == 4
    rng = random.Random(20240304)
    read = refused = 0
    for number in range(1_500):
        try:
            parse_document(_mutated(samples[number % len(samples)], rng), XML, "http://a.example/f")
            read += 1
        except InvalidData:
            refused += 1
    assert read > 100
    assert refused > 20


def test_whatever_is_raised_is_our_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """One feed that nobody foresaw must not stop the others."""

    def give_up(*_: object, **__: object) -> None:
        raise TypeError("'NoneType' object is not subscriptable")

    monkeypatch.setattr("publisher.feed_reading.parse._tree", give_up)
    with pytest.raises(UnreadableFeed, match="damaged"):
        parse_document(b"<rss><channel/></rss>", XML, "http://a.example/f")


MULTIPLIED = "<p>" + "".join(f"<b title={n}>" for n in range(60)) + "<p>x" * 600
NESTED = "<div>" * 300 + "words"


@pytest.mark.parametrize("markup", [MULTIPLIED, NESTED])
def test_markup_that_multiplies_or_nests_is_left_out(markup: str) -> None:
    """22 kB of it became 37 MB, and each look at what is nested took seconds."""
    item = sanitised(FeedItem("1", "http://a.example/1", "A title", markup), "http://a.example/f")
    assert len(item.html) < 200
    assert "read it on its own site" in item.words


@pytest.mark.parametrize("blank", ["\u00a0", "\u2003", "\u2028", "\u3000", "\x85", "&#x1680;"])
@pytest.mark.parametrize("scheme", ["javascript:alert(1)", "data:text/html,x", "vbscript:x"])
def test_no_blank_hides_a_scheme(blank: str, scheme: str) -> None:
    """For the cleaner an address that begins with a blank of Unicode is relative."""
    markup = f'<a href="{blank}{scheme}">a</a><img src="{scheme}{blank}">'
    html = sanitised(FeedItem("", "", "", markup), "https://a.example/feed").html
    addresses = re.findall(r'(?:href|src)="([^"]*)"', html)
    assert all(address.startswith("https://a.example/") for address in addresses)


@pytest.mark.parametrize("base", ["javascript:alert(1)//", "data:text/html,x", "file:///etc/"])
def test_no_base_gives_a_link_its_scheme(base: str) -> None:
    """An empty address is the base itself."""
    item = FeedItem("", "", "", '<a href="">a</a><img src="#x"><a href="b">b</a>', base=base)
    assert base.partition(":")[0] not in sanitised(item, "https://a.example/feed").html


def test_ordinary_markup_is_shown() -> None:
    markup = "<blockquote>" * 20 + "<p>a<br>b<img src=c.png></p>" * 500 + "</blockquote>" * 20
    item = sanitised(FeedItem("1", "http://a.example/1", "", markup), "http://a.example/f")
    assert item.html.count("http://a.example/c.png") == 500
    assert item.words.startswith("a b a b")


def test_markup_is_cleaned_where_documents_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of it reaches the process that polls, which holds the database meanwhile."""
    tasks = []

    def noted(task: Callable[..., FeedDocument], *arguments: Any) -> FeedDocument:
        tasks.append(task)
        return confined.read(task, *arguments)

    monkeypatch.setattr("publisher.feed_reading.parse.read", noted)
    document = rss("one").replace(b"About one", b"&lt;b onclick=a&gt;w")
    item = read_document(document, XML, "http://a.example/f").items[0]
    assert (item.html, item.words, item.markup) == ("<b>w</b>", "w", "")
    assert tasks == [parse_sanitised]


def test_what_takes_too_long_is_a_feed_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def give_up(_task: object, limits: confined.Limits, *_: object) -> None:
        raise confined.Unreadable(f"took longer than {limits.seconds:.0f} seconds")

    monkeypatch.setattr("publisher.feed_reading.parse.read", give_up)
    with pytest.raises(UnreadableFeed, match="the document took longer than 5 seconds"):
        read_document(b"<rss/>", XML, "http://a.example/f")


def test_half_a_character_in_json_is_left_out() -> None:
    """An escape can name what no database stores: it refused the whole feed."""
    body = (
        rb'{"version": "https://jsonfeed.org/version/1", "items": [{"id": "1", "title": "a\ud800b"'
    )
    body += rb', "content_html": "<p>c\udfffd</p>"}]}'
    item = parse_sanitised(body, "", "http://a.example/f").items[0]
    assert (item.title, item.html) == ("ab", "<p>cd</p>")
