"""Feeds that a page or its HTTP head announces."""

import pytest

from publisher.feed_reading.feed_html import alternates, announced_in_header, links_in_header

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
        ('rel=alternate type="application/rss+xml" href="/wp-json/feed"',
         ["https://blog.example/wp-json/feed"]),
        ('rel="x ALTERNATE" type=" Application/Atom+XML ; charset=a" href=" /a "',
         ["https://blog.example/a"]),
        ('rel=alternate type="application/feed+json" href="/a"', ["https://blog.example/a"]),
        ('rel=alternate type="application/rdf+xml" href="/a"', ["https://blog.example/a"]),
        ('rel=feed type="application/rss+xml" href="/a"', ["https://blog.example/a"]),
        ('rel=feed type="application/json" href="/wp-json/a"', ["https://blog.example/wp-json/a"]),
        ('rel=other type="text/xml" href="/a"', []),
        ('rel=alternate type="application/rss+xml"', []),
        ('rel=alternate href="/a"', []),
        ('type="application/rss+xml" href="/a"', []),
        ('rel=feed href="mailto:a@b"', []),
    ],
)  # fmt: skip
def test_links_of_a_page(link: str, feeds: list[str]) -> None:
    assert [url for url, _ in alternates(f"<head><link {link}></head>", PAGE)] == feeds


def test_types_of_feeds_alone_come_before_others() -> None:
    vague = '<link rel=alternate type="application/json" href="/a">'
    certain = '<link rel=alternate type="application/rss+xml" href="/b">'
    assert [url for url, _ in alternates(vague + certain, PAGE)] == [f"{PAGE}b"]


def test_several_links_of_a_page() -> None:
    """Each address once, with its first title, in order; what is no link is skipped."""
    rss = 'rel=alternate type="application/rss+xml"'
    page = (
        f"<base href='/x/'><base href='/y/'><link {rss} href=a title=' A '><link href=z>"
        f"<link rel=icon {rss[4:]} href=i><link {rss} href=a title=B><link {rss} href='/c'>"
    )
    assert alternates(page, PAGE) == [(f"{PAGE}x/a", "A"), (f"{PAGE}c", "")]
    assert alternates("", PAGE) == []


def test_a_page_is_looked_through_up_to_a_million_characters() -> None:
    link = "<link rel=feed href=a>"
    for blanks, found in ((1_000_000 - len(link), 1), (1_000_001 - len(link), 0)):
        assert len(alternates(" " * blanks + link, PAGE)) == found


@pytest.mark.parametrize(
    ("value", "links"),
    [
        ("<a>", [{"href": "a"}]),
        ('<a>; REL="b c" ;type=d,<e>; rel=f', [
            {"rel": "b c", "type": "d", "href": "a"}, {"rel": "f", "href": "e"}]),
        ("<a>; title*=x; href=y", [{"title*": "x", "href": "a"}]),
        ("<" + "a" * 9_998 + ">", [{"href": "a" * 9_998}]),
        ("<" + "a" * 9_999 + ">", []),
    ],
)  # fmt: skip
def test_links_in_a_header(value: str, links: list[dict[str, str]]) -> None:
    assert links_in_header(value) == links


def test_links_of_a_head() -> None:
    """RFC 8288; nonsense of any length is no failure and takes no time."""
    value = '<x>; rel=hub, </f>; rel="alternate"; type="application/rss+xml"; title="A, b"'
    assert announced_in_header(value, PAGE) == [(f"{PAGE}f", "A, b")]
    for nonsense in ("", "<", "<a", "a; b", '<a>; rel="', "<" * 9_000, "<a>" + "; a=" * 3_000):
        assert announced_in_header(nonsense, PAGE) == []
