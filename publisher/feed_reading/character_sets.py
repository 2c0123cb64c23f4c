"""The character set of a document, decided here and nowhere else.

Order (RFC 7303 section 3): a byte order mark, the HTTP header, the XML declaration, then UTF-8. A
label means what browsers take it for (the table of the WHATWG Encoding Standard: gb2312 is gb18030,
Latin-1 is Windows-1252). What the bytes contradict wholly is ignored; where they contradict the
declared one at a few places only, a character at each of these is U+FFFD.
"""

import codecs
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from email.message import Message

from publisher.feed_reading.remarks import Remark

_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
WARNINGS_BYTES = 16_384
"""How much of another program's output may stand before a document."""
_XML = rb"<\?xml\s(?:[^<>]*?encoding\s*=\s*[\"']([A-Za-z0-9._:-]+)[\"'])?[^<>]*\?>"
_DECLARATION = re.compile(rb"\s*" + _XML)
_LATE_DECLARATION = re.compile(_XML + rb"(?=\s*<)")
_DECLARATION_TEXT = re.compile(r"^\s*<\?xml[^>]*\?>")
_ROOT = re.compile(rb"<(?:[\w.-]+:)?(?:rss|rdf|feed|opml|html)\b", re.IGNORECASE)
# UTF-16 without a mark: `<` and the next character have a zero byte each.
_BARE_UTF16 = re.compile(rb"(\0?)[ \t\r\n\0]*<\0[^\0]\0")
# Python codecs that are no character sets of documents; without a mark it is no UTF-16 or UTF-32.
_REFUSED = re.compile("utf-(7|16|32)|.*unicode.escape|punycode|idna")

# Labels without hyphens and the like, where Python's codec of that name is narrower than what
# browsers read, or has another name.
_CODECS = {
    label: codec
    for codec, labels in {
        "gb18030": "gb2312 gbk gb18030 chinese csgb2312 csiso58gb231280 gb231280 isoir58 cp936 "
        "ms936 windows936",
        "big5hkscs": "big5 big5hkscs cnbig5 csbig5 cp950 windows950",
        "cp932": "shiftjis sjis mskanji csshiftjis windows31j ms932 cp932",
        "euc_jis_2004": "eucjp cseucpkdfmtjapanese ujis",
        "iso2022_jp_ext": "iso2022jp csiso2022jp",
        "cp949": "euckr ksc56011987 ksc56011989 ksc5601 ksx1001 korean cseuckr csksc56011987 "
        "isoir149 windows949 uhc",
        "cp1252": "iso88591 iso885911987 latin1 l1 csisolatin1 isoir100 ibm819 cp819 ascii usascii "
        "ansix341968",
        "cp1254": "iso88599 iso885991989 latin5 l5 csisolatin5 isoir148",
        "cp874": "iso885911 tis620 dos874 windows874 cp874",
        "iso8859_8": "iso88598i csiso88598i logical iso88598e csiso88598e visual",
        "mac_roman": "macintosh mac macroman csmacintosh",
        "mac_cyrillic": "maccyrillic macukrainian",
        "koi8_r": "koi koi8 koi8r cskoi8r",
        "koi8_u": "koi8u koi8ru",
        "cp866": "ibm866 866 cp866 csibm866",
    }.items()
    for label in labels.split()
}
_WINDOWS = re.compile(r"(?:windows|win|cp|ms|ansi)(125[0-8])")
_NO_LETTER = re.compile(r"[^a-z0-9]")
_FEW = 0.2  # of the characters beyond ASCII
_SURE = 4  # characters beyond ASCII that are not UTF-8 by chance in a document of another set
_DAMAGED = "\ufffd"


@dataclass(frozen=True)
class Decoded:
    """A document as text, and remarks where the character set was guessed or did not fit."""

    text: str
    remarks: tuple[Remark, ...] = ()


def header_charset(content_type: str) -> str | None:
    """The charset parameter of a Content-Type header, if there is one."""
    message = Message()
    message["Content-Type"] = content_type
    return message.get_content_charset()


def codec_of(label: str) -> str:
    """The name of Python's codec for a label, "" for none."""
    key = _NO_LETTER.sub("", label.lower())
    key = key if key in _CODECS else key.removeprefix("x").removeprefix("x")
    if key in _CODECS:
        return _CODECS[key]
    if windows := _WINDOWS.fullmatch(key):
        return f"cp{windows[1]}"
    for name in (label, key):
        try:
            codec = codecs.lookup(name)
        except (LookupError, ValueError):
            continue
        # Some of Python's codecs are no character sets: rot13, zip.
        return "" if _REFUSED.match(codec.name) or not codec._is_text_encoding else codec.name
    return ""


