"""The editor of a feed's head: inserts or replaces ttl, syndication module, self link, hubs and
cloud, and leaves every other byte as it is.

RSS 2.0 and 0.9x get all of these; RSS 1.0 (RDF) has neither ttl nor cloud; Atom has neither these
nor the module, so only its links change. Editing is idempotent. The byte positions are found by
expat, so that comments, CDATA and items that quote a feed are not mistaken for elements.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from .core.durations import update_rate

MOST_DEPTH, MOST_ATTRIBUTES = 200, 256
_KINDS = {"rss": "rss", "RDF": "rdf", "feed": "atom"}


class NotEditable(ValueError):
    """The document cannot be edited as a feed; the message says why, in one line."""


@dataclass(slots=True)
class Element:
    """A child of the channel. written: its name with prefix, as in the document. name: its local
    name, preceded by its namespace and a space if it has one. begin, end: byte positions."""

    written: str
    name: str
    attributes: dict[str, str]
    begin: int
    end: int = 0


@dataclass(slots=True)
class FeedOutline:
    """A feed's channel. kind: rss, rdf or atom. children: all but the items, in order. head_end:
    byte after the channel's start tag. first_item: byte where the first item begins, or the
    channel's end. prefixes: the namespace prefixes in force in the channel, by namespace."""

    kind: str = ""
    children: list[Element] = field(default_factory=list)
    head_end: int = -1
    first_item: int = -1
    prefixes: dict[str, str] = field(default_factory=dict)


def outline_of(document: bytes) -> FeedOutline:
    """The outline of an XML feed; NotEditable if it is not well-formed, no feed, or declares
    entities."""
    if document.startswith(b"\x1f\x8b"):
        raise NotEditable("it is compressed with gzip; unpack it first")
    if document.lstrip()[:1] == b"{":
        raise NotEditable("it is JSON; a JSON Feed has no ttl, only its headers can say it")
    if b"\0" in document[:4]:
        raise NotEditable("it is written in UTF-16; only encodings that hold ASCII can be edited")
    reader = _Reader(document)
    try:
        reader.parser.Parse(document, True)
    except expat.ExpatError as error:
        message = expat.errors.messages.get(error.code, "not well-formed")
        raise NotEditable(f"line {error.lineno} is broken XML: {message}") from None
    except NotEditable:
        raise
    except (LookupError, ValueError) as error:  # an unknown encoding
        known = "multi-byte" not in str(error)
        raise NotEditable(
            f"it cannot be read: {error if known else 'its character set; write it in UTF-8'}"
        ) from None
    if not reader.outline.kind or reader.outline.first_item < 0:
        raise NotEditable(
            "this is not a feed: an rss, RDF or Atom feed with a channel was expected"
        )
    if document[reader.outline.head_end - 2 : reader.outline.head_end] == b"/>":
        raise NotEditable("its channel is empty")
    return reader.outline


def end_of_tag(document: bytes, begin: int) -> int:
    """End of the tag that begins at `begin`: after the first `>` outside quotation marks."""
    quote = 0
    for place in range(begin, len(document)):
        byte = document[place]
        if quote:
            quote = 0 if byte == quote else quote
        elif byte in b"\"'":
            quote = byte
        elif byte == 0x3E:
            return place + 1
    raise NotEditable("a tag is not closed")


