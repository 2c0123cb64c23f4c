"""Feed documents of every kind, good and bad, become values."""

import json
import math
from datetime import UTC, datetime

import pytest

from publisher.base.dates import format_rfc822
from publisher.feed_reading.feed_document import (
    NotAFeed,
    digest,
    pack,
    plausible,
    shared_ids,
    shared_keys,
    unpack,
)
from publisher.feed_reading.parse import parse_document
from publisher.feed_reading.scan import DocumentHints, UnsafeDocument
from tests.parts.river.origin import rss

URL = "http://feed.example/dir/feed"
XML = "application/xml"

RSS_090 = b"""<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns="http://my.netscape.com/rdf/simple/0.9/">
<channel><title>T</title><link>http://s.example/</link><description>d</description></channel>
<item><title>One</title><link>http://s.example/1</link></item></rdf:RDF>"""
RSS_091 = b"""<?xml version="1.0" encoding="ISO-8859-1"?>
<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN"
 "http://my.netscape.com/publish/formats/rss-0.91.dtd">
<rss version="0.91"><channel><title>T</title><link>http://s.example/</link>
<skipHours><hour>24</hour><hour>1</hour><hour>2</hour></skipHours>
<skipDays><day>Sunday</day><day>Saturday</day></skipDays>
<item><title>One</title><link>http://s.example/1</link></item></channel></rss>"""
RSS_10 = b"""<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
 xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"
 xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel rdf:about="http://s.example/"><title>T</title><link>http://s.example/</link>
<sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>3</sy:updateFrequency></channel>
<item rdf:about="http://s.example/1"><title>One</title><link>http://s.example/1</link>
<dc:date>2026-03-01T10:00:00+01:00</dc:date></item></rdf:RDF>"""
RSS_20 = b"""<?xml version="1.0"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel>
<title>T</title><link>http://s.example/</link><ttl> 60 </ttl>
<item><title>One</title><link>1</link><guid isPermaLink="false">tag:1</guid>
<pubDate>Sun, 01 Mar 2026 09:00:00 GMT</pubDate><description>short</description>
<content:encoded><![CDATA[<p>long <img src="i.png"></p>]]></content:encoded>
<enclosure url="a.mp3" length="123" type="audio/mpeg"/></item></channel></rss>"""
ATOM = b"""<?xml version="1.0"?>
<feed xmlns="http://www.w3.org/2005/Atom"><title type="text">T</title>
<link href="http://s.example/"/><link rel="self" href="http://s.example/atom"/>
<entry><id>urn:1</id><title>One</title><link href="http://s.example/1"/>
<updated>2026-03-01T09:00:00Z</updated><content type="text">a &lt; b</content></entry></feed>"""
JSON = json.dumps(
    {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "T",
        "home_page_url": "http://s.example/",
        "items": [
            {
                "id": 1,
                "title": "One",
                "url": "http://s.example/1",
                "content_text": "a < b",
                "date_published": "2026-03-01T10:00:00+01:00",
                "attachments": [{"url": "http://s.example/a.mp3", "mime_type": "audio/mpeg"}],
            },
            "nonsense",
        ],
    }
).encode()


@pytest.mark.parametrize(
    ("document", "kind"),
    [
        (RSS_090, "rdf"), (RSS_091, "rss"), (RSS_10, "rdf"), (RSS_20, "rss"), (ATOM, "atom"),
        (JSON, "json"),
    ],
)  # fmt: skip
def test_formats(document: bytes, kind: str) -> None:
    """RSS 0.90, 0.91, 1.0, 2.0, Atom and JSON Feed give a title, a site and the item."""
    parsed = parse_document(document, XML, URL)
    assert (parsed.kind, parsed.title, parsed.site_url) == (kind, "T", "http://s.example/")
    assert [item.title for item in parsed.items] == ["One"]
    assert (len(parsed.window), parsed.left_out) == (1, 0)


@pytest.mark.parametrize("document", [RSS_10, RSS_20, ATOM, JSON])
def test_dates_of_items(document: bytes) -> None:
    """Dates in every form are the same instant in UTC."""
    item = parse_document(document, XML, URL).items[0]
    assert item.published_at == datetime(2026, 3, 1, 9, tzinfo=UTC)


