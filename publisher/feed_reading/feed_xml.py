"""RSS 0.9x to 2.0, RDF and Atom: each value of an item from the element that is meant for it.

What counts for an item is its own elements: a caption in `media:content` or the name of a site in
`source` is none of its text. docs/river.md, "What is read of an item", is these rules in words.
"""

import html
import re
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from html.entities import html5
from itertools import islice
from xml.etree.ElementTree import Element

from publisher.base.safe_xml import usual_tag
from publisher.base.text import clean, joined, number_in, plain_text, split_address
from publisher.feed_reading.feed_document import (
    FeedFile,
    FeedItem,
    ItemDetails,
    categories,
    web_address,
)
from publisher.feed_reading.mending import NAMESPACES

_ATOM = {"http://www.w3.org/2005/atom", "http://purl.org/atom/ns#", "http://purl.org/atom/ns"}
_PREFIXES = {
    **{address.lower().rstrip("/#"): prefix for prefix, address in NAMESPACES.items()},
    **{address.rstrip("#"): "atom" for address in _ATOM},
    "http://example.com/dtds/podcast-1.0.dtd": "itunes",
}
_RSS = re.compile(
    r"$|http://purl\.org/rss/1\.0/?$|http://(my|channel)\.netscape\.com/rdf/simple/|"
    r"http://backend\.userland\.com/rss|http://blogs\.law\.harvard\.edu/tech/rss|"
    r"http://purl\.org/net/rss1\.1#|http://cyber\.law\.harvard\.edu/rss|urn:undeclared:rss",
    re.IGNORECASE,
)
_XML = "{http://www.w3.org/XML/1998/namespace}"
_ABOUT = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}about"
_LONGEST_SECONDS = 10_000_000
_MOST_FILES = 20

# In this order the first that says something counts.
_BODIES = (
    "content:encoded", "xhtml:body", "xhtml:div", "atom:content", "content", "body",
    "description", "atom:summary", "summary", "itunes:summary", "dc:description",
)  # fmt: skip
_DATES = (
    "pubdate", "atom:published", "published", "issued", "atom:issued", "dcterms:issued", "dc:date",
    "date", "atom:updated", "updated", "atom:modified", "modified", "dcterms:modified", "created",
    "atom:created", "dcterms:created",
)  # fmt: skip
_VOID = frozenset(
    ["br", "hr", "img", "input", "meta", "wbr", "area", "col", "embed", "param", "link", "source"]
)
_CLOSING = re.compile(r"</(\w+)>|&#?\w+;")
_OPENED = re.compile(r"</?(\w+)")
_ENTITY = re.compile(r"&(\w+);")
_NAMES_OF_HTML = (
    "a abbr acronym address article aside audio b big blockquote br button caption center cite "
    "code col colgroup dd del details dfn dir div dl dt em embed fieldset figcaption figure font "
    "footer form h1 h2 h3 h4 h5 h6 header hr i iframe img input ins kbd label legend li main map "
    "mark menu nav nobr ol optgroup option p picture pre q s samp section select small source "
    "span strike strong sub summary sup table tbody td textarea tfoot th thead time tr tt u ul "
    "var video"
)
_HTML = frozenset(_NAMES_OF_HTML.split())
# Windows-1252 characters that were written as numbers.
_C1 = {code: bytes([code]).decode("cp1252", "ignore") or None for code in range(0x80, 0xA0)}
_Named = dict[str, list[Element]]
_HAS_TAG = re.compile(r"</?[A-Za-z][^<>]*>")


@dataclass
class Head:
    """What a document says of itself, and the elements of its items."""

    title: str = ""
    site_url: str = ""
    self_url: str = ""
    hub_url: str = ""
    language: str = ""
    base_unknown: bool = False
    items: list["Place"] = field(default_factory=list)


