"""JSON Feed 1.1 (jsonfeed.org)."""

import json
from typing import Any

from publisher.base.dates import format_rfc3339
from publisher.base.media_files import Attachment
from publisher.feeds.channel import Channel, Item

CONTENT_TYPE = "application/feed+json; charset=utf-8"
VERSION = "https://jsonfeed.org/version/1.1"


def render(channel: Channel) -> bytes:
    """The JSON Feed document. It has no ttl: the response's Cache-Control carries it."""
    document = {
        "version": VERSION,
        "title": channel.title,
        "home_page_url": channel.home_url,
        "feed_url": channel.feed_url,
        "description": channel.description,
        "language": channel.language,
        "authors": [{"name": channel.title, "url": channel.home_url}],
        "hubs": [{"type": "WebSub", "url": hub} for hub in channel.hubs],
        "items": [_item(item) for item in channel.items],
    }
    return (json.dumps(_present(document), ensure_ascii=False, indent=1) + "\n").encode()


def _item(item: Item) -> dict[str, Any]:
    return _present(
        {
            "id": item.guid,
            "url": item.url,
            "title": item.title,
            "summary": item.summary,
            "image": item.image,
            "content_html": item.html or item.url,
            "date_published": format_rfc3339(item.published_at),
            "date_modified": format_rfc3339(max(item.changed_at, item.published_at)),
            "authors": [{"name": item.author}] if item.author else None,
            "tags": list(item.tags),
            "attachments": [_attachment(item.attachment)] if item.attachment else None,
        }
    )


def _attachment(file: Attachment) -> dict[str, Any]:
    return _present(
        {
            "url": file.url,
            "mime_type": file.content_type,
            "size_in_bytes": file.bytes,
            "duration_in_seconds": file.seconds,
        }
    )


def _present(values: dict[str, Any]) -> dict[str, Any]:
    """`values` without the empty ones; an empty `items` stays."""
    return {name: value for name, value in values.items() if value or name == "items"}
