"""Feeds as strangers write them: one right ttl in each and everything else as it was, or a refusal;
and the rules of our doctor, which find nothing after the edit that was not there before."""

from datetime import UTC, datetime

import feedparser
import pytest

from publisher.dynamic_ttl.feed_head import HeadChange, NotEditable, edit, outline_of
from publisher.feeds import validation
from tests.dynamic_ttl.engines import ENGINES, document
from tests.dynamic_ttl.test_feed_head import EVERYTHING, told

ITEM = "<item><guid>1</guid><title>One</title><ttl>30</ttl></item>"
SY = 'xmlns:{0}="http://purl.org/rss/1.0/modules/syndication/"'
MEDIA = 'xmlns:m="http://search.yahoo.com/mrss/"'


def rss(inside: str = "", names: str = "", before: str = "", after: str = "") -> str:
    """RSS with something inside its head, its root's tag, before and after its root."""
    head = f"<title>A</title><link>https://a.example/</link>{inside}"
    return f'{before}<rss version="2.0" {names}><channel>{head}{ITEM}</channel></rss>{after}'


SHAPES = {
    "byte order mark": rss(before="\ufeff"),
    "carriage returns alone": rss("\r  <generator>x</generator>\r  "),
    "comment before the root": rss(before="<!-- <rss><channel><ttl>5</ttl> -->\n"),
    "doctype": rss(before='<!DOCTYPE rss [<!ELEMENT ttl (#PCDATA)>]>\n'),
    "instructions": rss("<?hint <ttl>9</ttl>?>", before='<?xml-stylesheet href="a>b.xsl"?>'),
    "after the root": rss(after="\n<!-- <ttl>9</ttl> -->\n"),
    "ttl twice": rss("<ttl>60</ttl><generator>x</generator><ttl>5</ttl>"),
    "ttl in CDATA": rss("<ttl><![CDATA[60]]></ttl>"),
    "ttl with a comment": rss("<ttl><!-- an hour -->60</ttl >"),
    "ttl empty": rss("<ttl/>"),
    "ttl without a number": rss("<ttl>soon</ttl>"),
    "ttl of another namespace": rss("<m:ttl>5</m:ttl>", MEDIA),
    "ttl deeper": rss("<image><title>A</title><ttl>5</ttl></image>"),
    "cdata that quotes a feed": rss("<about><![CDATA[<ttl>5</ttl></channel>]]></about>"),
    "module under another prefix": rss("<s:updatePeriod>daily</s:updatePeriod>", SY.format("s")),
    "prefix taken by something else": rss("<sy:x>1</sy:x>", 'xmlns:sy="https://other.example/"'),
    "module as default namespace": rss(f"<updatePeriod {SY.format('').replace(':=', '=')}>daily"
                                       "</updatePeriod>"),
    "namespace of old RSS": rss(names='xmlns="http://backend.userland.com/rss2"'),
    "namespace that we do not know": rss("<ttl>5</ttl>", 'xmlns="https://rss.example/RSS2"'),
    "attributes with brackets": rss("<cloud domain='>' path='/>&lt;/channel>'/>"),
    "spaces in end tags": rss("<ttl\n >60</ttl\n >"),
    "a second channel": rss().replace("</rss>", "<channel><title>B</title></channel></rss>"),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_one_right_ttl_and_nothing_else(name: str) -> None:
    """Once in the head, what items and others say stays; twice edited is once edited."""
    before = SHAPES[name].encode()
    after = edit(before, HeadChange(45))
    elements = [child for child in outline_of(after).children if child.name == "ttl"]
    assert len(elements) == 1
    assert b">45<" in after[elements[0].begin : elements[0].end]
    assert after.count(ITEM.encode()) == before.count(ITEM.encode()) == 1
    if not feedparser.parse(before).bozo:
        assert told(after) == told(before)
    assert edit(after, HeadChange(45)) == after
    assert edit(after, HeadChange(60)) != after


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (rss().encode("utf-16"), "UTF-16"),
        (rss().encode("utf-16-le"), "UTF-16"),
        (rss().encode("utf-32"), "UTF-16"),
        (b" " + rss(before='<?xml version="1.0"?>').encode(), "line 1 is broken XML"),
        (rss("&nbsp;").encode(), "line 1 is broken XML"),
        (rss("\x01").encode(), "line 1 is broken XML"),
        (rss("ü").encode("latin-1"), "line 1 is broken XML"),
        (rss("<m:x/>").encode() + b"<rss/>", "line 1 is broken XML"),
        (rss(before='<!DOCTYPE r SYSTEM "file:///etc/passwd" [<!ENTITY % p "x">]>').encode(),
         "declares entities"),
        (b"<opml><body/></opml>", "not a feed"),
        (b"\x1f\x8b\x08" + bytes(50), "compressed with gzip"),
        (b"%PDF-1.7", "broken XML"),
    ],
)  # fmt: skip
def test_what_is_not_understood_is_refused(broken: bytes, words: str) -> None:
    """One line."""
    with pytest.raises(NotEditable, match=words) as refusal:
        edit(broken, EVERYTHING)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_doctor_finds_nothing_new(engine: str) -> None:
    """The rules of FEEDS.md, as our doctor checks them, before and after."""
    now = datetime(2026, 11, 20, 12, tzinfo=UTC)
    for change in (HeadChange(15), HeadChange(480), EVERYTHING):
        before, after = (
            {f"{violation.rule} {violation.message}" for violation in validation.inspect(feed, now)}
            for feed in (document(engine), edit(document(engine), change))
        )
        assert after <= before


def test_ten_megabytes_are_edited() -> None:
    """A long feed is one parse and one copy."""
    long = rss(f"<description>{'x' * 10_000_000}</description>").encode()
    assert edit(long, HeadChange(45)).count(b"<ttl>45</ttl>") == 1