@dataclass(frozen=True)
class Place:
    """An element, with the address that its relative links start from; `stated` by `xml:base`."""

    element: Element
    base: str
    stated: bool

    def inside(self, element: Element) -> "Place":
        """The place of an element in this one."""
        own = element.get(f"{_XML}base")
        if own is None:
            return Place(element, self.base, self.stated)
        return Place(element, joined(self.base, own.strip()) or self.base, True)

    def address(self, link: str | None) -> str:
        """The absolute address of the web that a link leads to, else ""."""
        return web_address(self.base, (link or "").strip())


def _space(element: Element) -> str:
    """The address of an element's namespace, "" for none."""
    return usual_tag(element.tag).rpartition("}")[0].removeprefix("{")


def _prefix(space: str) -> str:
    """The usual prefix of a namespace, "" for others."""
    return _PREFIXES.get(space.lower().rstrip("/#"), "")


class Names:
    """The names of a document's elements: `title` for its own, `dc:date` for those of a usual
    vocabulary, `` for all others."""

    def __init__(self, root: Element) -> None:
        self._own = _space(root)
        self._known: dict[str, str] = {}

    def of(self, element: Element) -> str:
        """The name of an element in small letters."""
        tag = element.tag
        if tag not in self._known:
            space, local = _space(element), tag.rpartition("}")[2].lower()
            prefix = _prefix(space)
            if space == self._own or _RSS.match(space):
                self._known[tag] = local
            else:
                self._known[tag] = f"{prefix}:{local}" if prefix else ""
        return self._known[tag]

    def by_name(self, elements: Iterable[Element]) -> _Named:
        """Some elements, such as those in another one, in order, by name."""
        named: _Named = {}
        for element in elements:
            named.setdefault(self.of(element), []).append(element)
        return named


def read_head(root: Element, url: str, names: Names) -> Head | None:
    """What the document at `url` says of itself; None when it is no feed."""
    if _prefix(_space(root)) not in ("", "atom", "rdf"):
        return None  # the root of a feed by name, but of another vocabulary
    atom = names.of(root).rpartition(":")[2] == "feed"
    parent = place = Place(root, url, False).inside(root)
    has = names.by_name(root)
    if not atom:
        if not has.keys() & {"channel", "item"}:
            return None
        if "channel" in has:
            parent = place.inside(has["channel"][0])
            has = names.by_name(parent.element)
    links = [*has.get("atom:link", []), *has.get("link", [])]
    own_link = next((text for link in has.get("link", []) if (text := _text(link))), "")
    alternate = _alternate(links) if atom or not own_link else None
    head = Head(
        title=_title(has.get("title", []), atom=atom),
        site_url=parent.address(own_link if alternate is None else alternate.get("href")),
        self_url=_related(links, "self", parent.base),
        hub_url=_related(links, "hub", parent.base),
        language=_first_text([*has.get("language", []), *has.get("dc:language", [])])
        or root.get(f"{_XML}lang", ""),
    )
    if not atom and head.site_url:  # what a link of RSS that begins with a slash means
        place = place if place.stated else Place(root, head.site_url, False)
        parent = parent if parent.stated else Place(parent.element, head.site_url, False)
    head.items = list(_entries(place, parent))
    head.base_unknown = not atom and not head.site_url
    return head


def _related(links: Iterable[Element], relation: str, base: str) -> str:
    """The address of the first link with this relation; "" for none."""
    named = (href for link in links if link.get("rel") == relation and (href := link.get("href")))
    return web_address(base, next(named, ""))


def _entries(root: Place, parent: Place) -> Iterator[Place]:
    """The items of a document, where `scan` finds them: in its first element, or one below."""
    for element in root.element:
        if _is_entry(element):
            yield root.inside(element)
        else:
            place = parent if element is parent.element else root.inside(element)
            yield from (place.inside(inner) for inner in element if _is_entry(inner))


def _is_entry(element: Element) -> bool:
    return str(element.tag).rpartition("}")[2] in ("item", "entry")


