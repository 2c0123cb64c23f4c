"""Feeds that a page or its HTTP head announces."""

import pytest

from publisher.feed_reading.feed_html import alternates, announced_in_header

PAGE = "https://blog.example/"


@pytest.mark.parametrize(
    ("link", "feeds"),
    [
        (
            'rel=alternate type="application/json" href="/feed.json"',
            ["https://blog.example/feed.json"],
        ),
        ('rel=alternate type="text/xml" href="/rss"', ["https://blog.example/rss"]),
        ('rel=feed href="/rss"', ["https://blog.example/rss"]),
        ('rel=feed type="text/html" href="/"', []),
        ('rel=alternate type="text/html" href="/de"', []),
        ('rel=stylesheet type="application/rss+xml" href="/x"', []),
        (
            'rel=alternate type="application/rss+xml" href="feed://a.example/x"',
            ["http://a.example/x"],
        ),
        (
            'rel=alternate type="application/rss+xml" href="feed:https://a.example/x"',
            ["https://a.example/x"],
        ),
        ('rel=alternate type="application/json" href="/wp-json/wp/v2/posts/1"', []),
    ],
)
def test_links_of_a_page(link: str, feeds: list[str]) -> None:
    assert [url for url, _ in alternates(f"<head><link {link}></head>", PAGE)] == feeds


def test_types_of_feeds_alone_come_before_others() -> None:
    vague = '<link rel=alternate type="application/json" href="/a">'
    certain = '<link rel=alternate type="application/rss+xml" href="/b">'
    assert [url for url, _ in alternates(vague + certain, PAGE)] == [f"{PAGE}b"]


def test_links_of_a_head() -> None:
    """RFC 8288; nonsense of any length is no failure and takes no time."""
    value = '<x>; rel=hub, </f>; rel="alternate"; type="application/rss+xml"; title="A, b"'
    assert announced_in_header(value, PAGE) == [(f"{PAGE}f", "A, b")]
    for nonsense in ("", "<", "<a", "a; b", '<a>; rel="', "<" * 9_000, "<a>" + "; a=" * 3_000):
        assert announced_in_header(nonsense, PAGE) == []
