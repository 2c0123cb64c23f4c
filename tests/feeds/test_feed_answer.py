"""Answers without a document, and the same document as a page."""

import gzip
from datetime import UTC, datetime

import pytest

from publisher.feeds import feed_answer
from publisher.feeds.feed_answer import FeedAnswer, Moved, as_page, is_browser_navigation, too_soon

NOW = datetime(2024, 3, 4, 9, 30, tzinfo=UTC)
ADDRESS = "https://blog.example/rss.xml"
REFUSED = feed_answer.NOT_ALLOWED
CHANGED = feed_answer.NOT_THE_SAME


def moved(method: str) -> FeedAnswer:
    return Moved(ADDRESS).respond({"REQUEST_METHOD": method}, NOW)


@pytest.mark.parametrize(
    ("answer", "code"),
    [(REFUSED, 405), (CHANGED, 412), (too_soon(90), 429), (moved("GET"), 301)],
)
def test_an_answer_says_one_thing(answer: FeedAnswer, code: int) -> None:
    """Its code is that of its status line, and its length is that of its body, by every count."""
    length = len(b"".join(answer.body))
    assert (answer.code, answer.status.split()[0]) == (code, str(code))
    assert (answer.sent_bytes, dict(answer.headers)["Content-Length"]) == (length, str(length))


def test_who_came_too_soon_is_told_when_to_come() -> None:
    """RFC 6585: Retry-After, and no cache keeps the refusal."""
    headers = dict(too_soon(90).headers)
    assert (headers["Retry-After"], headers["Cache-Control"]) == ("90", "no-store")
    assert b"wait 90 seconds" in too_soon(90).body[0]


def test_a_move_is_kept_for_a_day() -> None:
    """RFC 9110: HEAD gets the headers of GET; the move may be stored."""
    assert (moved("HEAD").code, moved("HEAD").body, moved("HEAD").sent_bytes) == (301, [], 0)
    assert moved("HEAD").headers == moved("GET").headers
    assert dict(moved("GET").headers)["Cache-Control"] == "public, max-age=86400"
    assert ADDRESS.encode() in moved("GET").body[0]


@pytest.mark.parametrize(
    ("headers", "person"),
    [
        ({"HTTP_SEC_FETCH_DEST": "document"}, True),
        ({"HTTP_SEC_FETCH_DEST": "empty", "HTTP_ACCEPT": "text/html,application/xhtml+xml"}, False),
        ({"HTTP_ACCEPT": "text/html,application/xhtml+xml,*/*"}, True),
        ({"HTTP_ACCEPT": "application/rss+xml, text/html"}, False),
        ({}, False),
    ],
)
def test_who_sees_a_page(headers: dict[str, str], person: bool) -> None:
    """A browser's Fetch Metadata decides; without them its Accept, which begins with HTML."""
    assert is_browser_navigation(headers) is person


def document(kind: str, code: int = 200) -> FeedAnswer:
    headers = [("Content-Type", kind), ("Cache-Control", "public, max-age=60"), ("ETag", '"a"')]
    return FeedAnswer(code, f"{code} X", headers, [b"<rss/>"], 6)


def test_a_page_is_the_same_document_as_xml() -> None:
    """Under a type that browsers show, for this visitor only; JSON and a 304 stay as they are."""
    page = as_page(document("application/rss+xml"))
    assert (page.code, page.body, page.sent_bytes) == (200, [b"<rss/>"], 6)
    assert dict(page.headers) == {
        "Content-Type": "application/xml; charset=utf-8",
        "Cache-Control": "private, max-age=60",
        "ETag": '"a"',
    }
    for answer in (document("application/feed+json"), document("application/rss+xml", 304)):
        assert as_page(answer) is answer


def test_codings_are_of_the_same_bytes() -> None:
    """gzip carries no time, so that a document's bytes stay the same; no coding is longer."""
    body = b"<rss>" + b"a word " * 500
    assert gzip.decompress(feed_answer.gzipped(body)) == body
    assert feed_answer.gzipped(body)[4:9] == bytes([0, 0, 0, 0, 2])  # 2: as small as it gets
    assert tuple(feed_answer.packed(body)) == feed_answer.CODINGS[:-1]
    assert all(len(packed) < len(body) for packed in feed_answer.packed(body).values())