def has_relative_link(place: Place, names: Names) -> bool:
    """Whether an item has a link that only a base makes an address of."""
    link = _first_text(names.by_name(place.element).get("link", []))
    return bool(link) and not place.stated and not split_address(link).scheme


def read_item(
    place: Place, names: Names, read_date: Callable[[list[str]], datetime | None]
) -> FeedItem:
    """The item at a place; `read_date` takes its dates, the best first."""
    item = place.element
    has = names.by_name(item)
    atom = names.of(item) != "item"
    markup, content = _body(has, place, atom)
    media = names.by_name(_media(item, names))
    ids = [*has.get("guid", []), *has.get("id", []), *has.get("atom:id", [])]
    guid = next((_id(place.inside(e)) for e in ids if _text(e)), "")
    return FeedItem(
        guid=guid or (item.get(_ABOUT) or "").strip(),
        url=_link(has, place, atom),
        title=_title(has.get("title") or has.get("atom:title") or has.get("dc:title") or [],
                     atom=atom)
        or _title(media.get("media:title", []), atom=False),
        markup=markup or _media_text(media.get("media:description", [])),
        author=_author(has, names),
        published_at=read_date(
            [text for name in _DATES for e in has.get(name, []) if (text := _text(e))]
        ),
        enclosures=tuple(_files(has, media, place)),
        details=ItemDetails(
            categories=categories(_categories(has)),
            image=_image(has, media, place),
            duration_seconds=_seconds(_first_text(has.get("itunes:duration", []))),
            season=number_in(_first_text(has.get("itunes:season", [])), 999_999),
            episode=number_in(_first_text(has.get("itunes:episode", [])), 999_999),
        ),
        base=content.base if content.stated else "",
    )  # fmt: skip


# Texts.


def _text(element: Element) -> str:
    """The text of an element with that in its elements, without blanks around it."""
    text = "".join(element.itertext()) if len(element) else element.text or ""
    return clean(text.translate(_C1)).strip()


def _first_text(elements: Iterable[Element]) -> str:
    return next((text for element in elements if (text := _text(element))), "")


def _markup(element: Element, *, is_xhtml: bool = False) -> str:
    """The HTML in an element: escaped, or as elements of its own."""
    if not len(element) and not is_xhtml:
        return clean((element.text or "").translate(_C1)).strip()
    inner = _only(element)
    if is_xhtml and inner is not None and inner.tag.endswith("}div") and not inner.attrib:
        element = inner  # RFC 4287: the div is no content
    # Beside elements text is text; but in RSS only some of the tags may have been escaped.
    escaped = is_xhtml or _HAS_TAG.search("".join(element.itertext())) is None
    return clean(_inner(element, escaped).translate(_C1)).strip()


def _only(element: Element) -> Element | None:
    """The element in another one, if it is the only one."""
    return element[0] if len(element) == 1 else None


def _inner(element: Element, escaped: bool) -> str:
    write = html.escape if escaped else str
    pieces = [write(element.text or "", *([False] if escaped else []))]
    for child in element:
        name = str(child.tag).rpartition("}")[2]
        values = "".join(
            f' {key.rpartition("}")[2]}="{html.escape(value)}"' for key, value in child.items()
        )
        pieces.append(f"<{name}{values}>{_inner(child, escaped)}")
        if name.lower() not in _VOID:
            pieces.append(f"</{name}>")
        pieces.append(write(child.tail or "", *([False] if escaped else [])))
    return "".join(pieces)


def _looks_like_html(text: str) -> bool:
    """Whether a text without a type is HTML: it closes an element or has an entity, and has no
    elements and entities that HTML lacks."""
    if "<" not in text and "&" not in text:
        return False
    return (
        _CLOSING.search(text) is not None
        and all(tag.lower() in _HTML for tag in _OPENED.findall(text))
        and all(f"{name};" in html5 for name in _ENTITY.findall(text))
    )


