"""What strangers' XML may declare: nothing that grows, nothing that names a file."""

from contextlib import suppress
from io import BytesIO
from pathlib import Path
from xml.etree.ElementTree import ParseError

import pytest

from publisher.base import safe_xml
from publisher.base.errors import InvalidData

LAUGHS = "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(9))
DECLARED = {
    "laughs": f'<!ENTITY l0 "lol">{LAUGHS}',
    "one long": f'<!ENTITY a "{"x" * 100_000}">',
    "harmless": '<!ENTITY nbsp "&#160;">',
    "file": '<!ENTITY a SYSTEM "file:///etc/passwd">',
    "address": '<!ENTITY a PUBLIC "b" "http://127.0.0.1/">',
    "parameter": '<!ENTITY % p "x">%p;',
    "parameter file": '<!ENTITY % p SYSTEM "file:///etc/passwd">%p;',
    "unparsed": '<!NOTATION n SYSTEM "n"><!ENTITY a SYSTEM "file:///etc/passwd" NDATA n>',
    "default": f'<!ATTLIST rss b CDATA "{"x" * 100_000}">',
    "after a comment": "<!-- ]> --><?x ]> ?><!ENTITY a 'b'>",
    "late": f"<!--{' ' * 200_000}--><!ENTITY a 'b'>",
}


@pytest.mark.parametrize("declared", DECLARED.values(), ids=DECLARED)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "iso-8859-1", "cp1252"])
def test_declarations_are_refused(declared: str, encoding: str) -> None:
    """In whatever encoding: neither the tree nor an element of it is made."""
    head = f'<?xml version="1.0" encoding="{encoding.removesuffix("-le")}"?>'
    document = f"{head}<!DOCTYPE rss [{declared}]><rss>{'<rss/>' * 10}</rss>".encode(encoding)
    if encoding == "utf-16-le":
        document = b"\xff\xfe" + document
    for read in (safe_xml.tree, lambda body: next(safe_xml.elements(BytesIO(body)))):
        with pytest.raises(InvalidData, match="declares entities"):
            read(document)


@pytest.mark.parametrize(
    "document",
    [
        "<!DOCTYPE rss SYSTEM 'rss.dtd'><rss>&a;</rss>",
        "<rss><!DOCTYPE rss [<!ENTITY a 'b'>]>&a;</rss>",
        "<rss>]]><!ENTITY a 'b'>&a;</rss>",
        "<!DOCTYPE rss [%q;<!ENTITY % q 'x'><!ENTITY a 'b'>]><rss>&a;</rss>",
    ],
)  # fmt: skip
def test_nothing_is_declared_elsewhere(document: str) -> None:
    """In another file, after the first element, behind a parameter that is not read."""
    with pytest.raises(ParseError):
        safe_xml.tree(document.encode())


def test_control_characters_are_left_out() -> None:
    """WordPress exports them as they are; in UTF-16 the same bytes are parts of other letters."""
    text = "<rss><a>one\x0b\x00 two\x1f</a></rss>"
    ends = [
        element for event, element in safe_xml.elements(BytesIO(text.encode())) if event == "end"
    ]
    assert ends[0].text == "one two"
    wide = "<rss>\u0b0b\u0121</rss>".encode("utf-16")
    ends = [element for event, element in safe_xml.elements(BytesIO(wide)) if event == "end"]
    assert ends[0].text == "\u0b0b\u0121"


# In UTF-16 one name; without the bytes that are controls by themselves, a declaration.
HIDDEN = "".join(
    chr(ord(letter) + (0x400 if letter == "I" else 0x100))
    for letter in "!DOCTYPE rss [<!ENTITY a 'b'>]><rss>&a;</rss>"
)


