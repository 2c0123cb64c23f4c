"""The feed doctor: finds each broken rule in the bytes, and keeps bad documents from readers."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import given, settings
from hypothesis import strategies as st

from publisher.base.text import clean
from publisher.blog.markup.markdown import render as markdown
from publisher.blog.markup.safe_html import absolute
from publisher.feeds import atom, jsonfeed, rss, validation
from publisher.feeds.channel import Channel, relative_addresses
from publisher.installation import Site
from publisher.publishing import snapshots
from publisher.publishing.rebuild import rebuild
from tests.conftest import FakeClock
from tests.factories import PASSWORD, make_author, make_post
from tests.feeds.samples import MORNING, channel, everything, item

GOOD = everything()
BODY = rss.render(GOOD)


def rules(body: bytes, meant: Channel = GOOD) -> set[str]:
    """The rules that an RSS document breaks; R13 is not asked here."""
    violations = validation.examine("rss", meant, MORNING, lambda _: body, body)
    return {problem.rule for problem in violations}


def test_our_own_documents_are_well() -> None:
    """The sample with everything in it keeps every rule, in all three formats."""
    for name, form in (("rss", rss), ("atom", atom), ("json", jsonfeed)):
        body = form.render(GOOD)
        assert validation.examine(name, GOOD, MORNING, form.render, body) == []


BREAKS = [
    ("R1", b'version="2.0"', b'version="0.91"'),
    ("R1", b'version="2.0"', b'version="3.0"'),
    ("R1", b"</channel>", b""),
    ("R1", b"</channel>", b"</channel><channel/>"),
    ("R1", b"<language>en</language>", b""),
    ("R1", b"<description>Notes, as they come.</description>", b"<description> </description>"),
    ("R2", b"<ttl>15</ttl>", b""),
    ("R2", b"<ttl>15</ttl>", b"<ttl>0</ttl>"),
    ("R2", b"<ttl>15</ttl>", b"<ttl>15.0</ttl>"),
    ("R2", b"<ttl>15</ttl>", b"<ttl>60</ttl>"),
    ("R2", b"<ttl>15</ttl>", b"<ttl>15</ttl><ttl>15</ttl>"),
    ("R3", b"<ttl>", b"<skipHours><hour>24</hour></skipHours><ttl>"),
    ("R3", b"<ttl>", b"<skipHours><hour>23</hour><hour>1</hour></skipHours><ttl>"),
    ("R3", b"<ttl>", b"<skipHours></skipHours><ttl>"),
    ("R4", b"<lastBuildDate>", b"<lastBuildDate>x"),
    ("R4", b"<lastBuildDate>Mon, 04 Mar 2024", b"<lastBuildDate>Mon, 12 Feb 2024"),
    ("R4", b"09:30:00 +0000</lastBuildDate>", b"09:29:59 +0000</lastBuildDate>"),
    ("R5", b"<pubDate>Mon, ", b"<pubDate>Montag, "),
    ("R5", b"Mar 2024 08:30:00 +0000</pubDate>", b"Mar 2034 08:30:00 +0000</pubDate>"),
    ("R5", b"Mar 2024 08:30:00 +0000</pubDate>", b"Mar 24 08:30:00 +0000</pubDate>"),
    ("R6", b"<item>", b"<item><title> </title>"),
    ("R7", b'isPermaLink="false"', b'isPermaLink="true"'),
    ("R9", b'rel="self"', b'rel="alternate"'),
    ("R9", b"<item>", b'<item><description>&lt;img src="a.png"&gt;</description>'),
    ("R9", b'rel="hub"', b'rel="up"'),
    ("R11", b"<cloud ", b'<cloud domain="x"/><cloud '),
    ("R11", b"<cloud ", b"<clouds "),
    ("R11", b' registerProcedure="', b' unknown="'),
    ("R12", b">hourly<", b">daily<"),
    ("R12", b"<sy:updateFrequency>4</sy:updateFrequency>", b""),
]


def test_each_broken_rule_is_found() -> None:
    """One change to the bytes, and the doctor names the rule."""
    assert all(good in BODY for _, good, _ in BREAKS)
    assert not [
        (rule, good, bad, found)
        for rule, good, bad in BREAKS
        if rule not in (found := rules(BODY.replace(good, bad, 1)))
    ]


def test_order_of_description_and_content() -> None:
    """R8: a reader that stops at the first text must find the summary."""
    body = rss.render(channel(item(summary="In short.")))
    start, end = body.index(b"<description>In short"), body.index(b"<content:encoded>")
    stop = body.index(b"</content:encoded>") + len(b"</content:encoded>")
    swapped = body[:start] + body[end:stop] + body[start:end] + body[stop:]
    meant = channel(item(summary="In short."))
    assert rules(swapped, meant) == {"R8"}
    assert rules(body, meant) == set()


def test_this_very_second_is_not_in_the_future() -> None:
    """R5: an item may be as old as the document."""
    published = MORNING.replace(hour=8)
    assert validation.inspect(FOREIGN, published) == []
    early = validation.inspect(FOREIGN, published - timedelta(seconds=1))
    assert [problem.rule for problem in early] == ["R5"]


@pytest.mark.parametrize(
    ("html", "addresses"),
    [
        ('<a href="#note">x</a><a href="mailto:a@b.example">y</a><a href=" https://c/ ">z</a>', ()),
        ('<a href="/p">x</a><img src="p.png"><a href="//c/">y</a>', ("/p", "p.png", "//c/")),
        ('<a name="/p" href>x</a>', ("",)),
    ],
)
def test_addresses_that_readers_cannot_follow(html: str, addresses: tuple[str, ...]) -> None:
    """R9: an address needs a scheme, unless it is a place in the same text."""
    assert relative_addresses(html) == addresses


@pytest.mark.parametrize("minutes", [b"14", b"16"])
def test_determinism(minutes: bytes) -> None:
    """R13 is about making it twice."""
    again = BODY.replace(b"15", minutes)
    violations = validation.examine("rss", GOOD, MORNING, _always(again), BODY)
    assert [problem.rule for problem in violations] == ["R13"]


FOREIGN = b"""<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"
 xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"
 xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>T</title>
