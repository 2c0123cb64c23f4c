"""HTML of feeds and pages: cleaned; without remote media, which report who is reading; and the
feeds that a page announces.
"""

import re
from contextvars import ContextVar
from dataclasses import replace
from html import escape

import nh3

from publisher.base.text import joined, nested_too_deeply, plain_text, split_address
from publisher.feed_reading.feed_document import FeedItem
from publisher.feed_reading.lazy_pictures import attributes_of, loading_at_once

LONGEST = 1_000_000  # characters of an item
_LEFT_OUT = (
    "<p>This entry is too long or nested too deeply to be shown: read it on its own site.</p>"
)

_TAGS = (nh3.ALLOWED_TAGS | {"audio", "video", "source", "picture"}) - {"map", "area"}
_ATTRIBUTES = {
    **nh3.ALLOWED_ATTRIBUTES,
    "*": {"dir", "lang", "title"},
    "img": {"src", "alt", "title", "width", "height"},
    "audio": {"src", "controls"},
    "video": {"src", "controls", "width", "height"},
    "source": {"src", "type"},
}
_ADDRESSES = frozenset({"href", "src", "cite"})
_SCHEMES = ("http:", "https:", "mailto:")
_REMOTE = {"img": "src", "audio": "src", "video": "src", "source": "src"}
_LINKS = "nofollow noopener noreferrer"
_FRAME = re.compile(r"<(?:iframe|embed)\b(?:[^<>\"']|\"[^\"<]*+\"|'[^'<]*+')*+>", re.IGNORECASE)
_PICTURES = ("<img ", "<audio", "<video")
_base_url: ContextVar[str] = ContextVar("base_url")


def _with_absolute_addresses(tag: str, name: str, value: str) -> str | None:
    if name in _ADDRESSES:
        address = joined(_base_url.get(), value.strip())
        # The cleaner looks at what was written; a blank or a base can make another scheme of it.
        return address if address.lower().startswith(_SCHEMES) else None
    if tag == "img" and name in ("width", "height") and value.strip() in ("0", "1"):
        return None
    if name == "dir" and value.lower() not in ("ltr", "rtl", "auto"):
        return None
    return value


def _loading_nothing(tag: str, name: str, value: str) -> str | None:
    return None if _REMOTE.get(tag) == name else value


# Made once: to make one takes fifteen times as long as to clean a post with it.
_CLEANER = nh3.Cleaner(
    tags=_TAGS,
    attributes=_ATTRIBUTES,
    attribute_filter=_with_absolute_addresses,
    link_rel=_LINKS,
    clean_content_tags={"script", "style", "iframe"},
)
_STILL = nh3.Cleaner(
    tags=_TAGS, attributes=_ATTRIBUTES, attribute_filter=_loading_nothing, link_rel=_LINKS
)


def sanitised(item: FeedItem, document_url: str) -> FeedItem:
    """The item with clean `html` and `words`, without its raw markup.

    To be called in a confined process: unclosed tags multiply, and nested elements take time
    quadratic in their depth. The result is bounded in length and depth.
    """
    base = item.base or item.url or document_url
    markup = loading_at_once(item.markup)
    html = clean_html(_FRAME.sub(_video_as_link, markup), base)
    if not plain_text(html) and not any(tag in html for tag in _PICTURES):
        html = clean_html(_FRAME.sub(_frame_as_link, markup), base)
    if len(html) > min(LONGEST, 10 * len(item.markup) + 10_000) or nested_too_deeply(html):
        html = _LEFT_OUT
    return replace(item, html=html, words=plain_text(html), markup="", base="")


def _video_as_link(frame: re.Match[str]) -> str:
    """A frame that may fill the screen, as those of videos, as a link; others, which often hold
    advertising, as they are, to be removed."""
    return _frame_as_link(frame) if "fullscreen" in frame[0].lower() else frame[0]


