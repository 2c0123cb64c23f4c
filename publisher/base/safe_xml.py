"""XML of strangers, read by the standard library once it is known to declare nothing dangerous.

Entities can name files, and grow without bound, as attributes with a default do. Both are declared
before the first element, where the parser reports each one; another file is never fetched for it.
"""

from collections.abc import Iterator
from io import BytesIO
from typing import Any, BinaryIO
from xml.etree.ElementTree import Element, ParseError, XMLPullParser, fromstring  # nosec B405
from xml.parsers.expat import ExpatError, ParserCreate

from publisher.base.errors import InvalidData

_PIECE_BYTES = 64 * 1024
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r"))  # XML has none of them


class _Begins(Exception):
    """The first element begins here: the rest declares nothing."""


def first_element(
    stream: BinaryIO, doctype: bool = True, without: bytes = b""
) -> tuple[str, frozenset[str]]:
    """The local name of the first element and the namespaces it declares, of a stream that is put
    back to its start; "" and none if it ends before. Bytes of `without` are left out.

    InvalidData for declared entities and attributes, or for any document type unless `doctype`;
    ParseError, LookupError and ValueError for what cannot be read.
    """
    name, namespaces = "", set[str]()

    def start(tag: str, _: object) -> None:
        nonlocal name
        name = tag.rpartition("}")[2]
        raise _Begins

    parser = ParserCreate(namespace_separator="}")
    parser.EntityDeclHandler = parser.AttlistDeclHandler = _refuse
    parser.StartDoctypeDeclHandler = None if doctype else _refuse
    parser.StartNamespaceDeclHandler = lambda _, address: namespaces.add(address)
    parser.StartElementHandler = start
    size = _PIECE_BYTES
    try:
        while piece := stream.read(size):
            parser.Parse(piece.translate(None, without))
            size *= 2  # a comment that is not closed is looked through anew with each piece
    except _Begins:
        pass
    except ExpatError as error:
        broken = ParseError(str(error))
        broken.code, broken.position = error.code, (error.lineno, error.offset)
        raise broken from error
    finally:
        stream.seek(0)
    return name, frozenset(namespaces)


def _refuse(*_: object) -> None:
    raise InvalidData("the XML declares entities or the like, which is not safe to read")


def usual_tag(tag: str) -> str:
    """A tag with the usual address of its namespace: some write `https` in it."""
    return tag.replace("https:", "http:", 1)


def tree(document: bytes) -> Element:
    """The document's first element, with all in it; as `first_element` for what is refused."""
    first_element(BytesIO(document))
    return fromstring(document)  # noqa: S314  # nosec B314


def elements(stream: BinaryIO) -> Iterator[Any]:
    """Each "start" and "end" of an element, as they are read; refuses as `first_element`.

    Control characters, which WordPress exports as they are, are left out, for both parsers: what
    the first one allows must be what the second one reads.
    """
    start = stream.read(4)
    stream.seek(0)
    wide = b"\0" in start or start[:2] in (b"\xff\xfe", b"\xfe\xff")  # parts of others in UTF-16
    without = b"" if wide else _CONTROLS
    first_element(stream, without=without)
    parser: XMLPullParser[Any] = XMLPullParser(("start", "end"))
    size = _PIECE_BYTES
    while piece := stream.read(size):
        parser.feed(piece.translate(None, without))
        size *= 2  # as above
        for event in parser.read_events():
            size = _PIECE_BYTES
            yield event
    parser.close()
    yield from parser.read_events()