def _declaration(body: bytes) -> re.Match[bytes] | None:
    """The XML declaration, at the start or behind warnings of the program that generated it."""
    if at_start := _DECLARATION.match(body[:1024]):
        return at_start
    head = body[:WARNINGS_BYTES]
    root = _ROOT.search(head)
    return _LATE_DECLARATION.search(head, 0, root.end()) if root else None


def _candidates(body: bytes, content_type: str) -> Iterator[str]:
    """Codecs to try, in order."""
    declared = _declaration(body)
    late = []
    for label in (header_charset(content_type), declared and (declared[1] or b"").decode("ascii")):
        name = codec_of(label or "")
        if name == "cp1252":
            late.append(name)  # a common label on UTF-8 bytes, so UTF-8 is tried before
        elif name:
            yield name
    yield from ("utf-8", *late)


def decoded(body: bytes, content_type: str = "") -> Decoded:
    """The document as text; bytes that fit nothing become U+FFFD.

    If all but a few bytes are valid UTF-8, only those few are read as Windows-1252.
    """
    for mark, name in _MARKS.items():
        if body.startswith(mark):
            return _replaced(body[len(mark) :], name)
    if (bare := _BARE_UTF16.match(body[:64])) is not None:
        return _replaced(body, "utf-16-be" if bare[1] else "utf-16-le")
    names = list(dict.fromkeys(_candidates(body, content_type)))
    with suppress(UnicodeDecodeError):
        text = body.decode()
        if names[0] == "utf-8" or _beyond_ascii(text) >= _SURE:
            return Decoded(text)
    for name in names:
        with suppress(ValueError):
            return Decoded(body.decode(name))
    if _mostly_utf8(body):
        guess = "Some bytes are not UTF-8, which the rest is: they were read as Windows-1252."
        return Decoded(body.decode("utf-8", _ONE_BYTE), (Remark("characters-guessed", guess),))
    for name in names:
        if name != "utf-8":
            candidate = _replaced(body, name)
            if candidate.text.count(_DAMAGED) <= 1 + _FEW * _beyond_ascii(candidate.text):
                return candidate
    guess = (
        "The document is not in the character set that it names, or in UTF-8 if it names none: it "
        "was read as Windows-1252."
    )
    return Decoded(body.decode("cp1252", "replace"), (Remark("characters-guessed", guess),))


def _replaced(body: bytes, name: str) -> Decoded:
    """The document in one character set, with U+FFFD for what is none of its characters."""
    text = body.decode(name, "replace")
    damaged = text.count(_DAMAGED)
    if not damaged or damaged == body.decode(name, "ignore").count(_DAMAGED):
        return Decoded(text)
    words = f"Some bytes are no characters of the document's character set ({name}): � is shown."
    return Decoded(text, (Remark("characters-replaced", words, damaged, is_loss=True),))


def _beyond_ascii(text: str) -> int:
    return len(text) - len(text.encode("ascii", "ignore"))


def _mostly_utf8(body: bytes) -> bool:
    """Whether more multi-byte characters are valid UTF-8 than damaged."""
    damaged = body.decode("utf-8", "replace").count(_DAMAGED)
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


def to_text(body: bytes, content_type: str = "") -> str:
    """The document as text: see `decoded`."""
    return decoded(body, content_type).text


def as_utf8(body: bytes, content_type: str = "") -> tuple[bytes, tuple[Remark, ...]]:
    """The document as UTF-8 with an XML declaration, and remarks; unchanged if it is ASCII that
    names no set. Without what stands before its own declaration: blanks, warnings of the program
    that made it."""
    declared = _declaration(body)
    to_rewrite = declared and (declared[1] or declared.start() or body[:1].isspace())
    if body.isascii() and not to_rewrite and b"\x00" not in body[:64] and b"\x1b" not in body:
        return body, ()
    document_text = decoded(body, content_type)
    text = document_text.text
    if declared and declared.start():
        text = text[max(text[:WARNINGS_BYTES].find("<?xml "), 0) :]
    text = _DECLARATION_TEXT.sub("", text)
    document = b'<?xml version="1.0" encoding="utf-8"?>' + text.encode("utf-8", "replace")
    return document, document_text.remarks
