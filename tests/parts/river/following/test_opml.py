"""Subscription lists, in and out."""

import contextlib
import time
from datetime import timedelta

import pytest
from sqlalchemy import select

from publisher.base.errors import InvalidData, InvalidInput
from publisher.feed_reading.parse import parse_sanitised
from publisher.installation import Site
from publisher.parts.river.following import subscriptions
from publisher.parts.river.following.opml import read_opml, write_opml
from publisher.parts.river.following.subscriptions import (
    Outline,
    everyone,
    subscribe,
    subscribe_all,
)
from publisher.parts.river.tables import RiverHost
from tests.conftest import FakeClock

LIST = b"""<?xml version="1.0" encoding="ISO-8859-1"?>
<opml version="1.1"><head><title>x</title></head><body>
<outline text="News"><outline text="Caf\xe9" title="" xmlUrl="http://a.example/feed" htmlUrl="http://a.example/"/>
 <outline text="Inner"><outline title="B" text="b" type="rss" xmlUrl="feed://b.example/f#x"/></outline>
</outline>
<outline text="Again" xmlUrl="http://a.example/feed"/>
<outline text="With login" xmlUrl="https://u:p@c.example/f"/>
<outline text="Bad" xmlUrl="ftp://d.example/"/><outline text="a note"/></body></opml>"""


def test_reading() -> None:
    """Folders come from nesting, an address counts once, logins are taken apart."""
    read = read_opml(LIST)
    outlines, refused = read.outlines, read.refused
    assert read.title == "x"
    assert [(o.url, o.title, o.folder) for o in outlines] == [
        ("http://a.example/feed", "Café", "News"),
        ("http://b.example/f", "b", "News/Inner"),
        ("https://c.example/f", "With login", ""),
    ]
    assert outlines[2].credentials is not None
    assert len(refused) == 1


@pytest.mark.parametrize(
    "document",
    [b"", b"hello", b"<opml><body>", b"<rss/>", b'<!DOCTYPE x [<!ENTITY a "b">]><opml>&a;</opml>'],
)
def test_broken_lists(document: bytes) -> None:
    """What is no OPML is refused in one sentence."""
    with pytest.raises(InvalidData, match="not an OPML"):
        read_opml(document)


DAMAGED = [
    '<outline text="News & Tech"><outline text="A" xmlUrl="https://a.example/f?x=1&y=2"/></outline>',
    '<outline text="A &raquo; B &nbsp;" xmlUrl="https://a.example/f?x=1&amp;y=2"/>',
    '<outline text="A" fz:quick="no" xmlUrl="https://a.example/f?x=1&amp;y=2"/>',
    '<outline text="a < b \x07" xmlUrl="https://a.example/f?x=1&amp;y=2"/>',
    '<outline text="A" xmlUrl="https://a.example/f?x=1&amp;y=2"></body></opml> and junk',
    '<outline text=A xmlUrl="https://a.example/f?x=1&amp;y=2"',
]


@pytest.mark.parametrize("line", DAMAGED)
def test_a_damaged_list_is_read_as_it_is_meant(line: str) -> None:
    """As feeds are; and it is told. A list that breaks off says so."""
    line = line if line.endswith((">", "junk")) else f"{line}/>"
    read = read_opml(f"<opml version='2.0'><head/><body>{line}</body></opml>".encode())
    assert [outline.url for outline in read.outlines] == ["https://a.example/f?x=1&y=2"]
    assert [remark.kind for remark in read.remarks] == ["not-well-formed"]
    assert not read.cut_off
    assert read_opml(f"<opml><body>{line.partition('</body>')[0]}".encode()).cut_off


@pytest.mark.parametrize("between", ["", "\n", "<!-- the second -->\n", "<?xml version='1.0'?>"])
def test_lists_that_were_joined_to_one_file(between: str) -> None:
    """The feeds of both are read, and a title is the first list's."""
    first, second = (
        f"<opml version='2.0'><head><title>{n}</title></head><body>"
        f"<outline type='rss' text='{n}' xmlUrl='https://{n}.example/f'/></body></opml>"
        for n in ("a", "b")
    )
    listed = read_opml(f"{first}{between}{second}".encode())
    assert [outline.url for outline in listed.outlines] == [
        "https://a.example/f", "https://b.example/f",
    ]  # fmt: skip
    assert (listed.title, listed.cut_off, bool(listed.remarks)) == ("a", False, True)


@pytest.mark.parametrize("piece", ["</opml>", "</opml><!--", "</opml><!-- -->", "</opml><?"])
def test_ends_without_end_take_linear_time(piece: str) -> None:
    """Hundreds of kilobytes of them are refused or read within a second or so."""
    begin = time.process_time()
    with contextlib.suppress(InvalidData):
        read_opml(b"<opml><body><outline xmlUrl='https://a.example/'/>" + piece.encode() * 60_000)
    assert time.process_time() - begin < 3


