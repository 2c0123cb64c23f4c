"""Documents that are not well-formed, mended: what is damaged costs what is damaged."""

import time
from contextlib import suppress
from xml.etree.ElementTree import fromstring

import pytest

from publisher.feed_reading.mending import mended
from publisher.feed_reading.parse import parse_document
from publisher.feed_reading.scan import UnsafeDocument

URL = "https://a.example/feed"


def titles(inside: str, end: str = "</channel></rss>") -> list[str]:
    parsed = parse_document(f"<rss version='2.0'><channel>{inside}{end}".encode(), "", URL)
    assert parsed.broken
    return [item.title for item in parsed.items]


@pytest.mark.parametrize(
    ("title", "meant"),
    [
        ("&#55357;&#56842;", "😊"),
        ("&#xD83D;&#xDE0A; x", "😊 x"),
        ("&#55362;&#57271;", "𠮷"),
        ("&#xD800;&#xDC00; first", "\U00010000 first"),
        ("&#xDBFF;&#xDFFD; last", "\U0010fffd last"),
        ("&#xD7FF;&#xDC00; none", "\ud7ff� none"),
        ("&#xDC01;&#xDC00; none", "�� none"),
        ("a &#xD83D; b", "a � b"),
        ("a &#x110000; b", "a � b"),
        ("a&#0;b", "ab"),
        ("Q & A", "Q & A"),
        ("AT&T", "AT&T"),
        ("caf&eacute;&nbsp;1", "café 1"),
        ("&unknown; x", "&unknown; x"),
        ("1 < 2", "1 < 2"),
        ("I <3 you", "I <3 you"),
        ("a\x0bb\x01", "a b"),
    ],
)
def test_a_title_as_it_is_meant(title: str, meant: str) -> None:
    """And the items around it stay as they are."""
    around = "<item><title>Before</title></item><item><title>{}</title></item><item><title>After"
    assert titles(f"{around.format(title)}</title></item>") == ["Before", meant, "After"]


@pytest.mark.parametrize(
    "inside",
    [
        "<item><title>a</title><description>b<br>c<p>d</description></item>",
        "<item><title>a</title><description>b</b></description></item>",
        "<item><title>a</title><media:content url='https://a.example/a.mp3' x=1 x='2'/></item>",
        "<item><title>a</title><description><img src=x alt='a<b' <b></description></item>",
        "<item><title>a</title><link>https://a.example/?a=1&b=2</link></item>",
        "<item><title>a</title><enclosure media:kind='x' url='https://a.example/a.mp3'></item>",
        "<item xmlns:media='urn:x'><title>a</title><media:text x:y='1'>b<br></media:text></item>",
    ],
)
def test_the_next_item_is_read(inside: str) -> None:
    assert titles(f"{inside}<item><title>next</title></item>") == ["a", "next"]


@pytest.mark.parametrize("reference", ["&#38;", "&#x26;", "&#X26;", "&amp;", "&"])
def test_references_in_attributes_are_what_they_name(reference: str) -> None:
    item = (
        f"<item><enclosure url='https://a.example/?a=1{reference}b=&quot;2'/><title>a & b</title>"
    )
    document = f"<rss version='2.0'><channel>{item}</item></channel></rss>".encode()
    parsed = parse_document(document, "", URL)
    assert parsed.broken
    assert [file.url for file in parsed.items[0].enclosures] == ['https://a.example/?a=1&b="2']


def test_an_item_that_is_not_closed_ends_where_the_next_begins() -> None:
    assert titles("<item><title>a</title><item><title>b</title></item>") == ["a", "b"]


@pytest.mark.parametrize("end", ["", "</channel>", "</channel></rss><p>junk & more</p>", "</rss>"])
def test_a_missing_end_and_junk_behind_it(end: str) -> None:
    assert titles("<item><title>a</title></item><item><title>b</title></item>", f"{end}&") == [
        "a",
        "b",
    ]


def test_what_breaks_off_is_left_out() -> None:
    """Half a text would be shown as the whole one."""
    parsed = titles("<item><title>a</title></item><item><title>b</title><description>ha", "")
    assert parsed == ["a", "b"]


def test_what_was_done_is_remarked() -> None:
    _, remarks = mended("<a>&#xD800; & b</a>")
    assert [(remark.kind, remark.count, remark.is_loss) for remark in remarks] == [
        ("not-well-formed", 1, False), ("characters-replaced", 1, True)
    ]  # fmt: skip


PIECES = ["<", "<!--", "<![CDATA[", "<?", "<!a", "<![", "<!DOCTYPE [", "<a ", '<a b="', "</a>",
          "<a>", "&", "&#", "&a", "<a b='<", "]]>", "<a:b:c ", "\x00"]  # fmt: skip


@pytest.mark.parametrize("piece", PIECES, ids=repr)
def test_mending_takes_linear_time_and_is_well_formed(piece: str) -> None:
    begun = time.process_time()
    text = ""
    with suppress(UnsafeDocument):
        text, _ = mended("<rss><channel>" + piece * (200_000 // len(piece)))
    assert time.process_time() - begun < 10.0
    fromstring(text or "<refused/>")  # noqa: S314


@pytest.mark.parametrize("part", ["<a>" * 300, "<a " + "b='1' " * 300 + "/>"])
def test_what_is_unsafe_behind_an_error_is_refused(part: str) -> None:
    with pytest.raises(UnsafeDocument):
        mended(f"<rss><channel><title>a & b</title>{part}</channel></rss>")
