"""Single values as exports write them, and XML that is untrusted."""

import io
from collections import Counter
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from publisher.base.errors import InvalidData
from publisher.base.media_files import Attachment
from publisher.parts.importing.formats import fields
from publisher.parts.importing.imported import MAX_ADDRESS, is_web_address

BERLIN = ZoneInfo("Europe/Berlin")
NOON = datetime(2021, 2, 3, 12, 0, tzinfo=UTC)


def test_an_instant_or_the_place_that_has_none() -> None:
    assert fields.moment("2021-02-03T12:00:00Z", "a.md") == NOON
    assert fields.moment("2021-02-03 13:00", "a.md", BERLIN) == NOON
    assert [fields.moment(text, "a.md") for text in (None, "", " \n")] == [None, None, None]
    with pytest.raises(InvalidData, match=r"a\.md: "):
        fields.moment("soon", "a.md")


@pytest.mark.parametrize(
    "text",
    [
        "2021-02-03T12:00:00Z", " 2021-02-03 12:00:00+00:00 ", "2021-02-03 13:00:00 +0100 CET",
        "2021-02-03 13:00:00 +0100 +0100", "2021-02-03 12:00:00 +0000 UTC m=+0.5",
        "2021-02-03 12.00 Z", "Wed, 03 Feb 2021 12:00:00 GMT",
    ],
)  # fmt: skip
def test_dates_as_programs_write_them(text: str) -> None:
    assert fields.dated(text) == (NOON, ())


def test_dates_without_an_offset_and_none_at_all() -> None:
    assert fields.dated("2021-02-03 13:00", BERLIN) == (NOON, ())
    assert fields.dated("  ") == (None, ())
    moment, (why,) = fields.dated("soon")
    assert moment is None
    assert why.startswith("its date cannot be read, so it became a draft: ")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("a  b\n", "a b"), ("a <b>b</b>", "a b"), ("<i><b>a</b></i>", "a"),
        ("a < b > c", "a < b > c"),
        ("a<br/>b<wbr>c", "a b c"), ("<p>a</p>", "<p>a</p>"), ("A&amp;B &lt;b&gt;", "A&B <b>"),
        ("&amp;amp;", "&amp;"), ('<a href="x">a</a>', "a"), ("<b>a</i>", "<b>a</i>"),
        ("<b><i><u><s><q>a</q></s></u></i></b>", "a"), ("<B>a</B>", "a"),
        ("<b><i><u><s><q><em>a</em></q></s></u></i></b>", "<b>a</b>"),
    ],
)  # fmt: skip
def test_titles_as_text(text: str, title: str) -> None:
    """Elements within a line are their words, at most five deep; all else is kept."""
    assert fields.title(text) == title


def test_text_as_html() -> None:
    assert fields.paragraphs(" a <b>\nc\n \n\nd\n") == "<p>a &lt;b&gt;<br>\nc</p>\n<p>d</p>"
    assert fields.paragraphs("") == ""
    assert (fields.plain(None), fields.plain(""), fields.plain("<p>a &amp; b</p>")) == (
        "",
        "",
        "a & b",
    )


BASE = "https://a.example/b/c"


@pytest.mark.parametrize(
    ("source", "base", "made"),
    [
        ('<a href="d">x</a>', BASE, '<a href="https://a.example/b/d">x</a>'),
        ("<img src=/d>", BASE, '<img src="https://a.example/d" loading="lazy">'),
        ('<a href="#x">x</a>', BASE, '<a href="#x">x</a>'),
        ('<a href="mailto:x">x</a>', BASE, '<a href="mailto:x">x</a>'),
        ('<a href="d">x</a>', "", '<a href="d">x</a>'),
        ('<a href="d">x</a>', "ftp://a.example/", '<a href="d">x</a>'),
        ('<a href="d">x</a>', "http://a.example/", '<a href="http://a.example/d">x</a>'),
        ("a <b>b", BASE, "a <b>b"),
    ],
)
def test_addresses_in_html(source: str, base: str, made: str) -> None:
    """Made whole where the base is known; as it stands where there is none to make."""
    assert fields.with_base(source, base) == made


