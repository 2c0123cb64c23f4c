"""The editor of a feed's head: its own bytes and no others, in whatever shape an engine writes."""

import re

import feedparser
import pytest
from hypothesis import given
from hypothesis import strategies as st

from publisher.dynamic_ttl.core.durations import update_rate
from publisher.dynamic_ttl.feed_head import HeadChange, NotEditable, edit, outline_of
from publisher.feed_reading.scan import scan
from tests.dynamic_ttl.engines import ENGINES, document

# The bytes that are ours to change, with the white space before them.
OURS = re.compile(
    rb"\s*(?:<ttl>[^<]*</ttl>|<sy:update(Period|Frequency|Base)[^>]*>[^<]*</sy:update\1>"
    rb"|<cloud[^>]*>|<(?:atom:)?link\b[^>]*\brel=.(?:self|hub)\b[^>]*>)"
)
EVERYTHING = HeadChange(45, "https://mirror.example/feed?a=1&b=2", ("https://hub.example/",), ())


def outside(feed: bytes) -> bytes:
    """A document without what is ours in its head; what its items say stays."""
    at = outline_of(feed).first_item
    after = feed[at:].replace(b"<ttl>30</ttl>", b"").replace(b"<ttl>45</ttl>", b"")
    return OURS.sub(b"", feed[:at]).rstrip() + after.lstrip()


def told(feed: bytes) -> list[tuple[str | None, str | None]]:
    """What a reader sees of the items, and of the feed's title."""
    tree = feedparser.parse(feed, response_headers={"content-type": "application/xml"})
    assert not tree.bozo or isinstance(tree.bozo_exception, feedparser.CharacterEncodingOverride)
    items = [(entry.get("id"), str(entry.get("summary"))) for entry in tree.entries]
    return [(tree.feed.get("title"), tree.feed.get("link")), *items]


@pytest.mark.parametrize("engine", ENGINES)
def test_every_byte_but_ours_stays(engine: str) -> None:
    """For each engine's feed: only our elements differ, and a reader sees what it saw before."""
    before = document(engine)
    after = edit(before, EVERYTHING)
    assert outside(after) == outside(before)
    assert edit(after, EVERYTHING) == after
    assert told(after) == told(before)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("minutes", [15, 60, 480, 7])
def test_readers_are_told_the_ttl(engine: str, minutes: int) -> None:
    """One ttl, and a syndication module that says the same or nothing; Atom has neither."""
    before = document(engine)
    after = edit(before, HeadChange(minutes))
    hints, kind = scan(after).hints, outline_of(after).kind
    if kind == "atom":
        assert after == before
        return
    assert hints.ttl_minutes == (minutes if kind == "rss" else None)
    assert hints.syndication_minutes == (minutes if update_rate(minutes) else None)
    assert after.count(b"updateBase") == 0
    elements = [child.name for child in outline_of(after).children if "update" in child.name]
    assert len(elements) == len(set(elements))


@pytest.mark.parametrize("engine", ENGINES)
def test_links_are_replaced(engine: str) -> None:
    """One self and the hubs that were asked for, wherever there were others or none."""
    after = edit(document(engine), EVERYTHING)
    links = [
        (child.attributes["rel"], child.attributes["href"])
        for child in outline_of(after).children
        if child.name.endswith(" link") and child.attributes.get("rel") in ("self", "hub")
    ]
    assert sorted(links) == [
        ("hub", "https://hub.example/"),
        ("self", "https://mirror.example/feed?a=1&b=2"),
    ]
    assert not [child for child in outline_of(after).children if child.name == "cloud"]


def test_a_cloud_of_ours_takes_the_place_of_theirs() -> None:
    """The attributes as given, in order."""
    ours = (("domain", "b.example"), ("port", "443"), ("path", "/n"))
    after = edit(document("scripting"), HeadChange(cloud=ours))
    assert b'<cloud domain="b.example" port="443" path="/n"/>' in after
    assert after.count(b"<cloud") == 1


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (b"", "line 1 is broken XML"),
        (b"<html><body>no feed</body></html>", "not a feed"),
        (b'{"version": "https://jsonfeed.org/version/1.1"}', "JSON Feed has no ttl"),
        (b"<rss><channel>\n<title>&nbsp;</title></channel></rss>", "line 2 is broken XML"),
        (b"<rss><channel><title>cut o", "line 1 is broken XML"),
        (b"<rss version='2.0'/>", "not a feed"),
        (b"<rss version='2.0'><channel/></rss>", "its channel is empty"),
        (b'<!DOCTYPE r [<!ENTITY a "b">]><rss><channel></channel></rss>', "declares entities"),
        ("<rss><channel></channel></rss>".encode("utf-16"), "UTF-16"),
        (
            b"<?xml version='1.0' encoding='shift_jis'?><rss><channel></channel></rss>",
            "write it in UTF-8",
        ),
        (b"<?xml version='1.0' encoding='no-such'?><rss><channel></channel></rss>", "unknown"),
        (b"<rss>" + b"<a>" * 300, "nested too deeply"),
        (b"<rss><a %s/>" % b" ".join(b"a%d='1'" % n for n in range(300)), "too many attributes"),
    ],
)
def test_what_cannot_be_edited_is_refused(broken: bytes, message: str) -> None:
    """One sentence, and nothing half done."""
    with pytest.raises(NotEditable, match=message):
        edit(broken, HeadChange(15))


@given(
    engine=st.sampled_from(sorted(ENGINES)),
    place=st.integers(0, 2_000),
    noise=st.binary(max_size=6),
    cut=st.integers(0, 6),
)
def test_damage_is_refused_or_survived(engine: str, place: int, noise: bytes, cut: int) -> None:
    """Whatever stands in a document, it is edited or refused, and what was edited stays so."""
    feed = document(engine)
    damaged = feed[:place] + noise + feed[place + cut :]
    try:
        after = edit(damaged, EVERYTHING)
    except NotEditable:
        return
    assert edit(after, EVERYTHING) == after
