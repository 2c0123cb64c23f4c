"""Whom to tell, and what is said."""

from publisher.publishing.outbox import cloud_element, link_headers, ping_address, ping_form

TOPIC = "https://b.example/rss.xml"
HUB, CLOUD = "https://hub.example/", "http://cloud.example:5337/pleaseNotify"


def test_forms() -> None:
    """What hubs and clouds expect in the body."""
    hub = {"hub.mode": "publish", "hub.url": TOPIC, "hub.topic": TOPIC}
    assert ping_form("websub", TOPIC) == hub
    assert ping_form("rsscloud", TOPIC) == {"url": TOPIC}


def test_cloud_element_has_all_five_attributes() -> None:
    """Port and protocol follow from the address."""
    assert [*cloud_element(CLOUD).values()] == [
        "cloud.example", "5337", "/pleaseNotify", "", "http-post",
    ]  # fmt: skip
    assert [*cloud_element("https://c.example/x/pleaseNotify").values()] == [
        "c.example", "443", "/x/pleaseNotify", "", "https-post",
    ]  # fmt: skip
    assert [*cloud_element("http://c.example").values()][:3] == [
        "c.example", "80", "/pleaseNotify",
    ]  # fmt: skip
    assert ping_address("https://c.example/x/pleaseNotify") == "https://c.example/x/ping"


def test_link_headers_name_hubs_and_the_document_once() -> None:
    """Without a hub there is nothing to say."""
    assert link_headers(f"{HUB} https://two.example/", TOPIC) == (
        '<https://hub.example/>; rel="hub"',
        '<https://two.example/>; rel="hub"',
        '<https://b.example/rss.xml>; rel="self"',
    )
    assert link_headers("", TOPIC) == ()
