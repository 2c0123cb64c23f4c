"""First pass over a feed document: its format, its polling hints, the byte range of each item.

A hardened XML parser refuses what is dangerous and finds every hint. With the byte ranges, only
items that have not been read before are parsed in full.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.parsers.expat import ExpatError, ParserCreate

from publisher.base.errors import InvalidData
from publisher.base.safe_xml import usual_tag
from publisher.base.text import whole_number

SYNDICATION = "http://purl.org/rss/1.0/modules/syndication/"
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_PERIOD_MINUTES = {"hourly": 60, "daily": 1440, "weekly": 10080, "monthly": 43200, "yearly": 525600}
_ROOTS = {"rss": "rss", "rdf": "rdf", "feed": "atom"}
_FIRST_TAG = re.compile(
    rb"(?:<!--.*?-->|<\?.*?\?>|<!(?!--)[^>\[]*+(?:\[.*?\]\s*)?>|<(?![!?A-Za-z_])|[^<])*+"
    rb"<([A-Za-z_][\w.:-]*)",
    re.DOTALL,
)
_LAST_TAG = re.compile(rb"</(?:[\w.-]+:)?(?:rss|RDF|feed)\s*>", re.IGNORECASE)
_END_BYTES = 4_096
# Of an item; for the parser `<item/>` ends behind its tag, other items before their end tag.
_END_TAG = re.compile(rb"</(?:[^\s:>]+:)?(?:item|entry)\s*>")
_FIRST_TAG_WITHIN = 65_536
MAX_DEPTH = 200
MAX_ATTRIBUTES = 256
_MAX_MINUTES = 60 * 24 * 366
_MOST_ENTITIES, _MOST_GROWTH = 256, 1_000_000
_ENTITIES = "the document declares entities, which is not allowed"
TOO_DEEP = "elements are nested too deeply"
TOO_MANY_ATTRIBUTES = f"an element has more than {MAX_ATTRIBUTES} attributes"


class UnsafeDocument(InvalidData):
    """The document declares entities, is nested too deeply, or has too many attributes."""


@dataclass(frozen=True)
class DocumentHints:
    """What the document itself says about when to come back (RSS 2.0, mod_syndication).

    `skip_hours` are hours 0-23 and `skip_days` weekdays 0-6 (Monday first), both GMT.
    """

    ttl_minutes: int | None = None
    syndication_minutes: int | None = None
    skip_hours: frozenset[int] = frozenset()
    skip_days: frozenset[int] = frozenset()

    @property
    def seconds(self) -> int:
        """The longest time between polls that the document asks for; 0 when it says nothing."""
        return max(self.ttl_minutes or 0, self.syndication_minutes or 0) * 60


@dataclass(frozen=True)
class Scan:
    """`kind` is rss, rdf or atom, or "" for something else.

    `broken` means not well-formed, `cut_off` that its end is missing: it was not delivered whole.
    `entities` are those that it declares.
    """

    kind: str
    hints: DocumentHints = DocumentHints()
    items: tuple[tuple[int, int], ...] = ()
    broken: bool = False
    cut_off: bool = False
    entities: Mapping[bytes, bytes] = field(default_factory=dict)


@dataclass
class _Collector:
    """Handlers for the parser. Keeps only short texts near the root, none inside items."""

    parser: Any
    document: bytes
    path: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    texts_by_path: dict[str, list[str]] = field(default_factory=dict)
    items: list[tuple[int, int]] = field(default_factory=list)
    entities: dict[bytes, bytes] = field(default_factory=dict)
    growth: int = 0
    start_byte: int = 0
    depth_in_item: int = 0

    def __post_init__(self) -> None:
        """Register the handlers."""
        self.parser.ordered_attributes = self.parser.buffer_text = True
        self.parser.EntityDeclHandler = self.declared
        self.parser.SkippedEntityHandler = self.undefined
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.data

    def start(self, tag: str, attributes: list[str]) -> None:
        if len(attributes) > 2 * MAX_ATTRIBUTES:  # names and values in turn
            raise UnsafeDocument(TOO_MANY_ATTRIBUTES)
        if self.depth_in_item:
            self.depth_in_item += 1
        else:
            space, _, local = usual_tag(tag).rpartition("}")
            self.path.append(f"sy:{local}" if space == SYNDICATION else local)
            self.text.clear()
            if self.path[-1] in ("item", "entry") and len(self.path) <= 3:
                self.start_byte = self.parser.CurrentByteIndex
                self.depth_in_item = 1
        if len(self.path) + self.depth_in_item > MAX_DEPTH:
            raise UnsafeDocument(TOO_DEEP)

    def declared(self, name: str, is_parameter: bool, value: str | None, *_: Any) -> None:
        """Take a plain entity (`<!ENTITY nbsp "&#160;">`), as old feeds have; refuse any other."""
        if is_parameter and value is None:
            return  # another file, which is not fetched: tables of the entities of HTML
        if is_parameter or value is None or set(value) & set("&%<"):
            raise UnsafeDocument(_ENTITIES)
        self.entities[name.encode()] = value.encode()
        self.growth += self.document.count(f"&{name};".encode()) * len(value)
        if len(self.entities) > _MOST_ENTITIES or self.growth > _MOST_GROWTH:
            raise UnsafeDocument(_ENTITIES)

    def undefined(self, name: str, is_parameter: bool) -> None:
        """An entity that only another file could declare, which is not fetched."""
        if not is_parameter:
            raise ExpatError(f"undefined entity {name}")

    def data(self, text: str) -> None:
        if not self.depth_in_item and len(self.path) <= 4 and len(text) < 100:
            self.text.append(text)

    def end(self, _tag: str) -> None:
        if self.depth_in_item:
            self.depth_in_item -= 1
            if self.depth_in_item:
                return
            self.items.append((self.start_byte, self.parser.CurrentByteIndex))
        elif self.text:
            key = "/".join(self.path[1:])
            self.texts_by_path.setdefault(key, []).append("".join(self.text).strip())
        self.text.clear()
        self.path.pop()


def first_tag(document: bytes) -> str:
    """The local name of the document's first element, "" when there is none in the first 64 kB.

    Each byte is looked at once, whatever comments, instructions and declarations come
    before: where one of them is not closed, there is no element.
    """
    match = _FIRST_TAG.match(document, 0, _FIRST_TAG_WITHIN)
    return match[1].decode("ascii").rpartition(":")[2] if match else ""


def scan(document: bytes) -> Scan:
    """Look through a UTF-8 document once.

    Raises `UnsafeDocument` for entity declarations, external references and
    depth beyond 200. A document that breaks off gives what was found until then.
    """
    kind = _ROOTS.get(first_tag(document).lower(), "")
    if not kind:
        return Scan("")
    collector = _Collector(ParserCreate(namespace_separator="}"), document)
    broken = False
    try:
        collector.parser.Parse(document, True)
    except ExpatError:
        broken = True
    spans = tuple(
        (start, tag.end() if (tag := _END_TAG.match(document, end)) else end)
        for start, end in collector.items
    )
    cut_off = broken and not _LAST_TAG.search(document[-_END_BYTES:])
    return Scan(kind, _hints(collector.texts_by_path), spans, broken, cut_off, collector.entities)


def expanded(document: bytes, entities: Mapping[bytes, bytes]) -> bytes:
    """The document with the plain entities that it declares expanded."""
    names = re.compile(rb"&(" + b"|".join(map(re.escape, entities)) + rb");")
    return names.sub(lambda match: entities[match[1]], document)


def _hints(texts: dict[str, list[str]]) -> DocumentHints:
    hours = (whole_number(text, 24) for text in texts.get("channel/skipHours/hour", []))
    days = (text.lower() for text in texts.get("channel/skipDays/day", []))
    return DocumentHints(
        ttl_minutes=_positive(texts, "channel/ttl"),
        syndication_minutes=_syndication(texts),
        # RSS 0.91 counted 1-24; 24 is midnight.
        skip_hours=frozenset(h % 24 for h in hours if h is not None),
        skip_days=frozenset(_DAYS.index(day) for day in days if day in _DAYS),
    )


def _positive(texts: dict[str, list[str]], key: str) -> int | None:
    minutes = whole_number(texts.get(key, [""])[0])
    return min(minutes, _MAX_MINUTES) if minutes else None


def _syndication(texts: dict[str, list[str]]) -> int | None:
    """Minutes between updates by mod_syndication (frequency by default 1); None without period."""
    under = "" if "sy:updatePeriod" in texts else "channel/"
    period = texts.get(f"{under}sy:updatePeriod", [""])[0].lower()
    often = whole_number(texts.get(f"{under}sy:updateFrequency", ["1"])[0]) or 1
    minutes = _PERIOD_MINUTES.get(period)
    return max(1, minutes // often) if minutes else None
