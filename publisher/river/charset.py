"""One place that decides which characters a document's bytes stand for.

Order (RFC 7303 section 3): a byte order mark, the HTTP header, the XML declaration,
then UTF-8. A declaration that the bytes contradict is passed over.
"""

import codecs
import re
from email.message import Message

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_BARE_UTF16 = {b"<\x00?\x00": "utf-16-le", b"\x00<\x00?": "utf-16-be"}
_DECLARATION = re.compile(rb"^\s*<\?xml[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._:-]+)[\"'][^>]*\?>")
_DECLARATION_TEXT = re.compile(r"^\s*<\?xml[^>]*\?>")
# Python codecs that are no character sets of documents.
_REFUSED = frozenset({"utf-7", "unicode_escape", "raw_unicode_escape", "punycode", "idna"})
# What is labelled Latin-1 on the web is Windows-1252 (WHATWG Encoding Standard).
_REALLY = {"iso8859-1": "cp1252", "ascii": "cp1252"}


def header_charset(content_type: str) -> str | None:
    """The charset parameter of a Content-Type header, if there is one."""
    message = Message()
    message["Content-Type"] = content_type
    found = message.get_param("charset")
    return found.strip() if isinstance(found, str) and found.strip() else None


def _codec(label: str | None) -> str | None:
    try:
        name = codecs.lookup(label or "").name
    except (LookupError, ValueError):
        return None
    return None if name in _REFUSED else _REALLY.get(name, name)


def _candidates(body: bytes, content_type: str) -> list[str]:
    declared = _DECLARATION.match(body[:1024])
    labels = [
        header_charset(content_type),
        _BARE_UTF16.get(body[:4]),
        declared.group(1).decode("ascii") if declared else None,
    ]
    names = [name for label in labels if (name := _codec(label))]
    # An ASCII label on UTF-8 bytes is common, so UTF-8 is tried before a one-byte guess.
    return [n for n in names if n != "cp1252"] + ["utf-8"] + [n for n in names if n == "cp1252"]


def to_text(body: bytes, content_type: str = "") -> str:
    """The document as text; bytes that fit nothing become U+FFFD."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    for name in _candidates(body, content_type):
        try:
            return body.decode(name)
        except (UnicodeError, LookupError, ValueError):
            continue
    return body.decode("cp1252", "replace")


def to_utf8(body: bytes, content_type: str = "") -> bytes:
    """The document as UTF-8 with a declaration that says so; unchanged if it is already."""
    if body.isascii() and not _DECLARATION.match(body[:1024]):
        return body
    text = _DECLARATION_TEXT.sub("", to_text(body, content_type), count=1)
    return b'<?xml version="1.0" encoding="utf-8"?>' + text.encode("utf-8", "replace")
