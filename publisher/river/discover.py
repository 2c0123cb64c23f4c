"""Finding the feed of a site: what its page announces, and nothing guessed."""

from html.parser import HTMLParser
from urllib.parse import urljoin

FEED_TYPES = frozenset(
    {"application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml"}
)


class _Links(HTMLParser):
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

    Only `<link rel="alternate">` with a feed's media type counts: no guessing of paths.
    """
    links = _Links()
    links.feed(page[:500_000])
    base = urljoin(base_url, links.base)
    found = [(urljoin(base, href.strip()), title.strip()) for href, title in links.found]
    return [pair for pair in dict(found).items() if pair[0].startswith(("http://", "https://"))]
