"""RSS 2.0, written by feedgen, which no other module uses."""

import html
import threading
from datetime import UTC
from typing import Any

from feedgen.feed import FeedGenerator

from publisher.feeds.channel import Channel, Item
from publisher.feeds.syndication import ChannelExtension, ItemExtension, styled

CONTENT_TYPE = "application/rss+xml; charset=utf-8"

# feedgen changes the locale of the whole process for each date it writes, and changes it back:
# two threads that do so at once can leave it changed.
_one_at_a_time = threading.Lock()


def render(channel: Channel) -> bytes:
    """The RSS 2.0 document; the same values give the same bytes, in any process."""
    feed = FeedGenerator()
    feed.register_extension("ours", ChannelExtension, ItemExtension, atom=False)
    feed.ours.channel = channel
    feed.title(channel.title)
    feed.description(channel.description)
    feed.language(channel.language)
    feed.generator("Publisher")
    feed.docs("https://www.rssboard.org/rss-specification")
    feed.lastBuildDate(channel.content_changed_at.astimezone(UTC))
    if not channel.current_url:  # an archive is not polled
        feed.ttl(channel.ttl_minutes)
    feed.link(href=channel.feed_url, rel="self", type="application/rss+xml")
    feed.link(href=channel.home_url, rel="alternate")  # the last one becomes <link>
    for item in channel.items:
        _add(feed, item)
    with _one_at_a_time:
        return styled(bytes(feed.rss_str(pretty=True)), channel.home_url)


def _add(feed: Any, item: Item) -> None:
    entry = feed.add_entry(order="append")
    entry.ours.item = item
    if item.title:
        entry.title(item.title)
    entry.link(href=item.url)
    entry.guid(item.guid, permalink=item.guid_is_permalink)
    entry.published(item.published_at.astimezone(UTC))
    if item.summary:
        entry.description(html.escape(item.summary, quote=False))
        entry.content(item.html)
    elif item.html or not item.title:  # an item needs a title or a description
        entry.description(item.html or html.escape(item.url))
    for tag in item.tags:
        entry.category(term=tag)
    if file := item.attachment:
        entry.enclosure(file.url, str(file.bytes), file.content_type)
