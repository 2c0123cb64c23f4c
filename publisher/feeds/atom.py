"""Atom 1.0 (RFC 4287)."""

import html
import re
import uuid
from typing import Any

from lxml.etree import Element, SubElement, tostring

from publisher.base.dates import format_rfc3339
from publisher.feeds.channel import Channel, Item
from publisher.feeds.rss import ATOM, HISTORY, add_links, styled

CONTENT_TYPE = "application/atom+xml; charset=utf-8"
TITLE_WORDS = 10
TOMBSTONES = "http://purl.org/atompub/tombstones/1.0"
_TAG = re.compile(r"<[^>]*>")
_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")
_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"


def render(channel: Channel) -> bytes:
    """The Atom document, with RFC 5005's `complete` and RFC 6721's deleted entries if any.

    It has no ttl: the response's Cache-Control carries it.
    """
    feed = Element("feed", {_XML_LANG: channel.language}, nsmap=_prefixes(channel))
    _text(feed, "id", channel.feed_url)
    _text(feed, "title", channel.title)
    _text(feed, "subtitle", channel.description)
    _text(feed, "updated", format_rfc3339(channel.content_changed_at))
    _link(feed, "self", channel.feed_url, type="application/atom+xml")
    _link(feed, "alternate", channel.home_url, type="text/html")
    for hub in channel.hubs:
        _link(feed, "hub", hub)
    for relation, address in channel.history_links("atom.xml"):
        _link(feed, relation, address)
    _text(SubElement(feed, "author"), "name", channel.title)
    _text(feed, "generator", "Publisher")
    if channel.complete:
        SubElement(feed, f"{{{HISTORY}}}complete")
    if channel.current_url:
        SubElement(feed, f"{{{HISTORY}}}archive")
    add_links(feed, channel.home_url)
    for item in channel.items:
        _add(feed, item)
    for guid, moment in channel.deleted:
        SubElement(
            feed, f"{{{TOMBSTONES}}}deleted-entry", ref=entry_id(guid), when=format_rfc3339(moment)
        )
    document = tostring(feed, pretty_print=True, encoding="UTF-8", xml_declaration=True)
    return styled(bytes(document))


def _prefixes(channel: Channel) -> dict[str | None, str]:
    """The namespaces that the document needs."""
    history = {"fh": HISTORY} if channel.complete or channel.current_url else {}
    return {None: ATOM} | history | ({"at": TOMBSTONES} if channel.deleted else {})


def first_words(item: Item) -> str:
    """The title that Atom demands of a titleless post: its first words, as text."""
    plain = html.unescape(_TAG.sub(" ", item.html)).split()
    words = " ".join(plain[:TITLE_WORDS])
    if not words:
        return item.url
    return f"{words} …" if len(plain) > TITLE_WORDS else words


def entry_id(guid: str) -> str:
    """The guid if it is an IRI, as Atom demands; else a UUID derived from it, always the same."""
    return guid if _IRI.fullmatch(guid) else uuid.uuid5(uuid.NAMESPACE_OID, guid).urn


def _add(feed: Any, item: Item) -> None:
    entry = SubElement(feed, "entry")
    _text(entry, "id", entry_id(item.guid))
    _text(entry, "title", item.title or first_words(item))
    _link(entry, "alternate", item.url, type="text/html")
    _text(entry, "published", format_rfc3339(item.published_at))
    _text(entry, "updated", format_rfc3339(max(item.changed_at, item.published_at)))
    if item.author:
        _text(SubElement(entry, "author"), "name", item.author)
    for tag in item.tags:
        SubElement(entry, "category", term=tag)
    if item.summary:
        _text(entry, "summary", item.summary)
    SubElement(entry, "content", type="html").text = item.html
    if file := item.attachment:
        _link(entry, "enclosure", file.url, type=file.content_type, length=str(file.bytes))


def _text(parent: Any, name: str, text: str) -> None:
    SubElement(parent, name).text = text


def _link(parent: Any, rel: str, href: str, **attributes: str) -> None:
    SubElement(parent, "link", rel=rel, href=href, **attributes)
