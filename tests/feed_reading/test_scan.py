"""The first look at a document: its kind, its hints, its entities, where its items are."""

from contextlib import nullcontext

import pytest

from publisher.feed_reading.scan import (
    DocumentHints,
    Scan,
    UnsafeDocument,
    expanded,
    first_tag,
    scan,
)

SY = "xmlns:sy='http://purl.org/rss/1.0/modules/syndication/'"


def of(channel: str) -> Scan:
    return scan(f"<rss {SY}><channel>{channel}</channel></rss>".encode())


@pytest.mark.parametrize(
    ("root", "kind"),
    [
        ("rss", "rss"),
        ("RSS", "rss"),
        ("rdf", "rdf"),
        ("RDF", "rdf"),
        ("feed", "atom"),
        ("opml", ""),
    ],
)
def test_the_kind_of_a_document(root: str, kind: str) -> None:
    assert scan(f"<{root}/>".encode()).kind == kind


HOUR = "<skipHours><hour>{}</hour></skipHours>"
DAY = "<skipDays><day>{}</day></skipDays>"
PERIOD = "<sy:updatePeriod>{}</sy:updatePeriod>"
OFTEN = "<sy:updateFrequency>{}</sy:updateFrequency>"


@pytest.mark.parametrize(
    ("channel", "hints"),
    [
        ("<ttl>1</ttl>", DocumentHints(ttl_minutes=1)),
        ("<ttl>527040</ttl>", DocumentHints(ttl_minutes=527_040)),
        ("<ttl>527041</ttl>", DocumentHints(ttl_minutes=527_040)),
        ("<ttl>5</ttl><ttl>6</ttl>", DocumentHints(ttl_minutes=5)),
        ("<ttl>5<b/></ttl>", DocumentHints()),
        ("<ttl><b/>5</ttl>", DocumentHints(ttl_minutes=5)),
        (f"<ttl>{' ' * 98}5</ttl>", DocumentHints(ttl_minutes=5)),
        (f"<ttl>{' ' * 99}5</ttl>", DocumentHints()),
        ("<a><ttl>5</ttl></a>", DocumentHints()),
        ("<a>1</a><ttl>5</ttl>", DocumentHints(ttl_minutes=5)),
        (HOUR.format(0) + HOUR.format(23), DocumentHints(skip_hours=frozenset({0, 23}))),
        (HOUR.format(24), DocumentHints(skip_hours=frozenset({0}))),
        (HOUR.format(25) + HOUR.format("x"), DocumentHints()),
        ("<hour>5</hour>", DocumentHints()),
        (DAY.format("monday"), DocumentHints(skip_days=frozenset({0}))),
        (DAY.format("SUNDAY") + DAY.format("Mon"), DocumentHints(skip_days=frozenset({6}))),
        (PERIOD.format("hourly"), DocumentHints(syndication_minutes=60)),
        (PERIOD.format("daily"), DocumentHints(syndication_minutes=1_440)),
        (PERIOD.format("Weekly"), DocumentHints(syndication_minutes=10_080)),
        (PERIOD.format("yearly") * 2, DocumentHints(syndication_minutes=525_600)),
        (PERIOD.format("daily") + OFTEN.format(7), DocumentHints(syndication_minutes=205)),
        (PERIOD.format("daily") + OFTEN.format(0), DocumentHints(syndication_minutes=1_440)),
        (PERIOD.format("hourly") + OFTEN.format(60), DocumentHints(syndication_minutes=1)),
        (PERIOD.format("hourly") + OFTEN.format(61), DocumentHints(syndication_minutes=1)),
        (PERIOD.format("hourly") + OFTEN.format(2) + OFTEN.format(3),
         DocumentHints(syndication_minutes=30)),
        (PERIOD.format("hourly") + PERIOD.format("daily"), DocumentHints(syndication_minutes=60)),
        (OFTEN.format(2), DocumentHints()),
        ("<updatePeriod>daily</updatePeriod>", DocumentHints()),
    ],
)  # fmt: skip
def test_hints(channel: str, hints: DocumentHints) -> None:
    """The first of several, in its own place, within bounds; else none."""
    assert of(channel).hints == hints


def test_hints_of_atom_stand_in_the_feed() -> None:
    feed = f"<feed {SY}>{PERIOD.format('daily')}{OFTEN.format(3)}</feed>"
    assert scan(feed.encode()).hints == DocumentHints(syndication_minutes=480)


