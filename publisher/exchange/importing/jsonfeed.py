"""JSON Feed 1.0 and 1.1 (jsonfeed.org)."""

import json
from typing import Any, BinaryIO

from publisher.base.attachment import Attachment
from publisher.base.errors import InvalidData
from publisher.exchange.importing import fields
from publisher.exchange.importing.imported import Batch, ImportedPost


def read(stream: BinaryIO, in_archive: bool = False) -> Batch:
    """Every item of a feed; within an archive, its files are named as seen from the blog's home.

    Raises InvalidData for broken JSON and impossible dates."""
    try:
        feed = json.load(stream)
    except (ValueError, RecursionError) as error:
        raise InvalidData(f"the JSON cannot be read: {error}") from error
    items = feed.get("items") if isinstance(feed, dict) else None
    if not isinstance(items, list) or "jsonfeed.org" not in _text(feed.get("version")):
        raise InvalidData("this is JSON, but no JSON Feed")
    author = _author(feed)
    home = _text(feed.get("home_page_url")) if in_archive else ""
    return Batch([_item(i, n, author, home) for n, i in enumerate(items, 1) if isinstance(i, dict)])


def _item(item: dict[str, Any], number: int, feed_author: str, home: str) -> ImportedPost:
    where = f"item {number}"
    address = _text(item.get("url"))
    markup, plain = _text(item.get("content_html")), _text(item.get("content_text"))
    summary = _text(item.get("summary"))
    source = fields.with_base(markup, home or address) or fields.paragraphs(plain or summary)
    return ImportedPost(
        where=where,
        guid=fields.identity(_text(item.get("id")), address, _text(item.get("title")) + source),
        source=source,
        title=" ".join(_text(item.get("title")).split()),
        summary=summary if markup or plain else "",
        tags=tuple(_text(tag) for tag in _list(item.get("tags"))),
        by=(_author(item) or feed_author,),
        published_at=fields.moment(_text(item.get("date_published")), where),
        changed_at=fields.moment(_text(item.get("date_modified")), where),
        address=address,
        slug=fields.slug_of(address),
        enclosure=_enclosure(_list(item.get("attachments"))),
    )


def _author(holder: dict[str, Any]) -> str:
    """The first author of an item or a feed, in the words of 1.1 or 1.0."""
    people = [*_list(holder.get("authors")), holder.get("author")]
    return next((_text(p.get("name")) for p in people if isinstance(p, dict)), "")


def _enclosure(files: list[Any]) -> Attachment | None:
    file = files[0] if files and isinstance(files[0], dict) else {}
    url = _text(file.get("url"))
    if not fields.is_web_address(url):
        return None
    size, seconds = file.get("size_in_bytes"), file.get("duration_in_seconds")
    return Attachment(
        url,
        _text(file.get("mime_type")) or "application/octet-stream",
        fields.size(_text(size)),
        fields.seconds(_text(seconds).partition(".")[0]),
    )


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str:
    """Text as it is, a number as text (ids were numbers once), nothing for the rest."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value).strip()
