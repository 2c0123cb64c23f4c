"""JSON Feed 1.0 and 1.1 (jsonfeed.org) as a `FeedDocument`."""

import html
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from publisher.base.dates import parse_instant
from publisher.base.errors import InvalidInput
from publisher.base.text import as_list, as_text
from publisher.river.reading.feed_document import (
    FeedDocument,
    FeedFile,
    FeedItem,
    ItemDetails,
    NotAFeed,
    assemble,
    categories,
    digest,
    newest_part,
    web_address,
)


def looks_like_json(body: bytes) -> bool:
    """Whether the first character that is not space opens a JSON object."""
    return body[:64].removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{"


def parse_json_feed(text: str, url: str, known: Mapping[bytes, bytes]) -> FeedDocument:
    """Parse a JSON Feed from the address `url`; NotAFeed for other or invalid JSON."""
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise NotAFeed("the answer is JSON that cannot be read") from problem
    if not isinstance(tree, dict) or "jsonfeed.org" not in as_text(tree.get("version")):
        raise NotAFeed("the answer is JSON, but not a JSON Feed")
    every = [entry for entry in as_list(tree.get("items")) if isinstance(entry, dict)]
    entries = newest_part(every, _moment)
    marks = [digest(json.dumps(entry, sort_keys=True)) for entry in entries]
    parsed = [_item(e, url) for e, mark in zip(entries, marks, strict=True) if mark not in known]
    items, window = assemble(marks, known, parsed)
    return FeedDocument(
        kind="json",
        title=as_text(tree.get("title")),
        site_url=web_address(url, as_text(tree.get("home_page_url"))),
        self_url=web_address(url, as_text(tree.get("feed_url"))),
        items=items,
        window=window,
        left_out=len(every) - len(entries),
    )


def _item(entry: dict[str, Any], base: str) -> FeedItem:
    plain = html.escape(as_text(entry.get("content_text")) or as_text(entry.get("summary")))
    authors = as_list(entry.get("authors")) or [entry.get("author")]
    return FeedItem(
        guid=as_text(entry.get("id")),
        url=web_address(base, as_text(entry.get("url")) or as_text(entry.get("external_url"))),
        title=as_text(entry.get("title")),
        markup=as_text(entry.get("content_html")) or plain.replace("\n", "<br>\n"),
        author=", ".join(as_text(a.get("name")) for a in authors if isinstance(a, dict)),
        published_at=_moment(entry),
        enclosures=tuple(
            FeedFile(address, as_text(file.get("mime_type")), _count(file.get("size_in_bytes")))
            for file in as_list(entry.get("attachments"))
            if isinstance(file, dict) and (address := web_address(base, as_text(file.get("url"))))
        ),
        details=ItemDetails(
            categories=categories(as_text(tag) for tag in as_list(entry.get("tags"))),
            image=web_address(
                base, as_text(entry.get("image")) or as_text(entry.get("banner_image"))
            ),
            duration_seconds=_duration(entry),
        ),
    )


def _duration(entry: dict[str, Any]) -> int:
    """The duration of the first attachment that has one, in seconds; else 0."""
    files = (file for file in as_list(entry.get("attachments")) if isinstance(file, dict))
    return next((d for file in files if (d := _count(file.get("duration_in_seconds")))), 0)


def _moment(entry: dict[str, Any]) -> datetime | None:
    value = entry.get("date_published") or entry.get("date_modified")
    try:
        return parse_instant(as_text(value)) if value else None
    except InvalidInput:
        return None


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**53:
        return 0
    return int(value)
