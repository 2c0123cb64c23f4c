"""RSS 2.0: rules R1 to R13 of the feed's contract, one by one."""

import re
import subprocess
import sys
import threading
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from urllib.parse import urljoin

import feedparser
import pytest

from publisher.base.media_files import Attachment
from publisher.dynamic_ttl.core.durations import update_rate
from publisher.dynamic_ttl.core.habits import Rhythm
from publisher.feeds import atom, jsonfeed, rss
from publisher.feeds.channel import Channel, content_hash
from publisher.publishing.outbox import cloud_element
from tests.feeds.samples import (
    GOLDEN,
    HOME,
    MORNING,
    NAMESPACES,
    channel,
    everything,
    item,
    parse,
    texts,
)


def test_golden() -> None:
    """A feed with everything in it looks exactly like the file that a person has checked."""
    assert rss.render(everything()) == (GOLDEN / "everything.rss.xml").read_bytes()


def test_people_who_open_it_are_told_where_to_subscribe() -> None:
    """A style sheet, and links for browsers: to the page on how to subscribe, and to the blog."""
    for home in ("https://xn--bcher-kva.example/", "https://blog.example/tags/x"):
        document = rss.render(channel(item(), home_url=home))
        assert b'<?xml-stylesheet type="text/css" href="/static/feed.css"?>\n<rss ' in document
        links = parse(document).findall(f"channel/{{{rss.XHTML}}}div/{{{rss.XHTML}}}a")
        assert [link.get("href") for link in links] == [urljoin(home, "/subscribe"), home]


def test_the_links_change_nothing_for_readers() -> None:
    """feedparser finds the same posts and the same blog without them, in RSS and in Atom."""
    for form in (rss, atom):
        document = form.render(everything())
        plain = re.sub(rb"\s*<div xmlns=.*?</div>", b"", document, flags=re.DOTALL)
        assert plain != document
        ours, without = feedparser.parse(document), feedparser.parse(plain)
        assert not ours.bozo
        assert ours.entries == without.entries
        for name in ("xhtml_div", "xhtml_a"):
            del ours.feed[name]
        assert ours.feed == without.feed


def test_one_channel_with_its_four_elements() -> None:
    """R1: version 2.0, one channel, title, link, description and language once each."""
    root = parse(rss.render(channel(item())))
    assert (root.tag, root.get("version"), len(root)) == ("rss", "2.0", 1)
    for name, text in {
        "title": "A blog & more",
        "link": f"{HOME}/",
        "description": "Notes, as they come.",
        "language": "en",
    }.items():
        assert texts(root, f"channel/{name}") == [text]


@pytest.mark.parametrize("minutes", [1, 15, 42, 480, 1440])
def test_one_ttl_in_whole_minutes(minutes: int) -> None:
    """R2: one ttl, as a whole number of minutes."""
    root = parse(rss.render(channel(item(), ttl_minutes=minutes)))
    assert texts(root, "channel/ttl") == [str(minutes)]


def test_last_build_date_is_given() -> None:
    """R4: lastBuildDate is the content's date, not the moment of rendering."""
    root = parse(rss.render(channel(item())))
    assert texts(root, "channel/lastBuildDate") == ["Mon, 04 Mar 2024 09:30:00 +0000"]


def test_dates_are_rfc_822_in_any_locale_and_zone() -> None:
    """R5: English names and a four-digit year; an instant in another zone is written in GMT."""
    tokyo = timezone(timedelta(hours=9))
    root = parse(rss.render(channel(item(published_at=MORNING.astimezone(tokyo)))))
    assert texts(root, "channel/item/pubDate") == ["Mon, 04 Mar 2024 09:30:00 +0000"]


def test_a_titleless_post_has_no_title() -> None:
    """R6: no title is invented; an item with neither title nor text still has a description."""
    root = parse(rss.render(channel(item(1, title=""), item(2, title="", html=""))))
    assert root.findall("channel/item/title") == []
    assert texts(root, "channel/item/description") == [
        "<p>The text of post 1.</p>",
        f"{HOME}/posts/2",
    ]


