"""Values of documents, whatever their format: keys, windows, bounds; and those of JSON Feed."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from publisher.feed_reading.feed_document import (
    FeedDocument,
    FeedFile,
    FeedItem,
    ItemDetails,
    NotAFeed,
    announcing,
    assemble,
    categories,
    digest,
    looks_like_json,
    newest_part,
    pack,
    parse_json_feed,
    plausible,
    shared_ids,
    shared_keys,
    unpack,
    web_address,
    with_distinct_keys,
)

URL = "https://a.example/f"
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def read(**fields: Any) -> FeedDocument:
    tree = {"version": "https://jsonfeed.org/version/1.1", **fields}
    return parse_json_feed(json.dumps(tree), URL, {})


def one(**fields: Any) -> FeedItem:
    return read(items=[fields]).items[0]


@pytest.mark.parametrize(
    ("moment", "meant"),
    [
        (datetime(1990, 1, 1, tzinfo=UTC), datetime(1990, 1, 1, tzinfo=UTC)),
        (datetime(1990, 1, 1, tzinfo=UTC) - timedelta(seconds=1), None),
        (NOW + timedelta(days=1), NOW),
        (NOW + timedelta(days=1, seconds=1), None),
        (NOW - timedelta(hours=1), NOW - timedelta(hours=1)),
        (None, None),
    ],
)
def test_which_dates_are_believed(moment: datetime | None, meant: datetime | None) -> None:
    """Since 1990, and until tomorrow, which is now."""
    assert plausible(moment, NOW) == meant


@pytest.mark.parametrize(
    ("first", "last", "part"),
    [
        (1, 2, range(1, 1_001)),
        (2, 1, range(1_000)),
        (1, 1, range(1_000)),
        (None, 2, range(1_000)),
        (1, None, range(1_000)),
    ],
)
def test_which_part_of_too_many_entries_is_the_newest(
    first: int | None, last: int | None, part: range
) -> None:
    days = {0: first, 1_000: last}
    dates = {n: NOW + timedelta(days=day) for n, day in days.items() if day is not None}
    assert list(newest_part(range(1_001), dates.get)) == list(part)
    assert newest_part(range(1_000), dates.get) == range(1_000)


@pytest.mark.parametrize(
    ("named", "kept"),
    [
        (["A", "a", " b\n c ", "", "\x00"], ("A", "b c")),
        (["x" * 100, "x" * 101], ("x" * 100,)),
        ([str(n) for n in range(31)], tuple(str(n) for n in range(30))),
    ],
)
def test_categories(named: list[str], kept: tuple[str, ...]) -> None:
    assert categories(named) == kept


@pytest.mark.parametrize(
    ("link", "address"),
    [
        ("b", "https://a.example/b"),
        (" HTTP://B.example/ ", "HTTP://B.example/"),
        ("mailto:a@b.example", ""),
        ("http://[", ""),
        ("", ""),
        (None, ""),
        (5, "https://a.example/5"),
    ],
)
def test_addresses_of_the_web(link: object, address: str) -> None:
    assert web_address(URL, link) == address


def test_what_a_page_announces_in_words() -> None:
    assert announcing([("https://a.example/f", "F"), ("https://a.example/g", "")]) == (
        "; it announces https://a.example/f, https://a.example/g"
    )
    assert announcing(()) == ""


@pytest.mark.parametrize(
    ("body", "is_json"),
    [
        (b"{", True), (b'\xef\xbb\xbf\n {"a"', True), (b"[{", False), (b"<a>{", False),
        (b"", False),
        (b" " * 63 + b"{", True), (b" " * 64 + b"{", False),
    ],
)  # fmt: skip
def test_what_begins_as_json(body: bytes, is_json: bool) -> None:
    assert looks_like_json(body) == is_json


def item(guid: str = "", url: str = "", title: str = "", markup: str = "") -> FeedItem:
    return FeedItem(guid, url, title, markup)


def test_what_identifies_an_item() -> None:
    """Its id, else its address, else its content; a fingerprint has the last two."""
    assert item("g", "u", "t", "m").key == item("g", "v").key == digest("g")
    assert item("", "u", "t", "m").key == item("", "u").key == digest("u")
    assert item("", "", "t", "m").key == digest("t\nm")
    assert item("g", "u", "t", "m").fingerprint == digest("u\nt\nm")
    assert len(digest("a")) == 8
    assert digest("\ud800") == digest("?") == digest(b"?")


@pytest.mark.parametrize(
    ("items", "keys"),
    [
        ([item("g", "u")], ["g"]),
        ([item("g", "u"), item("g", "v")], ["g#u", "g#v"]),
        ([item("g", "u"), item("h", "u")], ["g", "h"]),
        ([item("g", "u", "s"), item("g", "u", "t")], ["g#u#s", "g#u#t"]),
        ([item("g", "u", "s", "m"), item("g", "u", "s", "n")], ["g#u#s#m", "g#u#s#n"]),
        ([item("g", "u"), item("g", "u")], ["g", "g"]),
        ([item("taken", "u"), item("g", "v")], ["taken#u", "g"]),
        ([item("", "u", "s"), item("", "u", "t")], ["#u#s", "#u#t"]),
    ],
)
def test_different_items_have_different_keys(items: list[FeedItem], keys: list[str]) -> None:
    """Address, title and markup are added until they do; the same item twice keeps its own."""
    settled, _ = with_distinct_keys(items, frozenset({digest("taken")}))
    assert [each.key for each in settled] == [digest(key) for key in keys]


def test_which_keys_were_shared() -> None:
    items = [item("g", "u"), item("g", "v"), item("taken"), item("h")]
    _, shared = with_distinct_keys(items, frozenset({digest("taken"), digest("other")}))
    assert {digest("g"), digest("taken")} <= shared
    assert not {digest("h"), digest("other")} & shared


def test_a_window_has_the_keys_of_known_items_and_of_new_ones() -> None:
    """In order; an item that could not be read has none, and is not stored."""
    a, b = item("a"), item("b")
    marks = [b"mark---1", b"mark---2", b"mark---3"]
    items, window = assemble(marks, {b"mark---2": digest("known")}, [a])
    assert items == (a,)
    assert window == ((marks[0], a.key), (marks[1], digest("known")), (marks[2], b""))
    document = FeedDocument("rss", window=window)
    assert unpack(pack(document)) == {marks[0]: a.key, marks[1]: digest("known")}
    assert assemble(marks[:2], {}, [b, b])[0] == (b,)


def test_shared_keys_stay_in_the_window() -> None:
    items, window = assemble([b"mark---1", b"mark---2"], {}, [item("g", "u"), item("g", "v")])
    key = digest("g")
    assert (window[2:], shared_ids(window)) == (((key, key),), 1)
    assert shared_keys(dict(window)) == {key: key}
    assert [each.key for each in items] == [digest("g#u"), digest("g#v")]
    stored = unpack(pack(FeedDocument("rss", window=window)))
    later, window = assemble([b"mark---3"], stored, [item("g", "w")])
    assert [each.key for each in later] == [digest("g#w")]
    assert window[1:] == ((key, key),)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
        ("[]", "not a JSON Feed"),
        ("{}", "not a JSON Feed"),
        ('{"version": 1}', "not a JSON Feed"),
        ('{"version": "https://example.org/"}', "not a JSON Feed"),
    ],
)
def test_what_is_no_json_feed(text: str, why: str) -> None:
    with pytest.raises(NotAFeed, match=why):
        parse_json_feed(text, URL, {})


def test_what_a_json_feed_says_of_itself() -> None:
    document = read(title=" T ", home_page_url="/", feed_url="/feed", items={"a": 1})
    found = (document.title, document.site_url, document.self_url, document.items)
    assert found == ("T", "https://a.example/", "https://a.example/feed", ())


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"id": 1.5, "title": " t "}, {"guid": "1.5", "title": "t"}),
        ({"id": True, "title": ["t"]}, {"guid": "", "title": ""}),
        ({"url": "u", "external_url": "e"}, {"url": "https://a.example/u"}),
        ({"external_url": "e"}, {"url": "https://a.example/e"}),
        ({"content_html": "<b>", "content_text": "t", "summary": "s"}, {"markup": "<b>"}),
        ({"content_text": "t\n<b>", "summary": "s"}, {"markup": "t<br>\n&lt;b&gt;"}),
        ({"summary": "s\n&"}, {"markup": "s<br>\n&amp;"}),
        ({"authors": [{"name": "A"}, {"name": "B"}], "author": {"name": "C"}}, {"author": "A, B"}),
        ({"authors": [{"url": "u"}, "x", {"name": "B"}]}, {"author": "B"}),
        ({"authors": [], "author": {"name": "C"}}, {"author": "C"}),
        ({"author": "C"}, {"author": ""}),
        ({"date_published": "2026-03-01T09:00:00Z", "date_modified": "2026-03-02T09:00:00Z"},
         {"published_at": datetime(2026, 3, 1, 9, tzinfo=UTC)}),
        ({"date_published": "", "date_modified": "2026-03-02T09:00:00Z"},
         {"published_at": datetime(2026, 3, 2, 9, tzinfo=UTC)}),
        ({"tags": ["a", "A", 3, None]}, {"details": ItemDetails(categories=("a", "3"))}),
        ({"image": "i", "banner_image": "b"},
         {"details": ItemDetails(image="https://a.example/i")}),
        ({"banner_image": "b"}, {"details": ItemDetails(image="https://a.example/b")}),
        ({"attachments": [{"url": "a", "mime_type": "t", "size_in_bytes": 5.5}, "x", {"url": ""},
                          {"url": "b", "size_in_bytes": -1}]},
         {"enclosures": (FeedFile("https://a.example/a", "t", 5),
                         FeedFile("https://a.example/b"))}),
        ({"attachments": [{"duration_in_seconds": 0}, "x", {"duration_in_seconds": 7.9},
                          {"duration_in_seconds": 9}]},
         {"details": ItemDetails(duration_seconds=7)}),
        ({"attachments": [{"url": "a", "size_in_bytes": 2**53 - 1}]},
         {"enclosures": (FeedFile("https://a.example/a", "", 2**53 - 1),)}),
        ({"attachments": [{"url": "a", "size_in_bytes": 2**53}]},
         {"enclosures": (FeedFile("https://a.example/a"),)}),
    ],
)  # fmt: skip
def test_an_item_of_json(fields: dict[str, Any], expected: dict[str, Any]) -> None:
    read = one(**fields)
    assert {name: getattr(read, name) for name in expected} == expected


def test_dates_of_json_that_are_not_understood_are_remarked() -> None:
    document = read(items=[{"id": "1", "date_published": "soon"}, {"id": "1", "title": "b"}])
    assert [remark.kind for remark in document.remarks] == ["date-not-understood", "ids-shared"]


@pytest.mark.parametrize(("language", "month"), [("en-us", 3), ("en-gb", 10)])
def test_the_language_of_a_json_feed_tells_day_from_month(language: str, month: int) -> None:
    items = [{"id": "1", "date_published": "03/10/2020"}]
    at = read(language=language, items=items).items[0].published_at
    assert at is not None
    assert at.month == month


def test_details_as_json_have_what_has_a_value() -> None:
    assert ItemDetails().as_json() == {}
    assert ItemDetails(season=2).as_json() == {"season": 2}
    assert ItemDetails(("a",), "i").as_json() == {"categories": ["a"], "image": "i"}