def _plain_as_html(text: str) -> str:
    return html.escape(clean(text.translate(_C1)).strip()).replace("\n", "<br>\n")


def _typed(element: Element) -> str:
    """The HTML of a text construct of Atom (RFC 4287 section 3.1; 0.3 has `mode`)."""
    kind = element.get("type", "text").strip().lower()
    if element.get("mode") == "base64" or (
        not len(element) and not kind.startswith("text") and kind not in ("html", "xhtml")
        and not kind.endswith(("xml", "html"))
    ):  # fmt: skip
        try:
            return clean(b64decode(element.text or "", validate=True).decode("utf-8"))
        except ValueError:
            return ""
    if len(element) or kind.endswith("html") or element.get("mode") == "escaped":
        return _markup(element, is_xhtml="xhtml" in kind and element.get("mode") != "escaped")
    return _plain_as_html(element.text or "")


def _title(elements: Iterable[Element], *, atom: bool) -> str:
    """A title as plain text on one line, whether it was sent as text or as HTML."""
    for element in elements:
        if atom:
            html_sent = len(element) or element.get("type", "text").lower().endswith("html")
            html_sent = html_sent or element.get("mode") == "escaped"
            text = _markup(element) if html_sent else (element.text or "").translate(_C1)
        else:
            text = _markup(element)
            html_sent = len(element) or _looks_like_html(text)
        line = clean(plain_text(text) if html_sent else " ".join(text.split()))
        if line:
            return line
    return ""


def _body(has: _Named, place: Place, atom: bool) -> tuple[str, Place]:
    """The HTML of an item's text, and the place where it stands."""
    for name in ("content", "summary", *_BODIES) if atom else _BODIES:
        for element in has.get(name, []):
            if element.get("src"):
                continue
            if name in ("content", "summary", "atom:content", "atom:summary") and (
                atom or element.get("type")
            ):
                markup = _typed(element)
            elif name in ("itunes:summary", "dc:description"):
                markup = _text_or_html(element)
            else:
                markup = _markup(element)
            if markup.strip():
                at = place.inside(element)
                inner = _only(element)
                return markup, at if inner is None else at.inside(inner)
    return "", place


def _text_or_html(element: Element) -> str:
    markup = _markup(element)
    return markup if len(element) or _looks_like_html(markup) else _plain_as_html(markup)


# Media RSS: its elements stand in the item, or in a group, or in a content.


def _media(item: Element, names: Names) -> Iterator[Element]:
    """The elements of Media RSS of an item, those inside others of them too."""
    for element in item:
        if names.of(element).startswith("media:"):
            yield element
            yield from _media(element, names)


def _media_text(descriptions: list[Element]) -> str:
    for element in descriptions:
        if _text(element):
            return _markup(element) if element.get("type") == "html" else _text_or_html(element)
    return ""


def _files(has: _Named, media: _Named, place: Place) -> Iterator[FeedFile]:
    """The item's enclosures, and the audio and video of Media RSS, each address once."""
    files: dict[str, FeedFile] = {}

    def add(address: str, kind: str, length: str | None) -> None:
        if address:
            files.setdefault(address, FeedFile(address, kind.strip(), number_in(length)))

    for element in has.get("enclosure", []):
        add(place.address(element.get("url") or element.get("href")), element.get("type", ""),
            element.get("length"))  # fmt: skip
    for element in [*has.get("link", []), *has.get("atom:link", [])]:
        if element.get("rel") == "enclosure":
            add(place.inside(element).address(element.get("href")), element.get("type", ""),
                element.get("length"))  # fmt: skip
    for element in media.get("media:content", []):
        about = f"{element.get('medium', '')} {element.get('type', '')}".lower()
        if "audio" in about or "video" in about:
            add(place.address(element.get("url")), element.get("type", ""),
                element.get("fileSize") or element.get("filesize"))  # fmt: skip
    return islice(files.values(), _MOST_FILES)


