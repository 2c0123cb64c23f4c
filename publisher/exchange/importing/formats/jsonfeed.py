"""JSON Feed 1.0 and 1.1 (jsonfeed.org)."""

from typing import Any, BinaryIO

from publisher.base.errors import InvalidData
from publisher.base.media_files import Attachment
from publisher.base.text import as_list, as_text
from publisher.exchange.importing.formats import fields
from publisher.exchange.importing.imported import Batch, ImportedPost


def read(stream: BinaryIO, in_archive: bool = False) -> Batch:
    """Every item of a feed; in an archive, relative addresses start from the blog's home page.

    Raises InvalidData for broken JSON and impossible dates."""
    feed = fields.json_in(stream)
    items = feed.get("items") if isinstance(feed, dict) else None
    if not isinstance(items, list) or "jsonfeed.org" not in as_text(feed.get("version")):
        raise InvalidData("this is JSON, but not a JSON Feed")
    author = _author(feed)
    home = as_text(feed.get("home_page_url")) if in_archive else ""
    return Batch([_item(i, n, author, home) for n, i in enumerate(items, 1) if isinstance(i, dict)])


def _item(item: dict[str, Any], number: int, feed_author: str, home: str) -> ImportedPost:
    where = f"item {number}"
    address = as_text(item.get("url"))
    markup, plain = as_text(item.get("content_html")), as_text(item.get("content_text"))
    summary = as_text(item.get("summary"))
    source = fields.with_base(markup, home or address) or fields.paragraphs(plain or summary)
    return ImportedPost(
        where=where,
        guid=fields.identity(as_text(item.get("id")), address, as_text(item.get("title")) + source),
        source=source,
        title=" ".join(as_text(item.get("title")).split()),
        summary=summary if markup or plain else "",
        tags=tuple(as_text(tag) for tag in as_list(item.get("tags"))),
        by=(_author(item) or feed_author,),
        published_at=fields.moment(as_text(item.get("date_published")), where),
        changed_at=fields.moment(as_text(item.get("date_modified")), where),
        address=address,
        slug=fields.slug_of(address),
        enclosure=_enclosure(as_list(item.get("attachments"))),
    )


def _author(holder: dict[str, Any]) -> str:
    """The first author of an item or a feed, in the form of 1.1 or 1.0."""
    people = [*as_list(holder.get("authors")), holder.get("author")]
    return next((as_text(p.get("name")) for p in people if isinstance(p, dict)), "")


def _enclosure(files: list[Any]) -> Attachment | None:
    file = files[0] if files and isinstance(files[0], dict) else {}
    url, kind, size = (as_text(file.get(n)) for n in ("url", "mime_type", "size_in_bytes"))
    seconds = as_text(file.get("duration_in_seconds")).partition(".")[0]
    return fields.attachment(url, kind, size, seconds)
