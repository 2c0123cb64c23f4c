"""Parsing of feed documents. The only module that uses feedparser.

feedparser is thorough but slow. It gets bounded UTF-8 bytes with only those items whose bytes
are not known from the last poll, and does not sanitise: `feed_html` does.
"""

import calendar
import html
import io
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urljoin
from xml.sax import SAXException
from xml.sax.expatreader import ExpatParser
from xml.sax.handler import feature_external_ges, feature_namespaces
from xml.sax.xmlreader import InputSource

import feedparser

from publisher.base.errors import InvalidData
from publisher.base.system.confined import Limits, Unreadable, read
from publisher.base.text import clean, number_in, plain_text
from publisher.feed_reading.feed_document import (
    MAX_ITEMS,
    FeedDocument,
    FeedFile,
    FeedItem,
    ItemDetails,
    NotAFeed,
    UnreadableFeed,
    assemble,
    categories,
    digest,
    looks_like_json,
    newest_part,
    parse_json_feed,
    web_address,
)
from publisher.feed_reading.feed_html import alternates, sanitised
from publisher.feed_reading.scan import (
    Scan,
    UnsafeDocument,
    expanded,
    first_tag,
    scan,
    to_text,
    to_utf8,
)

FEED_LIMITS = Limits(seconds=5.0)
_LONGEST_SECONDS = 10_000_000
_WARNINGS_BYTES = 16_384

_NOTHING: Mapping[bytes, bytes] = {}


class Expat(ExpatParser):
    """The standard library's SAX parser, with each text in one piece: feedparser is slow for each
    piece, and a feed of escaped HTML has hundreds in each item."""

    def reset(self) -> None:
        """Begin a document."""
        super().reset()
        self._parser.buffer_text = True  # type: ignore[attr-defined]


class _Parameters(feedparser.FeedParserDict):  # type: ignore[misc]
    """What feedparser notes about a content, asked for and copied at every element."""

    get = dict.get

    def __deepcopy__(self, memo: object) -> "_Parameters":
        return _Parameters(self)  # its values are texts


class _Feed(feedparser.api.StrictFeedParser):  # type: ignore[misc]
    """feedparser's reader of well-formed feeds. It does not sanitise: `feed_html` does."""

    def __init__(self) -> None:
        super().__init__("", None, "utf-8")
        self.sanitize_html = self.resolve_relative_uris = False
        self.contentparams = _Parameters()

    def push_content(self, *about: Any) -> None:
        super().push_content(*about)
        self.contentparams = _Parameters(self.contentparams)


def read_document(
    body: bytes, content_type: str, url: str, known: Mapping[bytes, bytes] = _NOTHING
) -> FeedDocument:
    """As `parse_sanitised`, in a confined process.

    UnreadableFeed also for what takes too much time or memory.
    """
    try:
        return read(parse_sanitised, FEED_LIMITS, body, content_type, url, known)
    except Unreadable as problem:
        raise UnreadableFeed(f"the document {problem}") from problem


def parse_sanitised(
    body: bytes, content_type: str, url: str, known: Mapping[bytes, bytes] = _NOTHING
) -> FeedDocument:
    """As `parse_document`, with items made safe to store and show."""
    document = parse_document(body, content_type, url, known)
    return replace(document, items=tuple(sanitised(item, url) for item in document.items))


def parse_document(
    body: bytes, content_type: str, url: str, known: Mapping[bytes, bytes] = _NOTHING
) -> FeedDocument:
    """Read RSS 0.9x-2.0, RDF, Atom or JSON Feed.

    `known` is the `window` of the last document: its items are not parsed again. Raises only
    NotAFeed (for a web page with the feeds it announces), UnsafeDocument and UnreadableFeed.
    """
    try:
        return _parse(body, content_type, url, known)
    except InvalidData:
        raise
    except Exception as problem:  # feedparser raises nearly anything over a damaged document
        from publisher.base.system.logs import get_logger  # late, so that `stamp` starts without it

        get_logger("river").info("feedparser gave up", url=url, error=repr(problem)[:300])
        raise UnreadableFeed("the document is damaged beyond reading") from problem