@pytest.mark.parametrize("name", ["xmlUrl", "xmlURL", "XMLURL", "type='rss' url"])
def test_spellings_of_the_address(name: str) -> None:
    document = f"<opml><body><outline text='A' {name}='https://a.example/f'/></body></opml>"
    assert [outline.url for outline in read_opml(document.encode()).outlines] == [
        "https://a.example/f"
    ]


def test_ten_thousand_are_the_most(site: Site, clock: FakeClock) -> None:
    """A list of one more is refused, and none of it is followed."""
    outlines = [Outline(f"https://a.example/{n}") for n in range(10_001)]
    with site.database.write() as db:
        with pytest.raises(InvalidInput, match="10,001 feeds; at most 10,000"):
            subscriptions.subscribe_all(db, outlines, clock())
        assert subscriptions.everyone(db) == []


def test_a_long_list_and_a_round_trip(
    site: Site, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is taken in one go up to the limit; its export brings it back; twice adds nothing."""
    monkeypatch.setattr(subscriptions, "MOST_AT_ONCE", 600)
    lines = "".join(
        f'<outline text="Feed {n}" xmlUrl="http://h{n % 30}.example/{n}"/>' for n in range(600)
    )
    document = f"<opml><body><outline text='All'>{lines}</outline></body></opml>".encode()
    read = read_opml(document)
    outlines = read.outlines
    assert (len(outlines), read.refused) == (600, [])
    with site.database.write() as db:
        assert subscriptions.subscribe_all(db, outlines, clock()) == 600
        assert subscriptions.subscribe_all(db, outlines, clock()) == 0
    with site.database.read() as db:
        again = read_opml(write_opml("T", subscriptions.everyone(db))).outlines
    assert {(o.url, o.title, o.folder) for o in again} == {
        (o.url, o.title, o.folder) for o in outlines
    }


def test_a_list_on_hosts_that_are_known_and_new(site: Site, clock: FakeClock) -> None:
    """A host that rests until evening has its turn at once for its new feed; a new one too."""
    now, evening = clock(), clock() + timedelta(hours=9)
    with site.database.write() as db:
        subscriptions.subscribe(db, "http://a.example/1", now, evening)
        outlines = [
            subscriptions.Outline("http://a.example/2"),
            subscriptions.Outline("http://b.example/1"),
        ]
        assert subscriptions.subscribe_all(db, outlines, now) == 2
    with site.database.read() as db:
        hosts = {host.name: host.free_at for host in db.scalars(select(RiverHost))}
    assert hosts == {"a.example": now, "b.example": now + timedelta(seconds=1)}


def test_nothing_is_lost_between_two_rivers(site: Site) -> None:
    """Nested folders, own titles, policies and pauses come through; the public list tells none."""
    now = site.clock()
    listed = [
        Outline("http://a.example/f", "Mine", "http://a.example/", "Tech/Linux", None, "doubling"),
        Outline("http://b.example/f", "B", "", "Tech", None, "", True),
        Outline("http://c.example/f"),
        Outline("http://d.example/f", "D", "", "News/Tech", None, "observed"),
        Outline("http://e.example/list.opml", "E", "", "Lists", is_list=True),
    ]
    with site.database.write() as db:
        subscribe_all(db, listed, now)
        document = write_opml("x", everyone(db))
        public = write_opml("x", everyone(db), complete=False)
    again = read_opml(document)
    assert sorted(again.outlines, key=lambda row: row.url) == listed
    assert again.refused == []
    assert b"doubling" not in public
    assert b"paused" not in public
    assert document.count(b'text="Tech"') == 2


def test_a_policy_that_is_none_is_left_out() -> None:
    document = (
        b'<opml xmlns:r="urn:publisher:river"><body><outline text="a/b"><outline'
        b' xmlUrl="http://a.example/" r:policy="guess"/></outline></body></opml>'
    )
    read = read_opml(document)
    (outline,) = read.outlines
    assert (outline.policy, outline.folder) == ("", "a-b")
    assert "guess" in read.refused[0]


def test_a_title_that_xml_cannot_carry(site: Site) -> None:
    """A stranger's reference to an escape character must not break the list, here and elsewhere."""
    feed = b"<rss version='2.0'><channel><title>A&#27;[31m</title><item><title>&#27;b</title>"
    feed += b"<category>&#27;c</category><author>&#27;d</author><description>&#27;e</description>"
    document = parse_sanitised(feed + b"</item></channel></rss>", "text/xml", "https://a.example/")
    assert "\x1b" not in repr(document)
    with site.database.write() as db:
        row = subscribe(db, "https://a.example/", site.clock(), site.clock(), title=document.title)
        assert read_opml(write_opml("x", [row])).outlines[0].title == "A[31m"


def test_a_site_is_an_address_of_the_web() -> None:
    """What a list calls a feed's site becomes a link on our pages and in our own lists."""
    listed = (
        b'<opml><body><outline xmlUrl="http://a.example/f" htmlUrl="javascript:a()"/></body></opml>'
    )
    assert read_opml(listed).outlines[0].site_url == ""
