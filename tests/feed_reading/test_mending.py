"""Documents that are not well-formed, mended: what is damaged costs what is damaged."""

import time
from contextlib import nullcontext, suppress
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


@pytest.mark.parametrize(
    ("text", "sound"),
    [
        # Elements that are not closed, or closed where they are not open.
        ("<a><b><a>x", "<a><b><a>x</a></b></a>"),
        ("<a>a<b>b</c></b>c</a>d</a>", "<a>a<b>b</b>c</a>"),
        ("<a><b><c><b>x</b>y</b>z", "<a><b><c><b>x</b>y</c></b>z</a>"),
        ("<a><BR>x<hr >y<img src=q />z", '<a><BR/>x<hr/>y<img src="q"/>z</a>'),
        ("<a><item>x<item>y</item></item></a>", "<a><item>x</item><item>y</item></a>"),
        ("<a><item><b><item>y</a>", "<a><item><b></b></item><item>y</item></a>"),
        ("<a><entry>t<b>u<c>v", "<a><entry>t</entry></a>"),
        ("<a><entry>t", "<a><entry>t</entry></a>"),
        ("<a><b>t", "<a><b>t</b></a>"),
        # What is no element.
        ("text <a/> tail", "<a/>"),
        ("<a/><a/>", "<a/>"),
        ("<!DOCTYPE a [<!ELEMENT b>]><a>x", "<a>x</a>"),
        ("<a><?php x ?>b<!-- c -->d", "<a>bd</a>"),
        ("<![CDATA[x]]><a><![CDATA[x & \x0b<b>]]>&", "<a>x &amp;  &lt;b&gt;&amp;</a>"),
        ("<a><![CDATA[x", "<a>x</a>"),
        ("<a>x<!-- y", "<a>x</a>"),
        ("<!-- a", ""),
        ("", ""),
        # Attributes.
        ("<a b=1 b=2 c='' d>", '<a b="1" c=""></a>'),
        ("<a x='1'y=\"2\">", '<a x="1" y="2"></a>'),
        ("<a x='&#60;&#38;lt;&copy;&copy &#150;'>", '<a x="&lt;&amp;lt;©&amp;copy –"></a>'),
        ("<a x='\"' y=''>", "<a x='\"' y=\"\"></a>"),
        # Prefixes.
        ("<a:b/>&", '<a:b xmlns:a="urn:undeclared:a"/>'),
        ("<a:b xmlns:a='u'>", '<a:b xmlns:a="u"></a:b>'),
        ("<a xml:base='/'>", '<a xml:base="/"></a>'),
        ("<a c:d='1'>x", '<a c:d="1" xmlns:c="urn:undeclared:c">x</a>'),
        ("<a z:d='1'>x", '<a z:d="1" xmlns:z="urn:undeclared:z">x</a>'),
        ("<a><z:c/><b:c/></a>",
         '<a xmlns:b="urn:undeclared:b" xmlns:z="urn:undeclared:z"><z:c/><b:c/></a>'),
        ("<dc:a/>", '<dc:a xmlns:dc="http://purl.org/dc/elements/1.1/"/>'),
        # References.
        ("<a>&#x1F;&#31;&#32;&#9;</a>", "<a>&#32;&#9;</a>"),
        ("<a>&#1114111;&#x10FFFF;&#xFFFD;</a>", "<a>&#1114111;&#x10FFFF;&#xFFFD;</a>"),
        ("<a>&#1114112;&#x110000;&#xFFFE;&#999999999;</a>", "<a>����</a>"),
        ("<a>&#9999999999;</a>", "<a>&amp;#9999999999;</a>"),
        ("<a>&AMP;&lt;&apos;&hellip;&no;</a>", "<a>&amp;&lt;&apos;…&amp;no;</a>"),
        ("<a>&#xd83d;x&#xDE0A;</a>", "<a>�x�</a>"),
    ],
)  # fmt: skip
def test_mended(text: str, sound: str) -> None:
    assert mended(text)[0] == sound


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


@pytest.mark.parametrize(
    ("part", "refused"),
    [
        ("<a>" * 199, None),
        ("<a>" * 200, "too deeply"),
        ("<a>" * 199 + "<br>", "too deeply"),
        ("<a " + "b='1' " * 256 + ">", None),
        ("<a " + "b='1' " * 257 + ">", "more than 256 attributes"),
    ],
)
def test_what_is_unsafe_behind_an_error_is_refused(part: str, refused: str | None) -> None:
    with pytest.raises(UnsafeDocument, match=refused) if refused else nullcontext():
        mended(f"<rss>& {part}")


@pytest.mark.parametrize(
    ("text", "count"), [("<a>&</a>", 0), ("<a>&#0;&#1;</a>", 0), ("<a>&#xFFFE;&#xD800;</a>", 2)]
)
def test_characters_that_do_not_exist_are_counted(text: str, count: int) -> None:
    assert [remark.count for remark in mended(text)[1][1:]] == ([count] if count else [])