def _parse(body: bytes, content_type: str, url: str, known: Mapping[bytes, bytes]) -> FeedDocument:
    if looks_like_json(body):
        return parse_json_feed(to_text(body, content_type), url, known)
    document = to_utf8(body, content_type)
    found = scan(document)
    if not found.kind:  # warnings of the program that generated it may precede it
        less = document[max(document.find(b"<?xml ", 1, _WARNINGS_BYTES), 0) :]
        found = scan(less)
        if not found.kind:
            raise _refusal(document, body, content_type, url)
        document = less
    if found.entities:
        document = expanded(document, found.entities)
        found = scan(document)
    if found.broken:
        return _document(document, url, found, [], {})
    spans = newest_part(found.items, lambda span: _date_of(document, found, span))
    marks = {span: digest(document[slice(*span)]) for span in spans}
    new = {span for span, mark in marks.items() if mark not in known}
    return _document(_with_items(document, found, new), url, found, list(marks.values()), known)


def _refusal(document: bytes, body: bytes, content_type: str, url: str) -> NotAFeed:
    if not body.strip():
        return NotAFeed("the answer is empty")
    if first_tag(document).lower() == "html" or "html" in content_type:
        announced = tuple(alternates(to_text(body, content_type), url))
        return NotAFeed("the answer is a web page, not a feed", announced)
    return NotAFeed("the answer is not a feed")


def _with_items(document: bytes, found: Scan, wanted: Collection[tuple[int, int]]) -> bytes:
    """The document without the items that are not wanted."""
    kept: list[bytes] = []
    position = 0
    for start, end in found.items:
        if (start, end) not in wanted:
            kept.append(document[position:start])
            position = end
    kept.append(document[position:])
    return b"".join(kept)


def _date_of(document: bytes, found: Scan, span: tuple[int, int]) -> datetime | None:
    """When one item was published."""
    _, _, entries = _tree(_with_items(document, found, {span}))
    return _moment(entries[0]) if entries else None


def _tree(document: bytes) -> tuple[str, Any, list[Any]]:
    """The version of a document, "" for none, what it says of itself, and its entries."""
    feed, reader, source = _Feed(), Expat(), InputSource()
    reader.setFeature(feature_namespaces, True)
    reader.setFeature(feature_external_ges, False)
    reader.setContentHandler(feed)
    reader.setErrorHandler(feed)
    source.setByteStream(io.BytesIO(document))
    try:
        reader.parse(source)
        return feed.version, feed.feeddata, feed.entries
    except SAXException:  # not well-formed: feedparser's other reader makes the best of it
        found = feedparser.parse(
            io.BytesIO(document),
            # Without a Content-Location, so that ids do not change when a feed moves.
            response_headers={"content-type": "application/xml; charset=utf-8"},
            sanitize_html=False,
            resolve_relative_uris=False,
        )
        return found.version, found.feed, found.entries


def _document(
    document: bytes, url: str, found: Scan, marks: list[bytes], known: Mapping[bytes, bytes]
) -> FeedDocument:
    version, head, every = _tree(document)
    if not version and not every:
        raise NotAFeed("the answer is not a feed")
    entries = newest_part(every, _moment)
    items, window = assemble(marks, known, [_item(entry, url) for entry in entries])
    left_out = max(len(every), 0 if found.broken else len(found.items)) - MAX_ITEMS
    return FeedDocument(
        kind=found.kind,
        title=_plain(head, "title"),
        site_url=web_address(url, _raw(head, "link")),
        self_url=next((web_address(url, link.get("href")) for link in _links(head, "self")), ""),
        items=items,
        window=window,
        hints=found.hints,
        broken=found.broken,
        cut_off=found.cut_off,
        left_out=max(left_out, 0),
    )


def _raw(values: Any, key: str) -> Any:
    """A value by its own key, without feedparser's fallbacks between keys."""
    return dict.get(values, key)


def _links(values: Any, relation: str) -> list[Any]:
    return [link for link in _raw(values, "links") or [] if link.get("rel") == relation]


