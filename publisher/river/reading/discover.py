"""Finding the feeds of a site: those that its page announces; no addresses are guessed."""

import re
from html.parser import HTMLParser

from publisher.base.links import joined

FEED_TYPES = frozenset(
    {"application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml"}
)
_TAG = re.compile(r"<(?:link|base)\s[^<>]{1,4000}>", re.IGNORECASE)
_PAGE_CHARACTERS = 500_000


class _Links(HTMLParser):
    """Collects what `<link>` and `<base>` say; it is given these tags only, one at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self.base = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "base" and not self.base:
            self.base = values.get("href", "")
        announces = "alternate" in values.get("rel", "").lower().split()
        kind = values.get("type", "").partition(";")[0].strip().lower()
        if tag == "link" and announces and kind in FEED_TYPES and values.get("href"):
            self.found.append((values["href"], values.get("title", "")))


def alternates(page: str, base_url: str) -> list[tuple[str, str]]:
    """Addresses and titles of the feeds that an HTML page announces, in its order.

    Only `<link rel="alternate">` with a feed's media type counts: no guessing of paths. The
    tags are cut out first, as Python's HTML parser takes quadratic time over broken pages.
    """
    links = _Links()
    for tag in _TAG.findall(_without_comments(page[:_PAGE_CHARACTERS])):
        links.feed(tag)
    base = joined(base_url, links.base)
    found = {joined(base, href.strip()): title.strip() for href, title in links.found}
    return [pair for pair in found.items() if pair[0].startswith(("http://", "https://"))]


def _without_comments(page: str) -> str:
    """The page without comments; an unclosed one hides the rest."""
    first, *others = page.split("<!--")
    return first + "".join(other.partition("-->")[2] for other in others)
