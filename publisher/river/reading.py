"""Parsing of untrusted feed documents and OPML lists in a confined process (see `confined`)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from publisher.base.confined import Limits, Unreadable, read
from publisher.river import parse
from publisher.river.feed_document import FeedDocument, UnreadableFeed

if TYPE_CHECKING:
    from publisher.river.opml import FeedList

FEED_LIMITS, LIST_LIMITS = Limits(seconds=5.0), Limits(seconds=10.0)
_NOTHING: Mapping[bytes, bytes] = {}


def read_document(
    body: bytes, content_type: str, url: str, known: Mapping[bytes, bytes] = _NOTHING
) -> FeedDocument:
    """As `parse.parse_harmless`; UnreadableFeed also for what takes too much time or memory."""
    try:
        return read(parse.parse_harmless, FEED_LIMITS, body, content_type, url, known)
    except Unreadable as problem:
        raise UnreadableFeed(f"the document {problem}") from problem


def read_list(document: bytes) -> "FeedList":
    """As `opml.read_opml`."""
    from publisher.river import opml  # late: parsing a document needs no database

    return read(opml.read_opml, LIST_LIMITS, document)