<link>https://else.example/</link><description>D</description><ttl>60</ttl>
<item><title>One</title><guid>https://else.example/1</guid>
<pubDate>Mon, 04 Mar 2024 08:30:00 +0000</pubDate></item></channel></rss>"""
SY = b"<sy:updatePeriod>hourly</sy:updatePeriod><sy:updateFrequency>%d</sy:updateFrequency>"
ENTRY = (
    b"<id>1</id><title>A</title><updated>2024-03-04T08:00:00Z</updated><published>%s</published>"
)
ATOM = (
    b"""<feed xmlns="http://www.w3.org/2005/Atom"><id>f</id><title>T</title>
<updated>2024-03-04T08:00:00Z</updated><entry>%s</entry></feed>"""
    % ENTRY
)


def after_ttl(more: bytes) -> bytes:
    """The foreign feed with `more` behind its ttl."""
    return FOREIGN.replace(b"</ttl>", b"</ttl>" + more)


ENTRY = b'{"id": "%d", "date_published": "2024-03-04T08:00:00Z"}'
LONG_JSON = b'{"version": "https://jsonfeed.org/version/1.1", "title": "T", "items": [%s]}' % (
    b",".join(ENTRY % number for number in range(300))
)
NEEDS_DATE = "each item needs a pubDate of RFC 822 with a year of four digits"


FOREIGN_FEEDS: list[tuple[bytes, list[str]]] = [
    (FOREIGN, []),
    (b"\xef\xbb\xbf" + FOREIGN, []),
    (FOREIGN.replace(b"<title>T</title>", b""), ["R1 the channel needs one title"]),
    (FOREIGN.replace(b"<ttl>60</ttl>", b""), []),
    (FOREIGN.replace(b"<ttl>60</ttl>", SY % 3), []),
    (
        FOREIGN.replace(b"60", b"1234567"),
        ["R2 ttl must be one whole number of minutes, not ['1234567']"],
    ),
    (after_ttl(SY % 1), []),
    (after_ttl((SY % 1).replace(b">", b">\n\t")), []),  # as WordPress writes it
    (after_ttl(SY % 2), ["R12 sy says ('hourly', '2'), the ttl is 60 minutes"]),
    (
        FOREIGN.replace(b"60</ttl>", b"7</ttl><sy:updatePeriod>hourly</sy:updatePeriod>"),
        ["R12 sy says ('hourly', None), the ttl is 7 minutes"],
    ),
    (
        after_ttl(b"<skipHours><hour>3</hour><hour>24</hour></skipHours>"),
        ["R3 skipHours must be different hours from 0 to 23 in order, not ['3', '24']"],
    ),
    (
        FOREIGN.replace(b"</item>", b"</item>" + FOREIGN[FOREIGN.index(b"<item>") : -16]),
        ["R7 each item needs a guid of its own"],
    ),
    (
        FOREIGN.replace(b"<guid>https://else.example/1</guid>", b""),
        ["R7 each item needs a guid of its own"],
    ),
    (
        after_ttl(b"<skipHours><hour>3</hour></skipHours>" * 2),
        ["R3 there is more than one skipHours"],
    ),
    (
        after_ttl(b'<atom:link rel="self" href="https://f.example"/>' * 2),
        [f"R9 one self link with a whole address is enough, not {['https://f.example'] * 2}"],
    ),
    (
        FOREIGN.replace(b"60</ttl>", b"x</ttl>" + SY % 2),
        ["R2 ttl must be one whole number of minutes, not ['x']"],
    ),
    (after_ttl(b"<skipHours><hour>0</hour><hour>23</hour></skipHours>"), []),
    (
        after_ttl(b"<skipHours><hour>5</hour><hour>4</hour></skipHours>"),
        ["R3 skipHours must be different hours from 0 to 23 in order, not ['5', '4']"],
    ),
    (FOREIGN.replace(b"2024 08:30:00 +0000", b"24"), [f"R5 {NEEDS_DATE}"]),
    (FOREIGN.replace(b"04 Mar", b"31 Feb"), [f"R5 {NEEDS_DATE}"]),
    (
        after_ttl(b"<lastBuildDate>Mon, 04 Mar 2024 08:29:59 GMT</lastBuildDate>"),
        ["R4 lastBuildDate is older than the newest item"],
    ),
    (
        FOREIGN.replace(b"<title>One</title>", b""),
        ["R6 item 1: it has neither a title nor a description"],
    ),
    (
        FOREIGN.replace(b"https://else.example/1", b"urn:1"),
        ["R7 item 1: its guid says that it is a permalink, but is not an address"],
    ),
    (
        FOREIGN.replace(
            b"<title>One</title>", b"<title>One</title><content:encoded>x</content:encoded>"
        ),
        ["R8 item 1: content:encoded stands before the description"],
    ),
    (
        FOREIGN.replace(
            b"</guid>", b'</guid><description>&lt;a href="' + 90 * b"a" + b'"&gt;</description>'
        ),
        [f"R9 item 1: its text has a relative address: '{80 * 'a'}'"],
    ),
    (after_ttl(b'<atom:link rel="self" href="https://else.example/f"/>'), []),
    (
        after_ttl(b'<atom:link rel="self" href="/f"/>'),
        ["R9 one self link with a whole address is enough, not ['/f']"],
    ),
    (
        after_ttl(b'<cloud domain="d" port="80" path="/"/>'),
        ["R11 cloud lacks registerProcedure, protocol"],
    ),
    (ATOM % b"2024-03-04T08:00:00Z", []),
    (
        ATOM.replace(b"<id>1</id>", b"") % b"2024-03-04T08:00:00Z",
        ["R1 the feed and each entry need a id"],
    ),
    (ATOM % b"2034-03-04T08:00:00Z", ["R5 a date is in the future: 2034-03-04T08:00:00Z"]),
    (ATOM % b"yesterday", ["R5 not a date: 'yesterday'"]),
    (b' {"version": "https://jsonfeed.org/version/1.1", "title": "T"}', []),
    (b' {"version": "https://jsonfeed.org/version/1", "title": "T"}', []),
    (LONG_JSON, []),
    (b'<list xmlns="urn:x"/>', ["R1 it is not RSS 2.0 with one channel"]),
    (FOREIGN.replace(b"rss", b"rsr"), ["R1 it is not RSS 2.0 with one channel"]),
    (FOREIGN.replace(b"rss", b"rst"), ["R1 it is not RSS 2.0 with one channel"]),
    (b'<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>', []),
    (
        b'<?xml version="1.0" encoding="GBK"?><rss/>',
        ["R1 it cannot be parsed: only UTF-8 is read everywhere"],
    ),
    (
        b' {"version": "https://jsonfeed.org/version/2", "title": "T"}',
        ["R1 it is not JSON Feed 1.1 with a title"],
    ),
    (
        b'{"version": "https://jsonfeed.org/version/1.1", "title": "T", "items": [{"id": 1}]}',
        ["R7 each item needs an id of its own, as a string", "R5 not a date: None"],
    ),
]


def problems_of(document: bytes) -> list[str]:
    violations = validation.inspect(document, MORNING)
    return [f"{problem.rule} {problem.message}" for problem in violations]


def test_a_feed_that_was_not_made_here() -> None:
    """Exactly what is wrong with it, and nothing that only our own feeds must have."""
    wrong = [
        (document, problems, got)
        for document, problems in FOREIGN_FEEDS
        if (got := problems_of(document)) != problems
    ]
    assert not wrong


def test_each_kind_of_problem_once_and_twenty_at_most() -> None:
    """A thousand items with one fault are one line."""
    start = FOREIGN.index(b"<item>")
    item_of = FOREIGN[start : FOREIGN.index(b"</channel>")]
    many = b"".join(item_of.replace(b"else.example/1", b"else.example/%d" % n) for n in range(99))
    body = FOREIGN.replace(item_of, many.replace(b"<title>One</title>", b""))
    assert [p.message for p in validation.inspect(body, MORNING)] == [
        "item 1: it has neither a title nor a description"
    ]
    links = b"".join(b"&lt;a href=x%d&gt;" % n for n in range(30))
    body = FOREIGN.replace(b"</guid>", b"</guid><description>" + links + b"</description>")
    assert [p.message for p in validation.inspect(body, MORNING)] == [
        "item 1: its text has a relative address: 'x0'"
    ]
    names = (b"domain", b"port", b"path", b"protocol", b"registerProcedure")
    subsets = [[name for bit, name in enumerate(names) if n >> bit & 1] for n in range(31)]
    clouds = b"".join(b"<cloud %s/>" % b" ".join(n + b'=""' for n in some) for some in subsets)
    assert len({p.message for p in validation.inspect(after_ttl(clouds), MORNING)}) == 20


def _always(body: bytes) -> Callable[[Channel], bytes]:
    return lambda _: body


@pytest.mark.parametrize("address", ["https://blog.example/a", "https://blog.example/z"])
def test_atom_and_json_are_examined_too(address: str) -> None:
    """A wrong self link, a date in the future, an id that is used twice."""
    twice = channel(item(1), item(1, published_at=MORNING + timedelta(days=1)))
    for name, form in (("atom", atom), ("json", jsonfeed)):
        body = form.render(twice)
        meant = replace(twice, feed_url=address)
        violations = validation.examine(name, meant, MORNING, _always(body), body)
        assert {problem.rule for problem in violations} == {"R5", "R7", "R9"}


@pytest.mark.parametrize("other", [BODY, b'<feed xmlns="urn:x"/>'])
def test_another_format_in_place_of_atom_is_found(other: bytes) -> None:
    violations = validation.examine("atom", GOOD, MORNING, _always(other), other)
    assert [(violation.rule, violation.message) for violation in violations] == [
        ("R1", "it is not an Atom feed")
    ]


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200), st.sampled_from(["", "[a](b)", '<a href="x">', "![](p.png)", "[^1]"]))
def test_whatever_an_author_writes_the_feed_is_well(text: str, extra: str) -> None:
    """No text freezes the feed: what the program makes of it keeps the rules."""
    html = clean(absolute(markdown(f"{text}\n\n{extra}"), "https://blog.example/posts/1"))
    meant = channel(item(html=html or "<p></p>"))
    assert rules(rss.render(meant), meant) == set()


def test_a_bad_document_never_replaces_a_good_one(
    app: Flask, client: FlaskClient, site: Site, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Readers keep the last good bytes, the author is told, and it heals by itself."""
    app.config["FORM_KEYS"] = False
    make_author(site)
    client.post("/studio/login", data={"name": "ada", "password": PASSWORD})
    make_post(site, "The first note.")
    rebuild(site)
    clock.forward(minutes=5)
    whole = rss.render
    monkeypatch.setattr(rss, "render", lambda made: whole(made).replace(b"<ttl>", b"<ttl>0"))
    make_post(site, "The second note.")
    rebuild(site)
    app.extensions["front"].refresh()
    assert b"The second note" not in client.get("/rss.xml").data
    assert b"The second note" in client.get("/atom.xml").data
    with site.database.read() as session:
        since, violations = snapshots.known_problems(session)
    assert (since, [problem.rule for problem in violations]) == (clock(), ["R2"])
    assert "A new version was not published" in client.get("/studio/feed").text
    assert "A new version of the feed was not published" in client.get("/studio/").text
    monkeypatch.setattr(rss, "render", whole)
    rebuild(site)
    app.extensions["front"].refresh()
    assert b"The second note" in client.get("/rss.xml").data
    assert "was not published" not in client.get("/studio/").text + client.get("/studio/feed").text


def test_with_nothing_before_it_a_bad_document_is_better_than_none(
    site: Site, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The very first build is served whatever the doctor says."""
    whole = rss.render
    monkeypatch.setattr(rss, "render", lambda made: whole(made).replace(b"<ttl>", b"<ttl>0"))
    assert b"<ttl>0480" in rebuild(site).body
