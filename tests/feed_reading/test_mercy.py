"""Documents that are not quite right, read as they were meant; within bounds."""

import time

import pytest

from publisher.feed_reading.character_sets import to_text
from publisher.feed_reading.feed_document import FeedDocument, NotAFeed
from publisher.feed_reading.parse import parse_document
from publisher.feed_reading.scan import UnsafeDocument
from tests.parts.river.origin import rss

URL = "http://a.example/feed"


def read(document: bytes | str, content_type: str = "application/xml") -> FeedDocument:
    body = document.encode() if isinstance(document, str) else document
    return parse_document(body, content_type, URL)


def channel(inside: str, doctype: str = "") -> str:
    return f"{doctype}<rss version='2.0'><channel><title>x</title>{inside}</channel></rss>"


def test_one_bad_byte_spoils_nothing_else() -> None:
    """It alone is read as Windows-1252; every other accent stays what it is."""
    text = "<title>naïve café, ".encode() + b"\xe9t\xe9" + " à Zürich, déjà</title>".encode()
    assert to_text(text) == "<title>naïve café, été à Zürich, déjà</title>"
    assert to_text(b"plain \xe9t\xe9", "text/xml; charset=utf-8") == "plain été"


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-16"])
@pytest.mark.parametrize("declaration", ["", "<?xml version='1.0' encoding='utf-16'?>", "\n"])
@pytest.mark.parametrize("word", ["ascii", "naïve"])
def test_utf16_without_a_mark(codec: str, declaration: str, word: str) -> None:
    document = declaration + channel(f"<item><title>{word}</title></item>")
    assert [item.title for item in read(document.encode(codec)).items] == [word]


@pytest.mark.parametrize("header", ["application/xml", "application/xml; charset=utf-16"])
def test_a_document_that_calls_itself_utf16_and_is_not(header: str) -> None:
    document = "<?xml version='1.0' encoding='utf-16'?>" + channel("<item><title>é</title></item>")
    assert [item.title for item in read(document, header).items] == ["é"]


def test_one_bad_byte_spoils_no_json_feed() -> None:
    """Nor does another charset, where it is named."""
    body = '{"version": "https://jsonfeed.org/version/1", "title": "naïve café déjà", "items": []}'
    parsed = [
        parse_document(body.encode("latin-1"), "application/json; charset=iso-8859-1", URL),
        parse_document(body.encode().replace("ï".encode(), b"\xef"), "", URL),
    ]
    assert [document.title for document in parsed] == ["naïve café déjà"] * 2


@pytest.mark.parametrize("word", ["line 3", "Zeile für"])
def test_warnings_before_a_document(word: str) -> None:
    """PHP writes them where they are not switched off; a page that quotes a document stays one."""
    warned = f"<br />\n<b>Warning</b>: foo on {word}<br />\n".encode() + rss("a")
    assert [item.title for item in parse_document(warned, "", URL).items] == ["a"]
    with pytest.raises(NotAFeed, match="web page"):
        parse_document(b"<html><pre>" + rss("a").replace(b"<rss", b"&lt;rss"), "", URL)


def test_declared_entities_are_expanded() -> None:
    doctype = """<?xml version="1.0"?><!DOCTYPE rss [
    <!ENTITY nbsp "&#160;"> <!ENTITY copy '(c)'> <!ELEMENT a (b)> ]>"""
    parsed = read(channel("<item><title>a&nbsp;b &copy; &amp;</title></item>", doctype))
    assert [item.title for item in parsed.items] == ["a b (c) &"]


def test_entities_of_a_file_that_is_not_fetched_are_those_of_html() -> None:
    """Such a document is not well-formed for who reads nothing else."""
    doctype = '<!DOCTYPE rss SYSTEM "https://a.example/rss.dtd">'
    parsed = read(channel("<item><title>caf&eacute; &mine;</title></item>", doctype))
    assert ([item.title for item in parsed.items], parsed.broken) == (["café &mine;"], True)


@pytest.mark.parametrize(
    "declared",
    [
        '<!ENTITY a "x"><!ENTITY b "&a;&a;">',
        '<!ENTITY a SYSTEM "file:///etc/passwd">',
        '<!ENTITY % a "x">',
        '<!ENTITY a "<b/>">',
        "".join(f'<!ENTITY a{n} "x">' for n in range(300)),
    ],
)
def test_other_entities_are_refused(declared: str) -> None:
    with pytest.raises(UnsafeDocument):
        read(channel("<item><title>&a;</title></item>", f"<!DOCTYPE rss [{declared}]>"))


def test_entities_cannot_blow_a_document_up() -> None:
    """Two hundred bytes for each four: the growth is bounded, the time is linear."""
    doctype = f'<!DOCTYPE rss [<!ENTITY a "{"x" * 200}">]>'
    begun = time.process_time()
    with pytest.raises(UnsafeDocument):
        read(channel("&a;" * 300_000, doctype))
    hostile = b"<!DOCTYPE rss [" + b"<!ENTITY a " * 20_000 + b"]><rss/>"
    with pytest.raises(NotAFeed):
        parse_document(hostile, "", URL)
    assert time.process_time() - begun < 5


@pytest.mark.parametrize("url", ["", " ", "\n"])
def test_a_blank_enclosure_is_none(url: str) -> None:
    """It is not the feed itself."""
    parsed = read(channel(f"<item><title>a</title><enclosure url='{url}' length='1'/></item>"))
    assert parsed.items[0].enclosures == ()


def test_content_elsewhere_is_the_link() -> None:
    entry = "<entry><id>a</id><title>a</title><content type='audio/mp3' src='/a.mp3'/></entry>"
    linked = entry.replace("<id>", "<link href='/page'/><id>")
    parsed = read(f"<feed xmlns='http://www.w3.org/2005/Atom'>{entry}{linked}</feed>")
    assert parsed.items[1].url == "http://a.example/page"
    assert parsed.items[0].url == "http://a.example/a.mp3"