def _once_a(period: str) -> bytes:
    return RSS_10.replace(b"daily", period.encode()).replace(b"Frequency>3<", b"Frequency>1<")


@pytest.mark.parametrize(
    ("document", "hints"),
    [
        (RSS_20, DocumentHints(ttl_minutes=60)),
        (RSS_10, DocumentHints(syndication_minutes=480)),
        (RSS_10.replace(b"daily", b"weekly"), DocumentHints(syndication_minutes=3_360)),
        (RSS_10.replace(b"daily", b"Hourly"), DocumentHints(syndication_minutes=20)),
        (_once_a("hourly"), DocumentHints(syndication_minutes=60)),
        (_once_a("monthly"), DocumentHints(syndication_minutes=43_200)),
        (_once_a("yearly"), DocumentHints(syndication_minutes=525_600)),
        (RSS_10.replace(b"daily", b"now and then"), DocumentHints()),
        (RSS_20.replace(b" 60 ", b"9999999"), DocumentHints(ttl_minutes=366 * 1440)),
        (RSS_091, DocumentHints(skip_hours=frozenset({0, 1, 2}), skip_days=frozenset({5, 6}))),
        (ATOM, DocumentHints()),
        (rss("a").replace(b"<title>A", b"<ttl>0</ttl><title>A", 1), DocumentHints()),
        (rss("a").replace(b"<title>A", b"<ttl>soon</ttl><title>A", 1), DocumentHints()),
        (rss("a").replace(b"<guid>", b"<ttl>5</ttl><guid>", 1), DocumentHints()),
    ],
)
def test_hints_of_documents(document: bytes, hints: DocumentHints) -> None:
    """ttl, every skipHours and skipDays value and sy are read; nonsense and strays are not."""
    assert parse_document(document, XML, URL).hints == hints


def test_a_poll_waits_for_the_longer_of_two_hints() -> None:
    """In seconds, whichever of ttl and mod_syndication asks for it; 0 where neither does."""
    assert DocumentHints(ttl_minutes=60, syndication_minutes=480).seconds == 28_800
    assert DocumentHints(ttl_minutes=60).seconds == 3_600
    assert DocumentHints().seconds == 0


def test_content_links_and_enclosures() -> None:
    """The full content wins over the summary, addresses are absolute, files are kept."""
    item = parse_document(RSS_20, XML, URL).items[0]
    assert "long" in item.markup
    assert (item.guid, item.url) == ("tag:1", "http://s.example/1")
    assert item.enclosures[0].url == "http://s.example/a.mp3"
    assert (item.enclosures[0].length, item.enclosures[0].media_type) == (123, "audio/mpeg")


@pytest.mark.parametrize("document", [ATOM, JSON])
def test_plain_text_is_escaped(document: bytes) -> None:
    """Content that is text, not HTML, becomes HTML that shows the same characters."""
    assert parse_document(document, XML, URL).items[0].markup == "a &lt; b"


def test_titleless_items_keep_no_title() -> None:
    """An item without a title gets none invented."""
    bare = rss("a").replace(b"<title>a</title>", b"")
    assert parse_document(bare, XML, URL).items[0].title == ""


TEXT = "Größe – naïve"
CHARSETS = [
    ("utf-8", "application/xml", "utf-8"),
    ("iso-8859-1", "application/xml", "latin-1"),
    ("utf-8", "application/xml; charset=iso-8859-1", "latin-1"),
    ("iso-8859-1", "application/xml; charset=utf-8", "utf-8"),
    ("windows-1252", "text/xml", "cp1252"),
    ("utf-16", "application/xml", "utf-16"),
    ("utf-16", "application/xml; charset=utf-16le", "utf-16-le"),
    ("utf-8", "text/xml; charset=us-ascii", "utf-8"),
    ("made-up-charset", "application/xml", "utf-8"),
    ("utf-8", "application/xml; charset=nonsense", "utf-8"),
    ("shift_jis", "application/xml; charset=utf-8", "utf-8"),
    ("unicode_escape", "application/xml", "utf-8"),
]