def test_guid_says_whether_it_is_an_address() -> None:
    """R7: isPermaLink is true for a full address and false for everything else."""
    address = f"{HOME}/posts/2"
    root = parse(
        rss.render(channel(item(1), item(2, guid=address, guid_is_permalink=True))),
    )
    guids = [(guid.text, guid.get("isPermaLink")) for guid in root.findall("channel/item/guid")]
    assert guids == [(item(1).guid, "false"), (address, "true")]


def test_summary_before_the_full_text() -> None:
    """R8: description has the summary and comes first; without one it has the full text."""
    root = parse(rss.render(channel(item(1, summary="1 < 2"), item(2))))
    with_summary, without = root.findall("channel/item")
    names = [child.tag for child in with_summary]
    encoded = "{http://purl.org/rss/1.0/modules/content/}encoded"
    assert names.index("description") < names.index(encoded)
    assert with_summary.findtext("description") == "1 &lt; 2"  # readers take it for HTML
    assert with_summary.findtext(encoded) == "<p>The text of post 1.</p>"
    assert without.findtext("description") == "<p>The text of post 2.</p>"
    assert without.find(encoded) is None


def test_one_link_to_itself() -> None:
    """R9: one self link, absolute, equal to the feed's address, beside the link to the site."""
    root = parse(rss.render(everything()))
    links = root.findall("channel/{http://www.w3.org/2005/Atom}link")
    assert [(link.get("rel"), link.get("href")) for link in links] == [
        ("self", f"{HOME}/rss.xml"),
        ("hub", "https://hub.example/"),
    ]
    assert texts(root, "channel/link") == [f"{HOME}/"]


def test_content_type() -> None:
    """R10: the media types of the three forms, in UTF-8."""
    assert rss.CONTENT_TYPE == "application/rss+xml; charset=utf-8"
    assert atom.CONTENT_TYPE == "application/atom+xml; charset=utf-8"
    assert jsonfeed.CONTENT_TYPE == "application/feed+json; charset=utf-8"


def test_cloud_is_whole() -> None:
    """R11: cloud has all of its five attributes, even where one is empty."""
    cloud = cloud_element("http://blog.example/pleaseNotify")
    root = parse(rss.render(channel(item(), cloud=cloud)))
    assert dict(root.find("channel/cloud").attrib) == {
        "domain": "blog.example",
        "port": "80",
        "path": "/pleaseNotify",
        "registerProcedure": "",
        "protocol": "http-post",
    }


@pytest.mark.parametrize(
    ("minutes", "rate"),
    [
        (15, ("hourly", 4)),
        (30, ("hourly", 2)),
        (60, ("hourly", 1)),
        (120, ("daily", 12)),
        (480, ("daily", 3)),
        (1440, ("daily", 1)),
        (42, None),
        (2880, None),
    ],
)
def test_syndication_module_agrees(minutes: int, rate: tuple[str, int] | None) -> None:
    """R12: updatePeriod and updateFrequency say the same as ttl, or nothing."""
    assert update_rate(minutes) == rate
    root = parse(rss.render(channel(item(), ttl_minutes=minutes)))
    assert texts(root, "channel/sy:updatePeriod") == ([rate[0]] if rate else [])
    assert texts(root, "channel/sy:updateFrequency") == ([str(rate[1])] if rate else [])
    assert texts(root, "channel/sy:updateBase") == []


def test_an_archive_has_no_ttl_and_no_rate() -> None:
    """Nobody polls it: its channel was made without a ttl."""
    archive = Channel("Notes", "Old ones.", "en", HOME, f"{HOME}/rss.xml", current_url=HOME)
    document = rss.render(archive)
    assert b"<ttl>" not in document
    assert b"<sy:update" not in document


_RENDER = """
import locale, sys
from publisher.feeds import rss, atom, jsonfeed
from tests.feeds.samples import everything
for form in (rss, atom, jsonfeed):
    sys.stdout.buffer.write(form.render(everything()))
"""