def _image(has: _Named, media: _Named, place: Place) -> str:
    """A picture of the item: from Media RSS a thumbnail or an image, else a podcast's image."""
    thumbnails = (e.get("url") or _text(e) for e in media.get("media:thumbnail", []))
    contents = (
        e.get("url")
        for e in media.get("media:content", [])
        if "image" in (e.get("medium") or e.get("type") or "")
    )
    podcast = (e.get("href") for e in has.get("itunes:image", []))
    return next((a for url in (*thumbnails, *contents, *podcast) if (a := place.address(url))), "")


# Addresses, people, subjects.


def _id(place: Place) -> str:
    """An id; where the document states a base, a relative one that is an address is absolute."""
    text = _text(place.element)
    return (place.stated and _may_be_address(place.element) and joined(place.base, text)) or text


def _may_be_address(guid: Element) -> bool:
    return guid.get("isPermaLink", "true").strip().lower() != "false"


def _link(has: _Named, place: Place, atom: bool) -> str:
    """The address of an item: its own link before one of Atom, before an id that is an address."""
    texts = [] if atom else [(e, _text(e)) for e in has.get("link", [])]
    links = [*has.get("link", []), *has.get("atom:link", [])]
    for element, text in texts:
        if address := place.inside(element).address(text):
            return address
    alternate = _alternate(links)
    if alternate is not None and (
        address := place.inside(alternate).address(alternate.get("href"))
    ):
        return address
    for element in [*has.get("content", []), *has.get("atom:content", [])]:
        if address := place.inside(element).address(element.get("src")):
            return address
    ids = [*has.get("guid", []), *has.get("id", []), *has.get("atom:id", [])]
    permalinks = [_text(e) for e in ids if _may_be_address(e)]
    about = (place.element.get(_ABOUT) or "").strip()
    for text in (*permalinks, about):
        if text.lower().startswith(("http://", "https://")):
            return web_address("", text)
    return ""


def _alternate(links: Iterable[Element]) -> Element | None:
    """The link of Atom to the page: the first alternate that is HTML or of no type, else the
    first."""
    alternates = [
        link
        for link in links
        if link.get("href") and link.get("rel", "alternate").strip().lower() in ("alternate", "")
    ]
    pages = [link for link in alternates if "html" in link.get("type", "html").lower()]
    return next(iter(pages or alternates), None)


def _author(has: _Named, names: Names) -> str:
    """Who wrote an item: of Atom the names, of RSS what stands there."""
    people = [*has.get("author", []), *has.get("atom:author", [])]
    written = []
    for person in people:
        parts = names.by_name(person)
        named = [*parts.get("name", []), *parts.get("atom:name", [])]
        email = [*parts.get("email", []), *parts.get("atom:email", [])]
        own = "" if len(person) else " ".join(_text(person).split())
        written.append(own or _first_text([*named, *email]))
    written = [name for name in written if name]
    return ", ".join(dict.fromkeys(written)) or _first_text(
        [*has.get("dc:creator", []), *has.get("itunes:author", [])]
    )


def _categories(has: _Named) -> Iterator[str]:
    for name in ("category", "atom:category", "dc:subject", "media:category"):
        for element in has.get(name, []):
            yield element.get("label") or element.get("term") or _text(element)
    for element in has.get("itunes:category", []):
        yield element.get("text", "")
    for element in has.get("itunes:keywords", []):
        yield from _text(element).split(",")


def _seconds(duration: str) -> int:
    """An itunes:duration, in seconds or as [hours:]minutes:seconds; 0 for anything else."""
    parts = duration.split(":")
    if len(parts) > 3 or not all(part.isascii() and part.isdigit() for part in parts):
        return 0
    seconds: int = sum(int(part[:9]) * 60**place for place, part in enumerate(parts[::-1]))
    return min(seconds, _LONGEST_SECONDS)
