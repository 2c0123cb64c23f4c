"""Parsing of feed documents: bounded bytes become values, and what was guessed becomes remarks.

Only those items are read whose bytes are not known from the last poll. `feed_xml` has the rules of
what belongs to an item, `feed_html` makes it safe to show.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from xml.etree.ElementTree import XML  # nosec B405

from publisher.base.errors import InvalidData
from publisher.base.system.confined import Limits, Unreadable, read
from publisher.base.written_dates import Usage, usage_of
from publisher.feed_reading.character_sets import as_utf8, decoded, to_text
from publisher.feed_reading.feed_dates import FeedDates
from publisher.feed_reading.feed_document import (
    MAX_ITEMS,
    FeedDocument,
    NotAFeed,
    UnreadableFeed,
    assemble,
    digest,
    looks_like_json,
    newest_part,
    parse_json_feed,
    shared_ids,
)
from publisher.feed_reading.feed_html import alternates, sanitised
from publisher.feed_reading.feed_xml import (
    Head,
    Names,
    has_relative_link,
    read_head,
    read_item,
)
from publisher.feed_reading.mending import mended
from publisher.feed_reading.remarks import base_guessed, gathered, ids_shared
from publisher.feed_reading.scan import Scan, UnsafeDocument, expanded, first_tag, scan

FEED_LIMITS = Limits(seconds=5.0)
_DATE = re.compile(
    rb"<(?:[\w.-]+:)?(?:pubDate|lastBuildDate|date|published|updated|issued|modified|created)>"
    rb"\s*(?:<!\[CDATA\[)?([^<>\]]{6,80})",
    re.IGNORECASE,
)
_MOST_DATES = 2_000

_NOTHING: Mapping[bytes, bytes] = {}


def read_document(
    body: bytes, content_type: str, url: str, last_window: Mapping[bytes, bytes] = _NOTHING
) -> FeedDocument:
    """As `parse_sanitised`, in a confined process.

    UnreadableFeed also for what takes too much time or memory.
    """
    try:
        return read(parse_sanitised, FEED_LIMITS, body, content_type, url, last_window)
    except Unreadable as problem:
        raise UnreadableFeed(f"the document {problem}") from problem


def parse_sanitised(
    body: bytes, content_type: str, url: str, last_window: Mapping[bytes, bytes] = _NOTHING
) -> FeedDocument:
    """As `parse_document`, with items made safe to store and show."""
    document = parse_document(body, content_type, url, last_window)
    return replace(document, items=tuple(sanitised(item, url) for item in document.items))


def parse_document(
    body: bytes, content_type: str, url: str, last_window: Mapping[bytes, bytes] = _NOTHING
) -> FeedDocument:
    """Read RSS 0.9x-2.0, RDF, Atom or JSON Feed.

    `last_window` is the `window` of the last document: its items are not parsed again. Raises only
    NotAFeed (for a web page with the feeds it announces), UnsafeDocument and UnreadableFeed.
    """
    try:
        return _parse(body, content_type, url, last_window)
    except InvalidData:
        raise
    except Exception as problem:  # one feed that nobody foresaw must not stop all the others
        from publisher.base.system.logs import get_logger  # late, so that `stamp` starts without it

        get_logger("feed reading").info(
            "could not read a document", url=url, error=repr(problem)[:300]
        )
        raise UnreadableFeed("the document is damaged beyond reading") from problem


def _parse(
    body: bytes, content_type: str, url: str, last_window: Mapping[bytes, bytes]
) -> FeedDocument:
    if looks_like_json(body):
        text = decoded(body, content_type)
        document = parse_json_feed(text.text, url, last_window)
        return replace(document, remarks=gathered((*text.remarks, *document.remarks)))
    xml, remarks = as_utf8(body, content_type)
    scanned = scan(xml)
    if not scanned.kind:
        raise _refusal(xml, body, content_type, url)
    if scanned.entities:
        xml = expanded(xml, scanned.entities)
        scanned = scan(xml)
    if scanned.broken:
        sound_text, mending = mended(xml.decode("utf-8"))
        xml = sound_text.encode("utf-8")
        sound = scan(xml)
        if sound.broken:
            raise UnreadableFeed("the document is damaged beyond reading")
        scanned = replace(sound, broken=True, cut_off=scanned.cut_off)
        remarks = (*remarks, *mending)
    spans = newest_part(scanned.items, lambda span: _date_of(xml, scanned, span))
    marks = {span: digest(xml[slice(*span)]) for span in spans}
    # Of a damaged document nothing is known: its last item may be half of one.
    last_window = {} if scanned.broken else last_window
    new = {span for span, mark in marks.items() if mark not in last_window}
    head, names = _tree(_with_items(xml, scanned, new), url)
    dates = FeedDates(lambda: _usage(xml, head.language))
    parsed = [read_item(place, names, dates.read) for place in head.items]
    items, window = assemble(list(marks.values()), last_window, parsed)
    guessed = sum(head.base_unknown and has_relative_link(place, names) for place in head.items)
    return FeedDocument(
        kind=scanned.kind,
        title=head.title,
        site_url=head.site_url,
        self_url=head.self_url,
        hub_url=head.hub_url,
        items=items,
        window=() if scanned.broken else window,
        hints=scanned.hints,
        broken=scanned.broken,
        cut_off=scanned.cut_off,
        left_out=max(len(scanned.items) - MAX_ITEMS, 0),
        remarks=gathered(
            (*remarks, *dates.remarks, *base_guessed(guessed), *ids_shared(shared_ids(window)))
        ),
    )


def _refusal(document: bytes, body: bytes, content_type: str, url: str) -> NotAFeed:
    if not body.strip():
        return NotAFeed("the answer is empty")
    if first_tag(document).lower() == "html" or "html" in content_type:
        announced = tuple(alternates(to_text(body, content_type), url))
        return NotAFeed("the answer is a web page, not a feed", announced)
    return NotAFeed("the answer is not a feed")


def _with_items(document: bytes, scanned: Scan, wanted: Collection[tuple[int, int]]) -> bytes:
    """The document without the items that are not wanted."""
    pieces: list[bytes] = []
    position = 0
    for start, end in scanned.items:
        if (start, end) not in wanted:
            pieces.append(document[position:start])
            position = end
    pieces.append(document[position:])
    return b"".join(pieces)


def _date_of(document: bytes, scanned: Scan, span: tuple[int, int]) -> datetime | None:
    """When one item was published."""
    head, names = _tree(_with_items(document, scanned, {span}), "")
    dates = FeedDates(lambda: _usage(document, head.language))
    return read_item(head.items[0], names, dates.read).published_at if head.items else None


def _tree(document: bytes, url: str) -> tuple[Head, Names]:
    """What a well-formed document, whose hints were scanned, says of itself; and its names."""
    root = XML(document)  # nosec B314 - `scan` has refused what is unsafe
    names = Names(root)
    head = read_head(root, url, names)
    if head is None:
        raise NotAFeed("the answer is not a feed")
    return head, names


def _usage(document: bytes, language: str) -> Usage:
    """How a document writes its dates, with those of items that are known already."""
    texts = _DATE.findall(document)[:_MOST_DATES]
    return usage_of((text.decode("utf-8", "replace").strip() for text in texts), language)


__all__ = ["NotAFeed", "UnreadableFeed", "UnsafeDocument", "parse_document"]
