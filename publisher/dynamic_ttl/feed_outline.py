"""The byte positions of the elements in a feed's head, found by expat, so that comments, CDATA and
items that quote a feed are not mistaken for them."""

from dataclasses import dataclass, field
from xml.parsers import expat

MOST_DEPTH, MOST_ATTRIBUTES = 200, 256
_KINDS = {"rss": "rss", "RDF": "rdf", "feed": "atom"}
# No namespace, and the namespaces that versions of RSS have used for their own elements.
_PLAIN = {
    "",
    "http://purl.org/rss/1.0/",
    "http://my.netscape.com/rdf/simple/0.9/",
    "http://backend.userland.com/rss2",
}


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
        raise NotEditable(f"it cannot be read: {error}") from None
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
        space = self._spaces[-1].get(written.rpartition(":")[0], "")
        name = local if space in _PLAIN else f"{space} {local}"
        self.outline.children.append(Element(written, name, attributes, begin))

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