@pytest.mark.parametrize(
    ("source", "base", "made"),
    [
        ("[a](/b)", BASE, "[a](https://a.example/b)"),
        ("[a](</b>)", BASE, "[a](<https://a.example/b>)"),
        ("[a]: /b", BASE, "[a]: https://a.example/b"), ("[a](b)", BASE, "[a](b)"),
        ("[a](//b)", BASE, "[a](//b)"), ("<img src='/b'>", BASE, "<img src='https://a.example/b'>"),
        ("[a](/b)", "", "[a](/b)"), ("[a](/b)", "http://c.example", "[a](http://c.example/b)"),
        ("a /b", BASE, "a /b"),
    ],
)  # fmt: skip
def test_addresses_in_markdown(source: str, base: str, made: str) -> None:
    assert fields.markdown_with_base(source, base) == made


def test_an_address_in_a_feed() -> None:
    assert fields.web("https://a.example/ä b/%20?ü") == "https://a.example/%C3%A4%20b/%20?ü"
    assert fields.web("https://a.example/a/a?a") == "https://a.example/a/a?a"


def test_what_identifies_a_post() -> None:
    assert fields.identity(" g ", "a", "c") == "g"
    assert fields.identity(" ", " a ", "c") == "a"
    assert fields.identity("", "", "c").startswith("urn:sha256:2e7d2c03a9507ae2")


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("https://a.example/b/?c=d", "/b/?c=d"), (" http://a.example/%C3%A4 ", "/ä"),
        ("/b", "/b"), ("https://a.example", ""), ("https://a.example/", ""), ("/", ""),
        ("https://a.example/?p=1", "/?p=1"), ("https://a.example?p=1", "/?p=1"), ("b", ""),
        ("ftp://a.example/b", ""), ("mailto:b", ""), ("http://[b", ""), ("", ""),
        ("/" + "b" * (MAX_ADDRESS - 1), "/" + "b" * (MAX_ADDRESS - 1)),
        ("/" + "b" * MAX_ADDRESS, ""),
    ],
)  # fmt: skip
def test_the_path_of_a_former_address(address: str, path: str) -> None:
    assert fields.old_path(address) == path


@pytest.mark.parametrize(
    ("address", "slug"),
    [
        ("https://a.example/b/c", "c"), ("/b/c/", "c"), ("/c.html?d=e", "c"), ("/c.htm", "c"),
        ("/c.php", "c"), ("/c.aspx", "c"), ("/c.md", "c"), ("/c.txt", "c.txt"), ("/index.html", ""),
        ("/2020", ""), ("/2020.html", ""), ("/", ""), ("c", ""), ("/?p=1", ""),
    ],
)  # fmt: skip
def test_the_last_words_of_an_address(address: str, slug: str) -> None:
    assert fields.slug_of(address) == slug


def test_a_file_that_comes_with_a_post() -> None:
    """Only at a whole address; its type and numbers as far as they are told."""
    url = "https://a.example/1.mp3"
    assert fields.attachment(f" {url} ", " audio/mpeg ", "12", "1:05") == Attachment(
        url, "audio/mpeg", 12, 65
    )
    assert fields.attachment(url, " ", None) == Attachment(url, "application/octet-stream", 0, 0)
    assert fields.attachment("/1.mp3", "audio/mpeg", "12") is None


@pytest.mark.parametrize(
    ("address", "whole"),
    [
        ("https://a.example/b", True), ("HTTP://a.example", True), ("https://a b", False),
        ("https:///b", False), ("ftp://a.example", False), ("a.example", False), ("", False),
        ("https://a.example/" + "b" * (MAX_ADDRESS - 18), True),
        ("https://a.example/" + "b" * (MAX_ADDRESS - 17), False), ("https://[b", False),
    ],
)  # fmt: skip
def test_whole_addresses(address: str, whole: bool) -> None:
    assert is_web_address(address) == whole


