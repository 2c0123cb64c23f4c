"""JSON Feed, item by item."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from publisher.base.errors import InvalidData
from publisher.base.media_files import Attachment
from tests.parts.importing.conftest import one, read


def feed(**item: Any) -> str:
    """A feed with one item."""
    version = "https://jsonfeed.org/version/1.1"
    return json.dumps(
        {"version": version, "title": "T", "author": {"name": "Eve"}, "items": [item]}
    )


def test_a_full_item() -> None:
    """Numbers as ids, authors in both spellings, attachments with length and duration."""
    post = one(
        feed(
            id=7,
            url="https://old.example/7-up",
            title="Seven",
            content_html="<p>Up</p>",
            summary="Short",
            date_published="2020-01-02T03:04:05-05:00",
            tags=["a", "b"],
            authors=[{"name": "Ada"}],
            attachments=[
                {
                    "url": "https://old.example/7.mp3",
                    "mime_type": "audio/mpeg",
                    "size_in_bytes": 77,
                    "duration_in_seconds": 12.5,
                }
            ],
        )
    )
    assert (post.guid, post.title, post.source, post.summary) == (
        "7",
        "Seven",
        "<p>Up</p>",
        "Short",
    )
    assert (post.slug, post.tags, post.by) == ("7-up", ("a", "b"), ("Ada",))
    assert post.published_at == datetime(2020, 1, 2, 8, 4, 5, tzinfo=UTC)
    assert post.enclosure == Attachment("https://old.example/7.mp3", "audio/mpeg", 77, 12)


def test_plain_text_becomes_paragraphs() -> None:
    """Text is text: what looks like a tag in it is none."""
    assert one(feed(id="1", content_text="a <b>\n\nc")).source == "<p>a &lt;b&gt;</p>\n<p>c</p>"


@pytest.mark.parametrize(
    "text", ["{", '{"items": []}', "{" * 10_000, '{"version": 1, "items": {}}']
)
def test_json_that_is_no_feed(text: str) -> None:
    """Broken JSON, deep JSON and other JSON are refused in one line."""
    with pytest.raises(InvalidData):
        read(text)
