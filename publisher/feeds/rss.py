"""RSS 2.0, written by feedgen, with extensions for what feedgen lacks or writes wrongly."""

import html
import threading
from datetime import UTC
from typing import Any
from urllib.parse import urljoin

from feedgen.feed import FeedGenerator
from lxml.etree import SubElement

from publisher.base.media_files import Attachment
from publisher.dynamic_ttl.core.durations import update_rate
from publisher.feeds.channel import Channel, Item

CONTENT_TYPE = "application/rss+xml; charset=utf-8"

# feedgen changes the locale of the whole process for each date it writes, and changes it back:
# two threads that do so at once can leave it changed.
_one_at_a_time = threading.Lock()


def render(channel: Channel) -> bytes:
    """The RSS 2.0 document; the same values give the same bytes, in any process."""
    feed = FeedGenerator()
    feed.register_extension("ours", ChannelExtension, ItemExtension)
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
        return styled(bytes(feed.rss_str(pretty=True)))


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


ATOM = "http://www.w3.org/2005/Atom"
SYNDICATION = "http://purl.org/rss/1.0/modules/syndication/"
DUBLIN_CORE = "http://purl.org/dc/elements/1.1/"
ITUNES = "http://www.itunes.com/dtds/podcast-1.0.dtd"
PODCAST = "https://podcastindex.org/namespace/1.0"
SOURCE = "http://source.scripting.com/"
MEDIA = "http://search.yahoo.com/mrss/"
HISTORY = "http://purl.org/syndication/history/1.0"
XHTML = "http://www.w3.org/1999/xhtml"


class ChannelExtension:
    """Hubs, cloud, modules syndication and source, links, a podcast's fields."""

    channel: Channel

    def extend_ns(self) -> dict[str, str]:
        """The prefixes that the document needs."""
        names = {"sy": SYNDICATION, "source": SOURCE}
        if self.channel.complete or self.channel.current_url:
            names["fh"] = HISTORY
        if any(item.author for item in self.channel.items):
            names["dc"] = DUBLIN_CORE
        if any(item.image for item in self.channel.items):
            names["media"] = MEDIA
        if self.channel.is_podcast:
            names |= {"itunes": ITUNES, "podcast": PODCAST}
        return names

    def extend_rss(self, root: Any) -> None:
        """Add the elements, after feedgen's own and before the items."""
        target, channel = root[0], self.channel
        for hub in channel.hubs:
            SubElement(target, f"{{{ATOM}}}link", rel="hub", href=hub)
        for relation, address in channel.history_links("rss.xml"):
            SubElement(target, f"{{{ATOM}}}link", rel=relation, href=address)
        if channel.cloud:
            SubElement(target, "cloud", dict(channel.cloud))
        if channel.ttl_minutes and (rate := update_rate(channel.ttl_minutes)):
            SubElement(target, f"{{{SYNDICATION}}}updatePeriod").text = rate[0]
            SubElement(target, f"{{{SYNDICATION}}}updateFrequency").text = str(rate[1])
        if channel.complete:
            SubElement(target, f"{{{HISTORY}}}complete")
        if channel.current_url:
            SubElement(target, f"{{{HISTORY}}}archive")
        SubElement(target, f"{{{SOURCE}}}self").text = channel.feed_url
        if channel.blogroll_url:
            SubElement(target, f"{{{SOURCE}}}blogroll").text = channel.blogroll_url
        for service, name in channel.accounts:
            SubElement(target, f"{{{SOURCE}}}account", service=service).text = name
        add_links(target, channel.home_url)
        if channel.is_podcast:
            _add_podcast(target, channel)


def _add_podcast(target: Any, channel: Channel) -> None:
    """The fields that podcast directories need; Apple requires picture and category."""
    show = channel.podcast
    SubElement(target, f"{{{ITUNES}}}author").text = show.author or channel.title
    if show.image_url:
        SubElement(target, f"{{{ITUNES}}}image", href=show.image_url)
    wide, _, narrow = show.category.partition(" > ")
    if wide:
        category = SubElement(target, f"{{{ITUNES}}}category", text=wide)
        if narrow:
            SubElement(category, f"{{{ITUNES}}}category", text=narrow)
    if show.owner_email:
        owner = SubElement(target, f"{{{ITUNES}}}owner")
        SubElement(owner, f"{{{ITUNES}}}name").text = show.author or channel.title
        SubElement(owner, f"{{{ITUNES}}}email").text = show.owner_email
    SubElement(target, f"{{{ITUNES}}}explicit").text = "true" if show.explicit else "false"
    if channel.rhythm:
        SubElement(
            target,
            f"{{{PODCAST}}}updateFrequency",
            rrule=channel.rhythm.rrule,
            dtstart=channel.rhythm.dtstart.isoformat(),
        ).text = channel.rhythm.words
    if show.guid:
        SubElement(target, f"{{{PODCAST}}}guid").text = show.guid


class ItemExtension:
    """The author's name (RSS's own element wants an e-mail address), Markdown source, episode."""

    item: Item

    def extend_rss(self, entry: Any) -> None:
        """Add the elements at the end of the item."""
        if self.item.author:
            SubElement(entry, f"{{{DUBLIN_CORE}}}creator").text = self.item.author
        if self.item.markdown:
            SubElement(entry, f"{{{SOURCE}}}markdown").text = self.item.markdown
        if self.item.image:
            SubElement(entry, f"{{{MEDIA}}}content", url=self.item.image, medium="image")
        file = self.item.attachment
        if file is not None and file.is_audio:
            _add_episode(entry, self.item, file)


def _add_episode(entry: Any, item: Item, file: Attachment) -> None:
    """The fields of one podcast episode."""
    if file.seconds:
        SubElement(entry, f"{{{ITUNES}}}duration").text = str(file.seconds)
    if item.image:
        SubElement(entry, f"{{{ITUNES}}}image", href=item.image)
    if item.transcript:
        url, kind = item.transcript
        timed = {"rel": "captions"} if kind in ("text/vtt", "application/x-subrip") else {}
        SubElement(entry, f"{{{PODCAST}}}transcript", url=url, type=kind, **timed)
    if item.author:
        where = {"href": item.author_url} if item.author_url else {}
        SubElement(entry, f"{{{PODCAST}}}person", role="host", **where).text = item.author


# A style sheet for people who open the feed in a browser, which is given it as XML
# (`feed_answer.as_page`). The sheet's address carries no hash, so that a new sheet makes no new
# document. Feed readers ignore it, and the links: a style sheet cannot make any of an address.
_SHEET = b'<?xml-stylesheet type="text/css" href="/static/feed.css"?>\n'


def add_links(target: Any, home_url: str) -> None:
    """Add links to the page on how to subscribe, and to the blog; the style sheet has their words.

    Validators of feeds take XHTML in a `div` only.
    """
    place = SubElement(target, f"{{{XHTML}}}div", nsmap={None: XHTML})
    for page in (urljoin(home_url, "/subscribe"), home_url):
        SubElement(place, f"{{{XHTML}}}a", href=page)


def styled(document: bytes) -> bytes:
    """Insert the instruction after the XML declaration, the only place where it may stand."""
    declaration, end, body = document.partition(b"?>\n")
    return declaration + end + _SHEET + body