@pytest.mark.parametrize(
    "document",
    [
        b"<!DOCTYPE rss [<!ENT\x01ITY a 'b'>]><rss>&a;</rss>",
        b"<\x01!DOCTYPE rss [<!ENTITY a 'b'>]><rss>&a;</rss>",
        b"\x01<!DOCTYPE rss [<!ENTITY a 'b'>]><rss>&a;</rss>",
        f"<{HIDDEN}/>".encode("utf-16-le"),
        f"<{HIDDEN}/>".encode("utf-16-be"),
    ],
)
def test_control_characters_hide_no_declaration(document: bytes) -> None:
    """What is left when they are gone is what was looked at."""
    tags: list[str] = []
    with suppress(InvalidData, ParseError):
        tags.extend(element.tag for _, element in safe_xml.elements(BytesIO(document)))
    assert "rss" not in tags


def test_an_external_document_type_is_not_fetched(tmp_path: Path) -> None:
    """Neither for its entities nor for its attributes; old feeds name one."""
    (tmp_path / "rss.dtd").write_text('<!ENTITY a "secret"><!ATTLIST rss b CDATA "secret">')
    doctype = f'<!DOCTYPE rss PUBLIC "x" "{tmp_path.as_uri()}/rss.dtd" [<!ELEMENT rss (#PCDATA)>]>'
    root = safe_xml.tree(f"{doctype}<rss>text</rss>".encode())
    assert (root.text, root.attrib) == ("text", {})
    with pytest.raises(ParseError, match="undefined entity"):
        safe_xml.tree(f"{doctype}<rss>&a;</rss>".encode())


def test_a_document_type_can_be_refused() -> None:
    """As for XML-RPC, whose calls have none."""
    stream = BytesIO(b'<!DOCTYPE rss SYSTEM "rss.dtd"><rss/>')
    assert safe_xml.first_element(stream) == ("rss", frozenset())
    with pytest.raises(InvalidData):
        safe_xml.first_element(stream, doctype=False)
    assert stream.tell() == 0


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (b"", ("", frozenset())),
        (b"<?xml version='1.0'?>" + b" " * 100_000, ("", frozenset())),
        (b'\n<a xmlns="u:1" xmlns:b="u:2"><c xmlns="u:3"', ("a", frozenset({"u:1", "u:2"}))),
        (b'<b:a xmlns:b="u:2"/>', ("a", frozenset({"u:2"}))),
    ],
)  # fmt: skip
def test_the_first_element(document: bytes, expected: tuple[str, frozenset[str]]) -> None:
    """Its local name and namespaces; what follows is not read."""
    stream = BytesIO(document)
    assert safe_xml.first_element(stream) == expected
    assert stream.tell() == 0


def test_broken_xml_is_an_error_with_its_place() -> None:
    """As of the standard library, also before the first element."""
    with pytest.raises(ParseError, match="not well-formed") as broken:
        safe_xml.tree(b"\n <1/>")
    assert broken.value.position == (2, 2)
    with pytest.raises(LookupError):
        safe_xml.tree(b'<?xml version="1.0" encoding="nothing"?><a/>')


class Stream(BytesIO):
    """Notes how much was asked for at a time."""

    def __init__(self, document: bytes) -> None:
        super().__init__(document)
        self.sizes: list[int] = []

    def read(self, size: int | None = -1, /) -> bytes:
        self.sizes.append(size or 0)
        return super().read(size)


@pytest.mark.parametrize("token", [b"<!--", b"<?x ", b"<a b='", b"<!DOCTYPE a [<!--"])
def test_a_token_without_an_end_is_read_in_few_pieces(token: bytes) -> None:
    """The parser looks through it anew with each piece: 16 MB in pieces of 64 kB took 3 s, and an
    import's elements in pieces of 16 kB 12 s."""
    document = b"<a><b/>" + token + b"x" * 8_000_000
    for stream in (Stream(document[7:]), Stream(document)):
        with pytest.raises(ParseError):
            list(safe_xml.elements(stream))
        assert len(stream.sizes) < 20


def test_many_elements_are_read_in_small_pieces() -> None:
    """What is made of one piece is held in memory together."""
    many = Stream(b"<a>" + b"<b/>" * 100_000 + b"</a>")
    assert len(list(safe_xml.elements(many))) == 200_002
    assert max(many.sizes) < 200_000