@pytest.mark.parametrize(
    ("document", "items"),
    [
        (b"<rss><channel>a<item>b</item>c<item/></channel></rss>", [b"<item>b</item>", b"<item/>"]),
        (b"<rss><item a='>'><item/>b</item ></rss>", [b"<item a='>'><item/>b</item >"]),
        (b"<feed><entry><a><b/></a></entry></feed>", [b"<entry><a><b/></a></entry>"]),
        (b"<feed xmlns:a='u'><a:entry>/></a:entry><entry a='/'/></feed>",
         [b"<a:entry>/></a:entry>", b"<entry a='/'/>"]),
        (b"<rss><channel><a><item/></a></channel></rss>", []),
        (b"<rss><channel><items/></channel></rss>", []),
        (b"<rss><channel><item>a</item><item>b", [b"<item>a</item>"]),
    ],
)  # fmt: skip
def test_where_items_are(document: bytes, items: list[bytes]) -> None:
    """At the third level at most; one that is not closed is none."""
    assert [document[start:end] for start, end in scan(document).items] == items


@pytest.mark.parametrize(
    ("document", "broken", "cut_off"),
    [
        (b"<rss></rss>", False, False),
        (b"<rss>& </rss>", True, False),
        (b"<rss>&", True, True),
        (b"<r:RDF>&</r:RDF >", True, False),
        (b"<rss>&</rss>" + b" " * 4_090, True, False),
        (b"<rss>&</rss>" + b" " * 4_091, True, True),
    ],
)
def test_a_missing_end(document: bytes, broken: bool, cut_off: bool) -> None:
    found = scan(document)
    assert (found.broken, found.cut_off) == (broken, cut_off)


@pytest.mark.parametrize(("before", "tag"), [(65_532, "rss"), (65_533, "rs"), (65_535, "")])
def test_the_first_tag_is_looked_for_in_64_kb(before: int, tag: str) -> None:
    assert first_tag(b" " * before + b"<rss>") == tag


@pytest.mark.parametrize(("count", "refused"), [(256, False), (257, True)])
def test_how_many_attributes_an_element_may_have(count: int, refused: bool) -> None:
    attributes = "".join(f" a{number}=''" for number in range(count))
    with pytest.raises(UnsafeDocument, match="than 256") if refused else nullcontext():
        assert of(f"<item><b{attributes}/></item>").items


def _doctype(declared: str) -> str:
    return f"<!DOCTYPE rss [{declared}]><rss><channel/></rss>"


@pytest.mark.parametrize(
    ("document", "refused"),
    [
        (_doctype("".join(f"<!ENTITY a{n} 'x'>" for n in range(256))), False),
        (_doctype("".join(f"<!ENTITY a{n} 'x'>" for n in range(257))), True),
        (_doctype("<!ENTITY a 'xxxxxxxxxx'>") + "&a;" * 100_000, False),
        (_doctype("<!ENTITY a 'xxxxxxxxxx'>") + "&a;" * 100_001, True),
        (_doctype("<!ENTITY a 'xxxxxx'><!ENTITY b 'xxxxxxx'>") + "&a;&b;" * 80_000, True),
        (_doctype("<!ENTITY % a 'x'>"), True),
        (_doctype("<!ENTITY % a SYSTEM 'x'>"), False),
        (_doctype("<!ENTITY % a SYSTEM 'x'>%a;"), False),
        (_doctype("<!ENTITY a SYSTEM 'x'>"), True),
        (_doctype("<!ENTITY a '&#38;'>"), True),
        (_doctype("<!ENTITY a '&#60;'>"), True),
        (_doctype("<!ENTITY a '&#37;'>"), True),
    ],
)
def test_which_entities_are_taken(document: str, refused: bool) -> None:
    """Plain ones, within bounds, and other files, which are not fetched."""
    with pytest.raises(UnsafeDocument, match="declares entities") if refused else nullcontext():
        assert scan(document.encode()).kind == "rss"


def test_an_entity_of_another_file_is_an_error_and_a_list_of_them_none() -> None:
    """So `&eacute;` gets mended, and `%HTMLlat1;` does not matter."""
    lists = "<!DOCTYPE rss [<!ENTITY % a SYSTEM 'x'>%a;]>"
    assert not scan(f"{lists}<rss/>".encode()).broken
    assert scan(f"{lists}<rss>&eacute;</rss>".encode()).broken


def test_plain_entities_are_expanded() -> None:
    declared = scan(b"<!DOCTYPE rss [<!ENTITY a 'x'><!ENTITY b.c 'y'>]><rss/>").entities
    assert declared == {b"a": b"x", b"b.c": b"y"}
    assert expanded(b"&a;&b.c;&bxc;&amp;&a", declared) == b"xy&bxc;&amp;&a"