def test_same_bytes_in_another_process() -> None:
    """R13: a process with another hash seed, locale and zone makes the same bytes."""
    there = subprocess.run(
        [sys.executable, "-c", _RENDER],
        env={"PYTHONHASHSEED": "4321", "TZ": "Asia/Kolkata", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        check=True,
    ).stdout
    assert there == b"".join(form.render(everything()) for form in (rss, atom, jsonfeed))
    assert there.startswith((GOLDEN / "everything.rss.xml").read_bytes())


def test_threads_do_not_disturb_each_other() -> None:
    """Rendering in several threads at once gives the same bytes in each of them."""
    expected = rss.render(everything())
    documents: list[bytes] = []
    threads = [
        threading.Thread(
            target=lambda: documents.extend(rss.render(everything()) for _ in range(5))
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(documents) == 20
    assert set(documents) == {expected}


def test_an_episode_is_a_podcast() -> None:
    """A sound gives the item an enclosure with its size, and the feed the iTunes elements."""
    root = parse(rss.render(everything()))
    (enclosure,) = root.findall("channel/item/enclosure")
    assert dict(enclosure.attrib) == {
        "url": f"{HOME}/media/3.mp3",
        "length": "1234567",
        "type": "audio/mpeg",
    }
    assert texts(root, "channel/item/itunes:duration") == ["1800"]
    assert texts(root, "channel/itunes:explicit") == ["false"]
    assert texts(root, "channel/itunes:owner/itunes:email") == ["ada@blog.example"]
    (category,) = root.findall("channel/itunes:category", NAMESPACES)
    assert (category.get("text"), category[0].get("text")) == ("Arts", "Books")
    (cover,) = root.findall("channel/itunes:image", NAMESPACES)
    assert cover.get("href") == f"{HOME}/media/cover.png"
    assert texts(root, "channel/item/podcast:person") == ["Ada Lovelace"]


def test_a_clear_week_is_told_to_podcast_programs() -> None:
    """podcast:updateFrequency as its namespace wants it; a blog without sound has none, and it is
    no part of the content that a tag stands for."""
    evening = datetime(2024, 5, 7, 20, tzinfo=timezone(timedelta(hours=2)))
    rhythm = Rhythm("FREQ=WEEKLY;BYDAY=TU", evening, "Every Tuesday")
    root = parse(rss.render(replace(everything(), rhythm=rhythm)))
    (frequency,) = root.findall("channel/podcast:updateFrequency", NAMESPACES)
    assert (frequency.get("rrule"), frequency.text) == ("FREQ=WEEKLY;BYDAY=TU", "Every Tuesday")
    assert frequency.get("dtstart") == "2024-05-07T20:00:00+02:00"
    assert b"updateFrequency rrule" not in rss.render(channel(item(), rhythm=rhythm))
    assert content_hash(replace(everything(), rhythm=rhythm)) == content_hash(everything())


def test_without_a_sound_no_podcast() -> None:
    """A picture as enclosure does not make a podcast: the namespace is absent."""
    picture = Attachment(f"{HOME}/media/1.png", "image/png", 10)
    document = rss.render(channel(item(attachment=picture)))
    assert b"itunes" not in document
    assert b"<enclosure" in document


def test_authors_go_by_name() -> None:
    """The author is in dc:creator: RSS's own element would want an e-mail address."""
    root = parse(rss.render(everything()))
    assert texts(root, "channel/item/dc:creator") == ["Ada Lovelace", "Ada Lovelace"]
    assert root.findall("channel/item/author") == []


def test_a_parser_of_readers_understands_it() -> None:
    """feedparser finds nothing to complain about and reads back what was meant."""
    parsed = feedparser.parse(rss.render(everything()))
    assert not parsed.bozo
    assert parsed.version == "rss20"
    assert [entry.id for entry in parsed.entries] == [item.guid for item in everything().items]
    assert parsed.entries[1].get("title", "") == ""
    assert "Привет" in parsed.entries[1].summary


def test_an_empty_blog_has_a_feed() -> None:
    """A feed without items is valid."""
    parsed = feedparser.parse(rss.render(channel()))
    assert not parsed.bozo
    assert parsed.entries == []
