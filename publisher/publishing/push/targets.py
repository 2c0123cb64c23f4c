"""The ping requests of WebSub and rssCloud, as values.

WebSub (W3C recommendation, 2018) does not define the publisher's request; all hubs take
`hub.mode=publish` with the topic. rssCloud (rsscloud.co) takes `POST /ping url=...`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from publisher.feeds.channel import Cloud

WEBSUB, RSSCLOUD, PURGE = "websub", "rsscloud", "purge"


@dataclass(frozen=True, slots=True)
class Target:
    """One ping: to `url`, about the document at `topic`."""

    protocol: str
    url: str
    topic: str


def targets(hubs: str, cloud: str, topics: Mapping[str, str]) -> list[Target]:
    """The pings about new content; `topics` are the documents' addresses by name.

    Hubs get one for each document, a cloud one for the RSS document.
    """
    found = [Target(WEBSUB, hub, topic) for hub in hubs.split() for topic in topics.values()]
    return found + [Target(RSSCLOUD, ping_address(url), topics["rss"]) for url in cloud.split()]


def form(target: Target) -> dict[str, str]:
    """The form that a ping sends."""
    if target.protocol == RSSCLOUD:
        return {"url": target.topic}
    return {"hub.mode": "publish", "hub.url": target.topic, "hub.topic": target.topic}


def cloud_element(url: str) -> Cloud:
    """The `cloud` element for the cloud whose `pleaseNotify` is at `url`."""
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    return Cloud(
        domain=parts.hostname or "",
        port=parts.port or (443 if secure else 80),
        path=parts.path or "/pleaseNotify",
        register_procedure="",
        protocol="https-post" if secure else "http-post",
    )


def ping_address(cloud: str) -> str:
    """Where a cloud is pinged: `/ping` beside its `pleaseNotify`."""
    parts = urlsplit(cloud)
    folder = parts.path.rpartition("/")[0]
    return f"{parts.scheme}://{parts.netloc}{folder}/ping"


def link_headers(hubs: str, topic: str) -> tuple[str, ...]:
    """Values of the Link header of the document at `topic`: hubs and `self`; () without hubs."""
    found = [f'<{hub}>; rel="hub"' for hub in hubs.split()]
    return (*found, f'<{topic}>; rel="self"') if found else ()
