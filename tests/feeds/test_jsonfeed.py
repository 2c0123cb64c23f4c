"""JSON Feed 1.1."""

import json

from publisher.feeds import jsonfeed
from tests.feeds.samples import GOLDEN, channel, everything, item


def test_golden() -> None:
    """A feed with everything in it looks exactly like the file that a person has checked."""
    assert jsonfeed.render(everything()) == (GOLDEN / "everything.feed.json").read_bytes()


def test_required_and_typed() -> None:
    """Version, title and items are there; ids are strings, authors and hubs are lists."""
    document = json.loads(jsonfeed.render(everything()))
    assert document["version"] == "https://jsonfeed.org/version/1.1"
    assert document["title"] == "A blog & more"
    assert [type(entry["id"]) for entry in document["items"]] == [str] * 5
    assert document["items"][0]["authors"] == [{"name": "Ada Lovelace"}]
    assert document["hubs"] == [{"type": "WebSub", "url": "https://hub.example/"}]
    assert all(entry["content_html"] for entry in document["items"])


def test_a_titleless_post_has_no_title() -> None:
    """What is not there is left out, not sent as an empty text."""
    (entry,) = json.loads(jsonfeed.render(channel(item(title=""))))["items"]
    assert set(entry) == {"id", "url", "content_html", "date_published", "date_modified"}


def test_an_empty_blog_has_a_feed() -> None:
    """Items may be none, but the list is there."""
    assert json.loads(jsonfeed.render(channel()))["items"] == []