class _Reader:
    """The handlers of one parse. They resolve namespaces themselves, as expat would hide the
    prefixes, which new elements need."""

    def __init__(self, document: bytes) -> None:
        self.outline = FeedOutline()
        self._document = document
        self._path: list[str] = []
        self._spaces: list[dict[str, str]] = [{}]
        self._in_channel = False
        self._own = ""  # the namespace of RSS' own elements: the channel's, as there are several
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.EntityDeclHandler = self._refuse

    def _refuse(self, *_: object) -> None:
        raise NotEditable("it declares entities, which is not allowed")

    def _start(self, written: str, attributes: dict[str, str]) -> None:
        self._path.append(written)
        depth, local = len(self._path), written.rpartition(":")[2]
        if depth > MOST_DEPTH or len(attributes) > MOST_ATTRIBUTES:
            raise NotEditable("its elements are nested too deeply, or have too many attributes")
        if depth > 3:
            return
        self._spaces.append(self._spaces[-1] | _declared(attributes))
        if depth == 1:
            self.outline.kind = _KINDS.get(local, "")
        if depth == self._channel_depth and self.outline.head_end < 0:
            if local == ("feed" if self.outline.kind == "atom" else "channel"):
                self._in_channel = True
                if self.outline.kind != "atom":
                    self._own = self._space_of(written)
                self.outline.prefixes = {to: prefix for prefix, to in self._spaces[-1].items()}
                self.outline.head_end = end_of_tag(self._document, self.parser.CurrentByteIndex)
        elif depth == self._channel_depth + 1 and self._in_channel:
            self._open(written, local, attributes)

    @property
    def _channel_depth(self) -> int:
        return {"": 0, "atom": 1}.get(self.outline.kind, 2)

    def _open(self, written: str, local: str, attributes: dict[str, str]) -> None:
        begin = self.parser.CurrentByteIndex
        if local in ("item", "entry"):
            if self.outline.first_item < 0:
                self.outline.first_item = begin
            return
        space = self._space_of(written)
        name = local if space in ("", self._own) else f"{space} {local}"
        self.outline.children.append(Element(written, name, attributes, begin))

    def _space_of(self, written: str) -> str:
        return self._spaces[-1].get(written.rpartition(":")[0], "")

    def _end(self, _written: str) -> None:
        depth = len(self._path)
        if self._in_channel and depth == self._channel_depth + 1 and self.outline.children:
            last = self.outline.children[-1]
            last.end = last.end or self._end_of(last)
        if self._in_channel and depth == self._channel_depth:
            self._in_channel = False
            if self.outline.first_item < 0:
                self.outline.first_item = self.parser.CurrentByteIndex
        if depth <= 3:
            self._spaces.pop()
        self._path.pop()

    def _end_of(self, element: Element) -> int:
        """End of an element, called while expat handles its end."""
        opened = end_of_tag(self._document, element.begin)
        if self._document[opened - 2 : opened] == b"/>":
            return opened
        return end_of_tag(self._document, self.parser.CurrentByteIndex)


def _declared(attributes: dict[str, str]) -> dict[str, str]:
    """The namespaces that a tag declares, by prefix."""
    return {
        name.partition(":")[2]: value
        for name, value in attributes.items()
        if name == "xmlns" or name.startswith("xmlns:")
    }


ATOM = "http://www.w3.org/2005/Atom"
FEED_TYPES = {
    "application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/xml",
    "text/xml", "application/feed+json", "application/json",
}  # fmt: skip
SYNDICATION = "http://purl.org/rss/1.0/modules/syndication/"
_LINK = f"{ATOM} link"
_HREF = re.compile(rb"""(\shref\s*=\s*)(?:"[^"]*"|'[^']*')""")
_SPACES = b" \t\r\n"


@dataclass(frozen=True, slots=True)
class HeadChange:
    """The new values of a feed's head; None leaves that part unchanged.

    ttl_minutes: for `ttl` and the syndication module. self_url: the feed's own address. hubs: the
    complete list. cloud: the attributes of RSS `cloud` in order, or () to remove the element.
    """

    ttl_minutes: int | None = None
    self_url: str | None = None
    hubs: tuple[str, ...] | None = None
    cloud: tuple[tuple[str, str], ...] | None = None


def edit(document: bytes, change: HeadChange, outline: FeedOutline | None = None) -> bytes:
    """The document with the changed head; NotEditable if it is no feed or not well-formed.

    outline: the document's, if it was already parsed.
    """
    outline = outline or outline_of(document)
    cuts: list[tuple[int, int, bytes]] = []
    added: list[bytes] = []
    for name, wanted in _wanted(outline, change):
        present = [child for child in outline.children if _is(child, name)]
        for child, text in zip(present, wanted, strict=False):
            cuts.append((child.begin, child.end, _changed(document, child, text)))
        cuts += [(*_with_space(document, child), b"") for child in present[len(wanted) :]]
        added += wanted[len(present) :]
    if added:
        cuts.append(_insertion(document, outline, added))
    for begin, end, text in sorted(cuts, reverse=True):
        document = document[:begin] + text + document[end:]
    return document