@pytest.mark.parametrize(("declared", "header", "actual"), CHARSETS)
def test_charsets(declared: str, header: str, actual: str) -> None:
    """Mark, header, declaration, in this order; a claim the bytes contradict is passed over."""
    text = TEXT if actual in ("utf-8", "cp1252", "utf-16", "utf-16-le") else "Größe, naïve"
    document = rss("a", title=text).decode().replace('"utf-8"?>', f'"{declared}"?>')
    assert parse_document(document.encode(actual), header, URL).title == text


PAGE = b"""<!DOCTYPE html><html><head><base href="/blog/">
<link rel="alternate" type="application/rss+xml" title="Posts" href="rss.xml">
<link rel="alternate" type="application/atom+xml; charset=utf-8" href="http://x.example/a">
<link rel="alternate" hreflang="de" href="/de"><link rel="stylesheet" href="s.css">
<link rel="alternate" type="application/rss+xml" href="javascript:x"></head>"""


@pytest.mark.parametrize(
    ("document", "content_type"),
    [
        (b"", "text/xml"),
        (b"   \n", "text/xml"),
        (b"hello", "text/plain"),
        (PAGE, "text/html"),
        (b"<p>a fragment</p>", "text/html"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml"),
        (b"<html><body>&lt;rss> <!-- <rss version='2.0'> --></body></html>", "text/xml"),
        (b'{"a": 1}', "application/json"),
        (b'{"a": ', "application/json"),
        (b"[" * 100_000, "application/json"),
        (b'{"version": ' + b"[" * 100_000, "application/json"),
        (b"\x00\xff\xfe\x80" * 100, "application/octet-stream"),
    ],
)
def test_what_is_no_feed(document: bytes, content_type: str) -> None:
    """Pages, text, pictures and other JSON are refused with one sentence."""
    with pytest.raises(NotAFeed, match="the answer is"):
        parse_document(document, content_type, URL)


def test_discovery_uses_announced_feeds_only() -> None:
    """A page offers what its links announce, resolved against its base, and nothing guessed."""
    with pytest.raises(NotAFeed) as caught:
        parse_document(PAGE, "text/html", URL)
    assert caught.value.alternates == (
        ("http://feed.example/blog/rss.xml", "Posts"),
        ("http://x.example/a", ""),
    )


BOMB = b"""<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY a "aaaaaaaaaa">
<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><rss version="2.0">
<channel><title>&b;</title></channel></rss>"""
OUTSIDE = b"""<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/passwd">]>
<rss version="2.0"><channel><title>&x;</title></channel></rss>"""
DEEP = b'<rss version="2.0"><channel>' + b"<a>" * 100_000


@pytest.mark.parametrize("document", [BOMB, OUTSIDE, DEEP])
def test_unsafe_documents(document: bytes) -> None:
    """Entity bombs, external entities and endless nesting are not read further."""
    with pytest.raises(UnsafeDocument):
        parse_document(document, XML, URL)


def test_a_document_that_breaks_off() -> None:
    """Items before the break are read, and nothing of it counts as known."""
    parsed = parse_document(rss("a", "b", "c")[:-90], XML, URL)
    assert parsed.broken
    assert [item.guid for item in parsed.items][:2] == ["a", "b"]
    assert parsed.window == ()


def test_a_bare_ampersand_is_survived() -> None:
    """The commonest error of hand-made feeds does not cost an item."""
    parsed = parse_document(rss("a", "b").replace(b"About a", b"Q & A"), XML, URL)
    assert [item.guid for item in parsed.items] == ["a", "b"]


def test_character_references_are_well_formed() -> None:
    """References that XML itself defines break nothing, in items or outside."""
    text = b"<title>Q &amp; A &#38; so on</title>"
    body = b"<rss version='2.0'><channel>%b<item>%b<guid>1</guid></item></channel></rss>"
    document = parse_document(body % (text, text), XML, URL)
    assert not document.broken
    assert {document.title, document.items[0].title} == {"Q & A & so on"}


def test_items_beside_no_channel_are_a_feed() -> None:
    start, end = RSS_10.index(b"<channel"), RSS_10.index(b"</channel>") + len(b"</channel>")
    document = parse_document(RSS_10[:start] + RSS_10[end:], XML, URL)
    assert [item.title for item in document.items] == ["One"]


def test_only_new_items_are_parsed() -> None:
    """With the last window given back, known items are skipped and changed ones are not."""
    first = parse_document(rss("b", "a"), XML, URL)
    later = rss("c", "b", "a").replace(b"About a", b"Edited")
    second = parse_document(later, XML, URL, dict(first.window))
    assert [item.guid for item in second.items] == ["c", "a"]
    assert len(second.window) == 3
    assert second.items[1].key == first.items[1].key
    third = parse_document(later, XML, URL, dict(second.window))
    assert (third.items, third.window) == ((), second.window)


def test_a_known_item_without_content_is_left_out_alone() -> None:
    """Not with the end of the channel, which stands behind it."""
    document = rss("a").replace(b"</channel>", b"<item/></channel>")
    first = parse_document(document, XML, URL)
    assert [item.guid for item in first.items] == ["a", ""]
    assert parse_document(document, XML, URL, dict(first.window)).items == ()


def test_known_items_of_json_feeds_are_skipped() -> None:
    """The same holds for JSON Feed."""
    first = parse_document(JSON, XML, URL)
    assert parse_document(JSON, XML, URL, dict(first.window)).items == ()


def _sharing_one_id(*names: str) -> bytes:
    document = rss(*names)
    for name in names:
        document = document.replace(f"<guid>{name}<".encode(), b"<guid>same<")
    return document


def test_different_items_with_one_id() -> None:
    """Items that share an id stay apart, within a document and against known ones."""
    first = parse_document(_sharing_one_id("b", "a"), XML, URL)
    assert len({item.key for item in first.items}) == 2
    second = parse_document(_sharing_one_id("c", "b", "a"), XML, URL, dict(first.window))
    assert len(second.items) == 1
    assert second.items[0].key not in {item.key for item in first.items}


def test_a_window_is_stored_whole() -> None:
    """What is read back knows the same items; for a poll that reads all anew, only shared keys."""
    first = parse_document(_sharing_one_id("b", "a"), XML, URL)
    window = unpack(pack(first))
    assert window == dict(first.window)
    second = parse_document(_sharing_one_id("c", "b", "a"), XML, URL, window)
    assert [item.title for item in second.items] == ["c"]
    anew = parse_document(_sharing_one_id("b", "a"), XML, URL, shared_keys(window))
    assert {item.key for item in anew.items} == {item.key for item in first.items}


@pytest.mark.parametrize("shared", ["guid", "link", "guid and link"])
def test_an_id_that_all_items_share_never_names_one_of_them(shared: str) -> None:
    """Documents that overlap by one item, or by none: each item is had once, and none takes the
    place of one before it."""
    window: dict[bytes, bytes] = {}
    keys: list[bytes] = []
    for names in (["c", "b", "a"], ["d", "c", "b"], ["f", "e", "d"], ["h", "g"]):
        document = rss(*names)
        for name in names:
            guid, link = f"<guid>{name}</guid>", f"<link>http://feed.example/{name}</link>"
            if "link" in shared:
                document = document.replace(link.encode(), b"<link>http://feed.example/</link>")
            element = "<guid>x</guid>" if "guid" in shared else ""
            document = document.replace(guid.encode(), element.encode())
        parsed = parse_document(document, XML, URL, window)
        window = dict(parsed.window)
        keys += [item.key for item in parsed.items]
    assert len(keys) == len(set(keys)) == 8


def test_a_shared_id_stays_shared_while_it_is_away() -> None:
    """Of three items with one id the last one comes alone, after a document without the id."""
    first = parse_document(_sharing_one_id("b", "a"), XML, URL)
    between = parse_document(rss("other"), XML, URL, dict(first.window))
    last = parse_document(_sharing_one_id("c"), XML, URL, dict(between.window))
    assert (shared_ids(first.window), shared_ids(between.window)) == (1, 1)
    assert last.items[0].key != digest("same")


def test_of_the_ids_that_items_share_fifty_are_remembered() -> None:
    """A document cannot make what is stored of it long."""
    names = [f"{name}{number}" for number in range(60) for name in "ab"]
    document = rss(*names)
    for number in range(60):
        for name in "ab":
            mark = f"<guid>{name}{number}<".encode()
            document = document.replace(mark, b"<guid>same%d<" % number)
    parsed = parse_document(document, XML, URL)
    assert (len(parsed.items), shared_ids(parsed.window)) == (120, 50)


def test_the_same_item_twice() -> None:
    """A repeated item is one item."""
    assert len(parse_document(rss("a", "a"), XML, URL).items) == 1


def test_items_without_ids() -> None:
    """Without an id the address identifies an item, without that its words."""
    bare = rss("a", "b")
    for name in (b"a", b"b"):
        bare = bare.replace(b"<guid>" + name + b"</guid>", b"")
        bare = bare.replace(b"<link>http://feed.example/" + name + b"</link>", b"")
    assert len({item.key for item in parse_document(bare, XML, URL).items}) == 2


def test_no_more_than_a_thousand_items() -> None:
    """An endless document costs bounded work."""
    parsed = parse_document(rss(*(f"i{n}" for n in range(1_500))), XML, URL)
    assert (len(parsed.items), len(parsed.window)) == (1_000, 1_000)
    assert (parsed.items[0].title, parsed.left_out) == ("i0", 500)


@pytest.mark.parametrize("json_feed", [False, True])
def test_of_too_many_items_the_newest_are_read(json_feed: bool) -> None:
    """Also where a document begins with its oldest: what is new stands at the end there."""
    dates = [datetime.fromtimestamp(1_600_000_000 + 3600 * n, UTC) for n in range(1_030)]
    names = [f"i{n}" for n in range(1_030)]
    body = rss(*names)
    for name, date in zip(names, dates, strict=True):
        guid, dated = f"<guid>{name}</guid>", f"<pubDate>{format_rfc822(date)}</pubDate>"
        body = body.replace(guid.encode(), f"{guid}{dated}".encode())
    if json_feed:
        entries = [
            {"id": name, "title": name, "date_published": date.isoformat()}
            for name, date in zip(names, dates, strict=True)
        ]
        tree = {"version": "https://jsonfeed.org/version/1.1", "items": entries}
        body = json.dumps(tree).encode()
    parsed = parse_document(body, XML, URL)
    assert [parsed.items[0].title, parsed.items[-1].title] == ["i30", "i1029"]
    assert (len(parsed.items), parsed.left_out) == (1_000, 30)


@pytest.mark.parametrize(
    ("year", "understood"),
    [(1, False), (1900, False), (1989, False), (1990, True), (2026, True), (2100, False)],
)
def test_dates_that_cannot_be(year: int, understood: bool) -> None:
    """Dates before 1990 and after tomorrow are not believed."""
    now = datetime(2026, 11, 21, tzinfo=UTC)
    assert (plausible(datetime(year, 1, 1, tzinfo=UTC), now) is not None) == understood


@pytest.mark.parametrize(
    ("length", "seconds"),
    [(1800, 1800), (12.7, 12), (0.4, 0), (True, 0), (-3, 0), (math.nan, 0), (1e300, 0), ("9", 0)],
)
def test_how_long_a_json_attachment_plays(length: object, seconds: int) -> None:
    """Whole seconds of a number that may have a fraction; nothing else is believed."""
    file = {"url": "http://s.example/a.mp3", "duration_in_seconds": length}
    tree = {
        "version": "https://jsonfeed.org/version/1.1",
        "items": [{"id": 1, "content_text": "a", "attachments": [file]}],
    }
    parsed = parse_document(json.dumps(tree).encode(), XML, URL)
    assert parsed.items[0].details.duration_seconds == seconds


@pytest.mark.parametrize("document", [RSS_10, RSS_20, ATOM], ids=["RSS 1.0", "RSS 2.0", "Atom"])
def test_a_namespace_that_was_made_secure(document: bytes) -> None:
    """Templates of Svelte and searches for `http:` make names of vocabularies `https:`."""
    secure = document
    for host in (b"purl.org", b"www.w3.org/2005"):
        secure = secure.replace(b'="http://' + host, b'="https://' + host)
    assert secure != document
    read, meant = (parse_document(each, XML, URL) for each in (secure, document))
    assert (read.items, read.hints) == (meant.items, meant.hints)
