"""Whom to tell, and what is said."""

from publisher.feeds.channel import Cloud
from publisher.publishing.outbox import (
    Target,
    cloud_element,
    link_headers,
    ping_address,
    ping_form,
    targets,
)

TOPICS = {"rss": "https://b.example/rss.xml", "atom": "https://b.example/atom.xml"}
HUB, CLOUD = "https://hub.example/", "http://cloud.example:5337/pleaseNotify"


def test_hubs_get_each_document_and_the_cloud_one() -> None:
    """WebSub topics are documents; rssCloud knows RSS alone."""
    assert targets(HUB, CLOUD, TOPICS) == [
        Target("websub", HUB, TOPICS["rss"]),
        Target("websub", HUB, TOPICS["atom"]),
        Target("rsscloud", "http://cloud.example:5337/ping", TOPICS["rss"]),
    ]
    assert targets("", "", TOPICS) == []


def test_forms() -> None:
    """What hubs and clouds expect in the body."""
    hub, _, cloud = targets(HUB, CLOUD, TOPICS)
    topic = TOPICS["rss"]
    assert ping_form(hub) == {"hub.mode": "publish", "hub.url": topic, "hub.topic": topic}
    assert ping_form(cloud) == {"url": topic}


def test_cloud_element_has_all_five_attributes() -> None:
    """Port and protocol follow from the address."""
    assert cloud_element(CLOUD) == Cloud("cloud.example", 5337, "/pleaseNotify", "", "http-post")
    assert cloud_element("https://c.example/x/pleaseNotify").protocol == "https-post"
    assert ping_address("https://c.example/x/pleaseNotify") == "https://c.example/x/ping"


def test_link_headers_name_hubs_and_the_document_once() -> None:
    """Without a hub there is nothing to say."""
    assert link_headers(f"{HUB} https://two.example/", TOPICS["rss"]) == (
        '<https://hub.example/>; rel="hub"',
        '<https://two.example/>; rel="hub"',
        '<https://b.example/rss.xml>; rel="self"',
    )
    assert link_headers("", TOPICS["rss"]) == ()
