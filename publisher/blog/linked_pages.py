"""The pages that a post links to: each is sent a Webmention when the post is new or changes.

The queue has the post's path, not its address, so that a blog that moves sends the new address.
"""

import re
from datetime import datetime
from html import unescape

from sqlalchemy.orm import Session

from publisher.installation.settings import load_settings
from publisher.storage.deliveries import request_delivery
from publisher.storage.tables.blog import Post

WEBMENTION = "webmention"
MOST, LONGEST = 100, 2_000
# For sanitised HTML only, in which attributes are in double quotes.
_LINK = re.compile(r'<a\s(?:[^<>]*\s)?href="(https?://[^"\s]+)"', re.IGNORECASE)


def links_in(html: str) -> list[str]:
    """The addresses elsewhere that a post's HTML links to, each once, in order."""
    found = dict.fromkeys(unescape(address) for address in _LINK.findall(html))
    return [address for address in found if address.isascii() and len(address) <= LONGEST][:MOST]


def request_mentions(
    session: Session, post: Post, path: str, now: datetime, before: str = ""
) -> None:
    """Queue a mention to each page that the post links to now, or did in its HTML `before`."""
    if load_settings(session).webmention_send != "on":
        return
    for address in links_in(post.html + before):
        request_delivery(session, WEBMENTION, address, path, now)
