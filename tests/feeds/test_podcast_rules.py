"""A feed with recordings keeps the rules of those who take podcasts in.

Apple's are those of its page for podcasters (RSS feed requirements); the namespace's those of
podcastindex.org; the source namespace is source.scripting.com.
"""

import re
import uuid
from dataclasses import replace
from typing import Any

import pytest

from publisher.feeds import rss
from publisher.feeds.channel import guid_of
from publisher.installation.podcast_categories import CATEGORIES
from tests.feeds.samples import HOME, NAMESPACES, channel, everything, item, parse

TRANSCRIPTS = {"text/plain", "text/html", "text/vtt", "application/json", "application/x-subrip"}
ROLES = {"host", "guest", "co-host"}


@pytest.fixture
def podcast() -> Any:
    """The channel of a podcast whose author has filled in everything."""
    whole = everything()
    items = [
        replace(item, transcript=(f"{HOME}/media/3.vtt", "text/vtt")) if item.attachment else item
        for item in whole.items
    ]
    return parse(rss.render(replace(whole, items=tuple(items)))).find("channel")


def find(element: Any, path: str) -> Any:
    (element_found,) = element.findall(path, NAMESPACES)
    return element_found


def test_apple_takes_the_channel(podcast: Any) -> None:
    """Title, description, artwork, language, a category of its list, and whether it is explicit."""
    for name in ("title", "description", "link"):
        assert find(podcast, name).text
    assert re.fullmatch(r"[a-z]{2}(-[a-z]{2})?", find(podcast, "language").text, re.IGNORECASE)
    assert find(podcast, "itunes:image").get("href").endswith((".png", ".jpg"))
    wide = find(podcast, "itunes:category")
    assert find(wide, "itunes:category").get("text") in CATEGORIES[wide.get("text")]
    assert find(podcast, "itunes:explicit").text in ("true", "false")
    assert find(podcast, "itunes:author").text
    owner = find(podcast, "itunes:owner")
    assert find(owner, "itunes:name").text
    assert "@" in find(owner, "itunes:email").text


def test_apple_takes_the_episode(podcast: Any) -> None:
    """Title, a guid that stays, a date, and an enclosure with address, length and type."""
    (episode,) = podcast.findall("item[enclosure]")
    assert find(episode, "title").text
    assert find(episode, "guid").text
    assert re.fullmatch(
        r"\w{3}, \d\d \w{3} \d{4} [\d:]{8} [+-]\d{4}", find(episode, "pubDate").text
    )
    enclosure = find(episode, "enclosure")
    assert re.match(r"https?://[^?]+\.(mp3|m4a)$", enclosure.get("url"))
    assert int(enclosure.get("length")) > 0
    assert enclosure.get("type") in ("audio/mpeg", "audio/x-m4a", "audio/mp4")
    assert int(find(episode, "itunes:duration").text) > 0


def test_what_is_not_known_is_left_out() -> None:
    """A category without a narrower one, and an episode of unknown length."""
    whole = everything()
    items = [
        replace(item, attachment=item.attachment and replace(item.attachment, seconds=0))
        for item in whole.items
    ]
    show = replace(whole.podcast, category="Technology")
    sparse = parse(rss.render(replace(whole, items=tuple(items), podcast=show))).find("channel")
    category = find(sparse, "itunes:category")
    assert (category.get("text"), list(category)) == ("Technology", [])
    (episode,) = sparse.findall("item[enclosure]")
    assert episode.findall("itunes:duration", NAMESPACES) == []


def test_the_namespace_is_kept(podcast: Any) -> None:
    """The guid is a UUID of version 5, roles are of the taxonomy, transcripts of known types."""
    assert uuid.UUID(find(podcast, "podcast:guid").text).version == 5
    (episode,) = podcast.findall("item[enclosure]")
    person = find(episode, "podcast:person")
    assert person.text
    assert person.get("role") in ROLES
    transcript = find(episode, "podcast:transcript")
    assert transcript.get("url").startswith("https://")
    assert transcript.get("type") in TRANSCRIPTS
    assert transcript.get("rel") == "captions"


def test_the_source_namespace_is_kept(podcast: Any) -> None:
    """Where the feed is, the accounts, the blogroll, and Markdown beside the HTML."""
    assert find(podcast, "source:self").text == f"{HOME}/rss.xml"
    assert find(podcast, "source:account").get("service") == "github"
    assert find(podcast, "source:blogroll").text.startswith(HOME)
    assert any(item.text for item in podcast.findall("item/source:markdown", NAMESPACES))


def test_a_transcript_needs_a_sound() -> None:
    """Left behind when the sound is taken away, it makes no podcast."""
    lonely = item(1, transcript=(f"{HOME}/media/3.vtt", "text/vtt"))
    assert b"podcast" not in rss.render(channel(lonely))


@pytest.mark.parametrize("kind", ["text/html", "application/json"])
def test_texts_without_times_are_no_captions(kind: str) -> None:
    (episode,) = [item for item in everything().items if item.attachment]
    item = replace(episode, transcript=(f"{HOME}/media/3.x", kind))
    root = parse(rss.render(channel(item)))
    assert find(root, "channel/item/podcast:transcript").get("rel") is None


@pytest.mark.parametrize(
    ("address", "guid"),
    [
        ("https://mp3s.nashownotes.com/pc20rss.xml", "917393e3-1b1e-5cef-ace4-edaa54e1f810"),
        ("http://podnews.net/rss/", "9b024349-ccf0-5f69-a609-6b82873eab3c"),
    ],
)
def test_the_guids_of_the_namespaces_own_page(address: str, guid: str) -> None:
    """podcastindex.org names these two: of an address without scheme and slash at its end."""
    assert guid_of(address) == guid
