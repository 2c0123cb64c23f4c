"""RSS 2.0, by feedgen: the only module that knows it."""

from __future__ import annotations

from typing import Any

from feedgen.feed import FeedGenerator

from publisher.feeds.channel import Channel, Item

CONTENT_TYPE = "application/rss+xml; charset=utf-8"


def render(channel: Channel) -> bytes:
    """The RSS 2.0 document; deterministic."""
    feed = FeedGenerator()
    feed.title(channel.title)
    feed.description(channel.description)
    feed.language(channel.language)
    feed.generator("Publisher")
    feed.lastBuildDate(channel.content_changed_at)
    feed.ttl(channel.ttl_minutes)
    feed.link(href=channel.feed_url, rel="self", type="application/rss+xml")
    feed.link(href=channel.home_url, rel="alternate")  # the last one becomes <link>
    for item in channel.items:
        _add(feed, item)
    return bytes(feed.rss_str(pretty=True))


def _add(feed: Any, item: Item) -> None:
    entry = feed.add_entry(order="append")
    if item.title:
        entry.title(item.title)
    entry.link(href=item.url)
    entry.guid(item.guid, permalink=item.guid_is_permalink)
    entry.published(item.published_at)
    if item.summary:
        entry.description(item.summary)
        entry.content(item.html, type="CDATA")
    else:
        entry.description(item.html)
    for tag in item.tags:
        entry.category(term=tag)
    if item.attachment:
        file = item.attachment
        entry.enclosure(file.url, str(file.bytes), file.content_type)
