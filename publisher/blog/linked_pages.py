"""The pages that a post links to: each is sent a Webmention when the post is new or changes.

The post is noted by its path, so that a blog that moves meanwhile sends the address it has then.
"""

import re
from datetime import datetime
from html import unescape

from sqlalchemy.orm import Session

from publisher.settings import load_settings
from publisher.storage.deliveries import request_delivery
from publisher.storage.tables.blog import Post

WEBMENTION = "webmention"
MOST, LONGEST = 100, 2_000
# What we show has been made safe: attributes stand in double quotes.
_LINK = re.compile(r'<a\s(?:[^<>]*\s)?href="(https?://[^"\s]+)"', re.IGNORECASE)


def links_in(html: str) -> list[str]:
    """The addresses elsewhere that a post's HTML links to, each once, in order."""
    found = dict.fromkeys(unescape(address) for address in _LINK.findall(html))
    return [address for address in found if address.isascii() and len(address) <= LONGEST][:MOST]


def request_mentions(
    session: Session, post: Post, path: str, now: datetime, before: str = ""
) -> None:
    """Queue a mention to each page that the post links to, or did `before` (its HTML then)."""
    if load_settings(session).webmention_send != "on":
        return
    for address in links_in(post.html + before):
        request_delivery(session, WEBMENTION, address, path, now)