def _frame_as_link(frame: re.Match[str]) -> str:
    has = attributes_of(frame[0])
    address = has.get("src", "")
    label = has.get("title") or split_address(joined("https:", address)).netloc or address
    return f'<p><a href="{escape(address)}">{escape(label)}</a></p>' if address else frame[0]


def clean_html(markup: str, base_url: str) -> str:
    """Markup that may be shown: no scripts, styles, frames or forms; absolute addresses."""
    _base_url.set(base_url)
    return _CLEANER.clean(markup)


def without_remote_media(markup: str) -> str:
    """Cleaned markup without the addresses of images, audio and video: it loads nothing."""
    return _STILL.clean(markup)


def has_remote_media(markup: str) -> bool:
    """Whether cleaned markup would load something."""
    return any(f"<{tag} " in markup for tag in _REMOTE)


_FEED_TYPES = frozenset(
    {"application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml"}
)
# Of a feed or of anything else; WordPress names its programs' interface so.
_VAGUE_TYPES = frozenset({"application/json", "application/xml", "text/xml"})
_OF_WORDPRESS = "/wp-json/"
_PAGE_CHARACTERS = 1_000_000
_LINK_HEADER = re.compile(r'<([^<>]*)>((?:\s*;\s*[\w!#$&*+.^`|~-]+\s*=\s*(?:"[^"]*"|[^\s",;]*))*)')
_PARAMETER = re.compile(r';\s*([\w*-]+)\s*=\s*(?:"([^"]*)"|([^\s",;]*))')


def alternates(page: str, base_url: str) -> list[tuple[str, str]]:
    """Addresses and titles of the feeds that an HTML page announces, in its order.

    Only `<link>` with rel=alternate and a feed's media type, or rel=feed, counts: no guessing of
    paths. Types that are not of feeds alone count if there is nothing else.
    """
    from lxml import html  # late: few documents are pages

    document = page[:_PAGE_CHARACTERS].encode("utf-8", "replace") or b"<p>"
    root = html.document_fromstring(document, html.HTMLParser(encoding="utf-8"))
    base = joined(base_url, next((str(tag.get("href", "")) for tag in root.iter("base")), ""))
    return _announced([dict(link.attrib) for link in root.iter("link")], base)


def links_in_header(value: str) -> list[dict[str, str]]:
    """The links in the value of an HTTP Link header (RFC 8288), as attributes of `<link>`."""
    return [
        {name.lower(): quoted or plain for name, quoted, plain in _PARAMETER.findall(parameters)}
        | {"href": address}
        for address, parameters in _LINK_HEADER.findall(value[:10_000])
    ]


def announced_in_header(value: str, base_url: str) -> list[tuple[str, str]]:
    """As `alternates`, for the value of an HTTP Link header."""
    return _announced(links_in_header(value), base_url)


def _announced(links: list[dict[str, str]], base: str) -> list[tuple[str, str]]:
    """Addresses and titles of those links that lead to feeds."""
    by_kind: tuple[dict[str, str], dict[str, str]] = {}, {}  # certain ones, and others
    for link in links:
        relations, href = link.get("rel", "").lower().split(), link.get("href", "").strip()
        kind = link.get("type", "").partition(";")[0].strip().lower()
        vague = kind in _VAGUE_TYPES and _OF_WORDPRESS not in href
        feed = kind in _FEED_TYPES or ("feed" in relations and kind in ("", *_VAGUE_TYPES))
        if not href or not (feed or (vague and "alternate" in relations)):
            continue
        if feed and not {"alternate", "feed"} & set(relations):
            continue
        address = href.removeprefix("feed:") if href.startswith("feed:http") else href
        address = re.sub(r"^feed://", "http://", address)
        by_kind[0 if feed else 1].setdefault(joined(base, address), link.get("title", "").strip())
    certain, vague_links = (
        [pair for pair in some.items() if pair[0].startswith(("http://", "https://"))]
        for some in by_kind
    )
    return certain or vague_links
