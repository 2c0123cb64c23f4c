"""The beginning of a post about an item: its title, and a Markdown quotation with a link."""

import re

from publisher.base.text import plain_text
from publisher.river.following.reading_list import ReadingEntry

_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~&])")
_QUOTED_CHARACTERS = 600


def quotation(entry: ReadingEntry) -> tuple[str, str]:
    """Title and text of a new post about an item."""
    item, feed = entry.item, entry.feed
    words = plain_text(item.html)
    if len(words) > _QUOTED_CHARACTERS:
        words = words[:_QUOTED_CHARACTERS].rsplit(" ", 1)[0] + " …"
    link = item.url or feed.site_url or feed.url
    address = link.replace("<", "%3C").replace(">", "%3E").replace(" ", "%20")
    source = f"[{_escaped(item.title or feed.title or link)}](<{address}>)"
    by = f" ({_escaped(feed.title)})" if item.title and feed.title else ""
    quoted = f"> {_escaped(words)}\n\n" if words else ""
    return item.title, f"{quoted}{source}{by}\n\n"


def _escaped(text: str) -> str:
    """Plain text on one line, with Markdown's special characters escaped."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
