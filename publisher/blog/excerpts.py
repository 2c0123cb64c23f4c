"""A post in a few words: what stands for a title that is missing, and what a page is about."""

from __future__ import annotations

import re

from publisher.blog.search import plain_text

TITLE_LENGTH, DESCRIPTION_LENGTH = 70, 200


def first_words(html: str, limit: int = TITLE_LENGTH) -> str:
    """The beginning of a piece of HTML as one line of text, whole words, at most `limit` long."""
    line = plain_text(html[: 20 * limit])
    if len(line) <= limit:
        return line
    return (line[:limit].rpartition(" ")[0] or line[:limit]).rstrip(",;:.–- ") + "…"


def first_picture(html: str) -> str:
    """The address of the first picture in a post; empty when there is none."""
    found = re.search(r'<img\b[^>]*?\bsrc="([^"]+)"', html)
    return found[1].replace("&amp;", "&") if found else ""