def _item(entry: Any, url: str) -> FeedItem:
    markup, base = _content(entry, url)
    return FeedItem(
        guid=str(_raw(entry, "id") or "").strip(),
        url=web_address(base, _content_elsewhere(entry) or _raw(entry, "link")),
        title=_plain(entry, "title"),
        markup=markup,
        author=clean(str(_raw(entry, "author") or "")).strip(),
        published_at=_moment(entry),
        enclosures=tuple(
            FeedFile(address, _file_type(link), number_in(link.get("length")))
            for link in _links(entry, "enclosure")
            if (address := web_address(base, str(link.get("href") or "").strip()))
        ),
        details=ItemDetails(
            categories=categories(str(tag.get("term") or "") for tag in _raw(entry, "tags") or []),
            image=_image(entry, base),
            duration_seconds=_seconds(str(_raw(entry, "itunes_duration") or "")),
            season=number_in(_raw(entry, "itunes_season"), 999_999),
            episode=number_in(_raw(entry, "itunes_episode"), 999_999),
        ),
        base=base if base != url else "",
    )


def _image(entry: Any, base: str) -> str:
    """A picture of the entry: from Media RSS a thumbnail or an image, else a podcast's image."""
    thumbnails = (image.get("url") for image in _raw(entry, "media_thumbnail") or [])
    contents = (
        file.get("url")
        for file in _raw(entry, "media_content") or []
        if "image" in (file.get("medium") or file.get("type") or "")
    )
    podcast = ((_raw(entry, "image") or {}).get("href"),)
    found = (web_address(base, url) for url in (*thumbnails, *contents, *podcast))
    return next((url for url in found if url), "")


def _seconds(duration: str) -> int:
    """An itunes:duration, in seconds or as [hours:]minutes:seconds; 0 for anything else."""
    parts = duration.strip().split(":")
    if len(parts) > 3 or not all(part.isascii() and part.isdigit() for part in parts):
        return 0
    seconds: int = sum(int(part[:9]) * 60**place for place, part in enumerate(parts[::-1]))
    return min(seconds, _LONGEST_SECONDS)


def _content(entry: Any, url: str) -> tuple[str, str]:
    """The fullest HTML of an entry and the address that its relative links start from."""
    details = [*(_raw(entry, "content") or []), _raw(entry, "summary_detail")]
    detail = next((d for d in details if d and d.get("value")), None)
    if detail is None:
        return "", url
    value = clean(str(detail["value"]))
    if detail.get("type") == "text/plain":
        value = html.escape(value).replace("\n", "<br>\n")
    return value, urljoin(url, str(detail.get("base") or ""))


def _content_elsewhere(entry: Any) -> str:
    """The address of the content of an Atom entry without a link (`<content src=...>`), or "".

    feedparser would use the entry's id as its link.
    """
    if _links(entry, "alternate"):
        return ""
    found = (detail.get("src") for detail in _raw(entry, "content") or [])
    return next((str(source) for source in found if source), "")


def _plain(values: Any, key: str) -> str:
    """A title as plain text, whether it was sent as text or as HTML."""
    text = str(_raw(values, key) or "")
    kind = (_raw(values, f"{key}_detail") or {}).get("type", "")
    # Split before cleaning: a control character that is removed may have separated two words.
    return clean(" ".join(text.split()) if kind == "text/plain" else plain_text(text))


def _file_type(link: Any) -> str:
    """The type of a file; feedparser says text/html where the feed says nothing."""
    kind = str(link.get("type") or "")
    return "" if kind == "text/html" else kind


def _moment(entry: Any) -> datetime | None:
    """When it was published, else when it changed; None when the feed does not say."""
    for key in ("published_parsed", "updated_parsed", "created_parsed"):
        parts = _raw(entry, key)
        try:
            if parts:
                return datetime.fromtimestamp(calendar.timegm(parts), UTC)
        except (ValueError, OverflowError, OSError):
            continue
    return None


__all__ = ["NotAFeed", "UnreadableFeed", "UnsafeDocument", "parse_document"]
