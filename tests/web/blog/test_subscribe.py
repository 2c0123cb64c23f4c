"""`/subscribe`: addresses to copy, links that open a reader with the feed, the newest posts."""

from urllib.parse import parse_qs, urlsplit

import pytest
from flask.testing import FlaskClient
from lxml import html

from publisher.base.media_files import Attachment
from publisher.installation import Site
from tests.conftest import SITE_URL
from tests.factories import make_post

EPISODE = Attachment("/episode.mp3", "audio/mpeg", 1_000_000, 600)


class _Page:
    def __init__(self, page: str) -> None:
        tree = html.document_fromstring(page)
        self.fields = [field.get("value") for field in tree.iter("input")]
        self.links = {link.text_content().strip(): link.get("href") for link in tree.iter("a")}


def test_every_way_in_names_the_feed(site: Site, client: FlaskClient) -> None:
    """Fields hold the true addresses; each reader's link carries the feed whole."""
    make_post(site, "Words.", title="An <i>essay</i>")
    page = _Page(client.get("/subscribe").text)
    feed = f"{SITE_URL}/rss.xml"
    assert page.fields == [feed, f"{SITE_URL}/atom.xml", f"{SITE_URL}/feed.json"]
    assert page.links["An <i>essay</i>"] == "/posts/an-i-essay-i"
    assert page.links["A program on this device"] == f"feed:{feed}"
    assert page.links["Feedly"].endswith("/feed/https%3A%2F%2Fblog.example%2Frss.xml")
    for name, field in {"Inoreader": "add_feed", "NewsBlur": "url", "Feedbin": "subscribe",
                        "The Old Reader": "url"}.items():  # fmt: skip
        assert parse_qs(urlsplit(page.links[name]).query)[field] == [feed], name
    assert "Apple Podcasts" not in page.links


def test_a_podcast_is_opened_in_programs_for_podcasts(site: Site, client: FlaskClient) -> None:
    """As soon as there is an episode."""
    make_post(site, "Spoken.", title="Episode", enclosure=EPISODE)
    links = _Page(client.get("/subscribe").text).links
    assert links["Apple Podcasts"] == "podcast://blog.example/rss.xml"
    assert links["Pocket Casts"] == "pktc://subscribe/blog.example/rss.xml"


def test_the_feed_of_a_tag(site: Site, client: FlaskClient) -> None:
    """The tag's page leads here, and here its feed alone is offered."""
    make_post(site, "One.", title="Tagged", tags=["Café au lait"])
    make_post(site, "Two.", title="Untagged")
    tag = client.get("/tags/cafe-au-lait")
    assert 'href="/subscribe?tag=cafe-au-lait"' in tag.text
    page = _Page(client.get("/subscribe", query_string={"tag": "cafe-au-lait"}).text)
    assert page.fields == [f"{SITE_URL}/tags/cafe-au-lait/rss.xml"]
    assert "Tagged" in page.links
    assert "Untagged" not in page.links


@pytest.mark.parametrize("tag", ["nothing", "%00", "../../x", "x" * 5000])
def test_no_such_tag(client: FlaskClient, tag: str) -> None:
    """404, as the page of the tag says."""
    assert client.get("/subscribe", query_string={"tag": tag}).status_code == 404
