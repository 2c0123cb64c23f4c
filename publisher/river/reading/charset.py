"""The character encoding of a document: decided here and nowhere else.

Order (RFC 7303 section 3): a byte order mark, the HTTP header, the XML declaration,
then UTF-8. A declaration that the bytes contradict is ignored.
"""

import codecs
import re
from collections.abc import Iterator
from email.message import Message

_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_DECLARATION = re.compile(rb"^\s*<\?xml[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._:-]+)[\"'][^>]*\?>")
_DECLARATION_TEXT = re.compile(r"^\s*<\?xml[^>]*\?>")
# UTF-16 without a mark: `<` and the next character have a zero byte each.
_BARE_UTF16 = re.compile(rb"(\0?)[ \t\r\n\0]*<\0[^\0]\0")
# Python codecs that are no character sets of documents; without a mark it is no UTF-16 or UTF-32.
_REFUSED = re.compile("utf-(7|16|32)|.*unicode.escape|punycode|idna")
# What is labelled Latin-1 on the web is Windows-1252 (WHATWG Encoding Standard).
_REALLY = {"iso8859-1": "cp1252", "ascii": "cp1252"}


def header_charset(content_type: str) -> str | None:
    """The charset parameter of a Content-Type header, if there is one."""
    message = Message()
    message["Content-Type"] = content_type
    return message.get_content_charset()


def _candidates(body: bytes, content_type: str) -> Iterator[str]:
    """Codecs to try, in order."""
    if (bare := _BARE_UTF16.match(body[:64])) is not None:
        yield "utf-16-be" if bare[1] else "utf-16-le"
        return
    declared = _DECLARATION.match(body[:1024])
    late = []
    for label in (header_charset(content_type), declared and declared[1].decode("ascii")):
        try:
            name = codecs.lookup(label or "").name
        except (LookupError, ValueError):
            continue
        if name in _REALLY or name == "cp1252":
            late.append("cp1252")  # a common label on UTF-8 bytes, so UTF-8 is tried before
        elif not _REFUSED.match(name):
            yield name
    yield from ("utf-8", *late)


def to_text(body: bytes, content_type: str = "") -> str:
    """The document as text; bytes that fit nothing become U+FFFD.

    If all but a few bytes are valid UTF-8, only those few are read as Windows-1252.
    """
    for mark, name in _MARKS.items():
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    for name in _candidates(body, content_type):
        try:
            return body.decode(name)
        except (UnicodeError, LookupError, ValueError):
            if name == "utf-8" and _mostly_utf8(body):
                return body.decode("utf-8", _ONE_BYTE)
    return body.decode("cp1252", "replace")


def _mostly_utf8(body: bytes) -> bool:
    """Whether more multi-byte characters are valid UTF-8 than damaged."""
    damaged = body.decode("utf-8", "replace").count("\ufffd")
    whole = len(body.decode("utf-8", "ignore")) - sum(byte < 128 for byte in body)
    return whole > damaged


def _as_cp1252(problem: UnicodeError) -> tuple[str, int]:
    """A decoding error handler: the bytes that are not UTF-8, read as Windows-1252."""
    if not isinstance(problem, UnicodeDecodeError):
        raise problem
    bad = problem.object[problem.start : problem.end]
    return bad.decode("cp1252", "replace"), problem.end


_ONE_BYTE = "publisher-cp1252"
codecs.register_error(_ONE_BYTE, _as_cp1252)


def to_utf8(body: bytes, content_type: str = "") -> bytes:
    """The document as UTF-8 with an XML declaration; unchanged if it is ASCII without one."""
    if body.isascii() and b"\x00" not in body[:64] and not _DECLARATION.match(body[:1024]):
        return body
    text = _DECLARATION_TEXT.sub("", to_text(body, content_type), count=1)
    return b'<?xml version="1.0" encoding="utf-8"?>' + text.encode("utf-8", "replace")