def test_objects_in_a_list() -> None:
    assert fields.records([{"a": 1}, 5, None, {}]) == [{"a": 1}, {}]
    assert fields.records({"a": 1}) == fields.records(None) == []


def test_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Missing values are empty, those beyond the last column are dropped."""
    assert fields.table_in('a,b\n1\n2,"x\ny",4\n') == (
        ["a", "b"],
        [{"a": "1", "b": ""}, {"a": "2", "b": "x\ny"}],
    )
    assert fields.table_in("") == ([], [])
    with monkeypatch.context() as patch:
        patch.setattr(fields, "MAX_FILE_BYTES", 5)
        assert fields.table_in("a\n12345\n") == (["a"], [{"a": "12345"}])
        with pytest.raises(InvalidData, match=r"^x: the CSV cannot be read"):
            fields.table_in("a\n123456\n", "x: ")
    fields.table_in("")  # the limit is one of the whole program


def test_json_that_cannot_be_read() -> None:
    assert fields.json_in(io.BytesIO(b'{"a": 1}')) == {"a": 1}
    for data in (b"{", b"[" * 100_000, b"\xff"):
        with pytest.raises(InvalidData, match="the JSON cannot be read"):
            fields.json_in(io.BytesIO(data))


# -- XML


def read(xml: str | bytes, container: str = "channel") -> tuple[list[str], Counter[str]]:
    """The names and texts of what is in a container, and notes."""
    notes = Counter[str]()
    data = xml if isinstance(xml, bytes) else xml.encode()
    parts = [f"{fields.local(part)}={part.text or ''}" for part in fields.parts(io.BytesIO(data),
             container, notes)]  # fmt: skip
    return parts, notes


def test_only_the_children_of_the_outermost_container() -> None:
    """At the root or right below it."""
    xml = "<rss><channel><a>1</a><b><channel><c>2</c></channel></b></channel><d>3</d></rss>"
    assert read(xml)[0] == ["a=1", "b="]
    assert read("<channel><a>1</a></channel>")[0] == ["a=1"]
    assert read("<x><y><channel><a>1</a></channel></y></x>")[0] == []


def test_names_with_a_secure_address_are_those_without() -> None:
    xml = '<feed xmlns="https://www.w3.org/2005/Atom"><id>1</id></feed>'
    (part,) = fields.parts(io.BytesIO(xml.encode()), "feed", Counter())
    assert part.tag == "{http://www.w3.org/2005/Atom}id"


def test_xml_that_is_not_well_formed() -> None:
    """It is read as it is meant, with a note, if it has its end; what was read already comes
    once."""
    parts, notes = read("<rss><channel><a>1</a><b>x & y</b></channel></rss>")
    assert (parts, sum(notes.values())) == (["a=1", "b=x & y"], 1)
    assert read("<rss><channel><b>x</b></channel></rss>")[1] == {}
    with pytest.raises(InvalidData):
        read("<rss><channel><a>1</a><b>x & y</b>")


@pytest.mark.parametrize(
    ("deep", "fits"), [(fields.MAX_DEPTH - 3, True), (fields.MAX_DEPTH - 2, False)]
)
def test_xml_that_is_nested_deeply(deep: int, fits: bool) -> None:
    inner = "<i>" * (deep + 1) + "</i>" * (deep + 1)
    xml = f"<rss><channel>{inner}</channel></rss>"
    if fits:
        assert read(xml)[0] == ["i="]
    else:
        with pytest.raises(InvalidData, match="nested too deeply"):
            read(xml)


def test_the_root_of_a_document() -> None:
    """Its name and namespaces; the stream is where it was."""
    stream = io.BytesIO(b'<a xmlns="u:v"><b/></a>')
    assert fields.root(stream) == ("a", frozenset({"u:v"}))
    assert stream.tell() == 0
    assert fields.root(io.BytesIO(b"no xml")) == ("", frozenset())
    with pytest.raises(InvalidData):
        fields.root(io.BytesIO(b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'))
