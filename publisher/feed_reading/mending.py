"""XML that is not well-formed, made so, as it was meant: what is damaged costs what is damaged.

Bare `&` and `<`, entities of HTML, references to characters that do not exist, control characters,
attributes without quotation marks, undeclared prefixes, elements that are not closed or closed
twice, a missing end, junk behind the end. The time is linear in the length of the document.
"""

import re
from dataclasses import dataclass, field
from html import unescape
from html.entities import html5
from xml.sax.saxutils import escape, quoteattr

from publisher.base.text import clean
from publisher.feed_reading.remarks import Remark
from publisher.feed_reading.scan import (
    MAX_ATTRIBUTES,
    MAX_DEPTH,
    SYNDICATION,
    TOO_DEEP,
    TOO_MANY_ATTRIBUTES,
    UnsafeDocument,
)

NAMESPACES = {
    "atom": "http://www.w3.org/2005/Atom",
    "content": "http://purl.org/rss/1.0/modules/content/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "itunes": "http://www.itunes.com/dtds/podcast-1.0.dtd",
    "media": "http://search.yahoo.com/mrss/",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "sy": SYNDICATION,
    "xhtml": "http://www.w3.org/1999/xhtml",
}
"""The usual prefixes of feeds, and their namespaces."""

_MARKUP = re.compile(
    r"<!--.*?(?:-->|\Z)|<!\[CDATA\[(?P<data>.*?)(?:\]\]>|\Z)|<\?.*?(?:\?>|\Z)"
    r"|<!(?!--|\[CDATA)[^<>]*+>"
    r"|<(?P<end>/)?(?P<name>[A-Za-z_][\w.-]*(?::[A-Za-z_][\w.-]*)?)"
    # A `<` in a value may not begin a tag: so each tag ends before the next, in linear time.
    r"(?P<attributes>(?=[\s/>])(?:[^<>\"']|\"(?:[^\"<]|<(?![A-Za-z/!?]))*+\""
    r"|'(?:[^'<]|<(?![A-Za-z/!?]))*+')*+|(?=[\s/])[^<>]*+)>",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(
    r"(?P<name>[A-Za-z_][\w.-]*(?::[A-Za-z_][\w.-]*)?)\s*=\s*"
    r"(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|(?P<bare>[^\s\"'>]+))"
)
_PAIR = re.compile(r"&#(x[0-9A-Fa-f]{4,6}|\d{5,6});&#(x[0-9A-Fa-f]{4,6}|\d{5,6});")
_REFERENCE = re.compile(r"&(?:#(\d{1,9}|[xX][0-9A-Fa-f]{1,8})|([A-Za-z][A-Za-z0-9]{0,31}));|[&<>]")
_CONTROL_BLANKS = re.compile("[\x0b\x0c\x1c-\x1f]")
_OF_XML = frozenset({"amp", "lt", "gt", "quot", "apos"})
_NOT_CLOSED = frozenset(
    ["br", "hr", "img", "input", "meta", "wbr", "area", "col", "embed", "param"]
)
_ENTRIES = frozenset({"item", "entry"})
_DAMAGED = "\ufffd"


@dataclass
class _Mender:
    """The document so far. `open` are the names of the elements that are not closed yet, `begun`
    the numbers of the pieces with which they begin."""

    pieces: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    begun: list[int] = field(default_factory=list)
    declared: set[str] = field(default_factory=lambda: {"xml", "xmlns"})
    used: set[str] = field(default_factory=set)
    references: int = 0

    def text(self, text: str) -> None:
        if self.open:
            self.pieces.append(self.sound(text))

    def sound(self, text: str) -> str:
        """Text with sound references alone, and the characters that XML has."""
        if "&#" in text:
            text = _PAIR.sub(self._pair, text)
        return clean(_CONTROL_BLANKS.sub(" ", _REFERENCE.sub(self._reference, text)))

    def _pair(self, match: re.Match[str]) -> str:
        """A character beyond U+FFFF that was written as two surrogates."""
        high, low = _number(match[1]), _number(match[2])
        if 0xD800 <= high < 0xDC00 <= low < 0xE000:
            both = chr(high) + chr(low)
            return both.encode("utf-16", "surrogatepass").decode("utf-16")
        return match[0]

    def _reference(self, match: re.Match[str]) -> str:
        number, name = match.groups()
        if name:
            if name in _OF_XML:
                return match[0]
            return escape(html5[f"{name};"]) if f"{name};" in html5 else f"&amp;{name};"
        if number:
            code = _number(number)
            if code < 0x110000 and clean(chr(code)):
                return match[0]
            if code < 0x20:
                return ""  # as the control characters that stand there as such
            self.references += 1
            return _DAMAGED
        return escape(match[0])

    def start(self, name: str, attributes: str) -> None:
        """Open an element; an item that stands in an item closes that one."""
        if name in _ENTRIES and name in self.open:
            self.end(name)
        own: dict[str, str] = {}
        for number, match in enumerate(_ATTRIBUTE.finditer(attributes)):
            if number >= MAX_ATTRIBUTES:
                raise UnsafeDocument(TOO_MANY_ATTRIBUTES)
            value = match["double"] or match["single"] or match["bare"] or ""
            own.setdefault(match["name"], value)
        for key in own:
            prefix, _, local = key.rpartition(":")
            if prefix == "xmlns":
                self.declared.add(local)
            else:
                self.used.add(prefix)
        self.used.add(name.rpartition(":")[0])
        values = "".join(
            f" {key}={quoteattr(unescape(self.sound(value)))}" for key, value in own.items()
        )
        closed = attributes.rstrip().endswith("/") or name.lower() in _NOT_CLOSED
        self.pieces.append(f"<{name}{values}{'/' if closed else ''}>")
        if len(self.open) >= MAX_DEPTH:
            raise UnsafeDocument(TOO_DEEP)
        if not closed:
            self.open.append(name)
            self.begun.append(len(self.pieces) - 1)

    def end(self, name: str) -> None:
        """Close an element and what is open in it; nothing where it is not open."""
        if name in self.open:
            self.close(len(self.open) - 1 - self.open[::-1].index(name))

    def close(self, depth: int) -> None:
        """Close the elements from this depth on."""
        self.pieces += [f"</{name}>" for name in reversed(self.open[depth:])]
        del self.open[depth:], self.begun[depth:]

    def finish(self) -> None:
        """Close all, without the part of an item in which the document breaks off."""
        first = next((at for at, name in enumerate(self.open, 1) if name in _ENTRIES), 0)
        if first and self.open[first:]:
            del self.pieces[self.begun[first] :], self.open[first:], self.begun[first:]
        self.close(0)


def mended(text: str) -> tuple[str, tuple[Remark, ...]]:
    """A well-formed document that says what `text` was meant to say, and remarks on it.

    Raises UnsafeDocument as `scan`, for what it refuses behind the first error too.
    """
    mender = _Mender()
    at = 0
    for tag in _MARKUP.finditer(text):
        mender.text(text[at : tag.start()])
        at = tag.end()
        if tag["name"]:
            if tag["end"]:
                mender.end(tag["name"])
            else:
                mender.start(tag["name"], tag["attributes"])
        elif tag["data"] and mender.open:
            mender.pieces.append(escape(clean(_CONTROL_BLANKS.sub(" ", tag["data"]))))
        if mender.pieces and not mender.open:
            break  # what stands behind the end
    else:
        mender.text(text[at:])
    mender.finish()
    missing = sorted(mender.used - mender.declared - {""})
    if missing:
        declarations = "".join(
            f' xmlns:{prefix}="{NAMESPACES.get(prefix, f"urn:undeclared:{prefix}")}"'
            for prefix in missing
        )
        root = mender.pieces[0]
        end = len(root) - (2 if root.endswith("/>") else 1)
        mender.pieces[0] = root[:end] + declarations + root[end:]
    return "".join(mender.pieces), _remarks(mender)


def _remarks(mender: _Mender) -> tuple[Remark, ...]:
    remarks = [
        Remark(
            "not-well-formed", "The document is not well-formed XML: it was read as it is meant."
        )
    ]
    if mender.references:
        sentence = "A reference names a character that does not exist: � is shown."
        remarks.append(Remark("characters-replaced", sentence, mender.references, is_loss=True))
    return tuple(remarks)


def _number(digits: str) -> int:
    """The number of a character reference, without its `&#`."""
    return int(digits[1:], 16) if digits[0] in "xX" else int(digits)