def _wanted(outline: FeedOutline, change: HeadChange) -> Iterator[tuple[str, list[bytes]]]:
    """By name, the complete list of elements to have in the head; others of that name are
    removed."""
    if change.ttl_minutes is not None and outline.kind == "rss":
        yield "ttl", [b"<ttl>%d</ttl>" % change.ttl_minutes]
    if change.ttl_minutes is not None and outline.kind != "atom":
        rate = update_rate(change.ttl_minutes)
        period, frequency = ([rate[0]], [str(rate[1])]) if rate else ([], [])
        # updateBase is removed: it promises a fixed schedule.
        parts = {"updatePeriod": period, "updateFrequency": frequency, "updateBase": list[str]()}
        for part, values in parts.items():
            opening, closing = _tag(outline, SYNDICATION, "sy", part)
            yield f"{SYNDICATION} {part}", [_ascii(f"<{opening}>{v}</{closing}>") for v in values]
    if change.self_url is not None:
        yield f"{_LINK} self", [_link(outline, "self", change.self_url)]
    if change.hubs is not None:
        yield f"{_LINK} hub", [_link(outline, "hub", hub) for hub in change.hubs]
    if change.cloud is not None and outline.kind == "rss":
        attributes = "".join(f" {name}={quoteattr(value)}" for name, value in change.cloud)
        yield "cloud", [_ascii(f"<cloud{attributes}/>")] if change.cloud else []


def _is(child: Element, name: str) -> bool:
    if child.name == _LINK:
        return name == f"{_LINK} {child.attributes.get('rel', 'alternate').strip().lower()}"
    return child.name == name


def _tag(outline: FeedOutline, namespace: str, usual: str, name: str) -> tuple[str, str]:
    """The text of an element's start tag and end tag, with the document's prefix for the namespace;
    if it has none, the start tag declares the prefix `usual`."""
    prefix = outline.prefixes.get(namespace)
    if prefix is None:
        return f'{usual}:{name} xmlns:{usual}="{namespace}"', f"{usual}:{name}"
    written = f"{prefix}:{name}" if prefix else name
    return written, written


def _link(outline: FeedOutline, relation: str, address: str) -> bytes:
    opening, _ = _tag(outline, ATOM, "atom", "link")
    media = f' type="application/{outline.kind}+xml"' if relation == "self" else ""
    return _ascii(f'<{opening} rel="{relation}"{media} href={quoteattr(address)}/>')


def _ascii(text: str) -> bytes:
    """`text` in ASCII with character references: valid in every encoding that extends ASCII."""
    return text.encode("ascii", "xmlcharrefreplace")


def _changed(document: bytes, child: Element, text: bytes) -> bytes:
    """The new bytes of an existing element with the value of `text`: only the href of a link and
    only the content of others change; `cloud` is replaced."""
    old = document[child.begin : child.end]
    if child.name == _LINK:
        value = text[text.rindex(b" href=") + 6 : -2]
        return _HREF.sub(lambda match: match.group(1) + value, old, count=1)
    if child.name == "cloud":
        return text
    opening = old[: end_of_tag(old, 0)]
    value = text[text.index(b">") + 1 : text.rindex(b"</")]
    if opening.endswith(b"/>"):
        return b"%s>%s</%s>" % (opening[:-2].rstrip(), value, _ascii(child.written))
    return opening + value + old[old.rindex(b"</") :]


def _insertion(document: bytes, outline: FeedOutline, added: list[bytes]) -> tuple[int, int, bytes]:
    """The cut that inserts new elements after the last one before the items, with its indent."""
    before = [child for child in outline.children if child.begin < outline.first_item]
    at = before[-1].end if before else outline.head_end
    space = _space_before(document, before[-1].begin if before else outline.first_item)
    gap = space[max(space.rfind(b"\n"), 0) :]
    gap = b"\r" + gap if space.endswith(b"\r" + gap) else gap
    return at, at, b"".join(gap + text for text in added)


def _with_space(document: bytes, child: Element) -> tuple[int, int]:
    """The bytes of an element and the white space before it: removed, they leave no empty line."""
    return child.begin - len(_space_before(document, child.begin)), child.end


def _space_before(document: bytes, at: int) -> bytes:
    """The white space before byte `at`."""
    begin = at
    while begin > 0 and document[begin - 1] in _SPACES:
        begin -= 1
    return document[begin:at]
