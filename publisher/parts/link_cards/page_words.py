"""What a page says of itself, read in a confined process, which needs no database."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from publisher.base.text import is_of_the_web, joined, one_line, shorten
from publisher.base.web_pages import tree_of

_MAX_TITLE, _MAX_DESCRIPTION, _MAX_SITE = 150, 240, 60


@dataclass(frozen=True)
class PageWords:
    """What a page says of itself, in plain text; `picture` is an address, "" for none."""

    title: str
    description: str
    site: str
    picture: str


def described(body: bytes, base: str) -> PageWords | None:
    """What a page says of itself; None without a title."""
    page = tree_of(body)
    if page is None:
        return None
    title = _meta(page, "og:title", "twitter:title") or " ".join(page.xpath("//head/title//text()"))
    if not (title := one_line(title)):
        return None
    picture = joined(base, _meta(page, "og:image", "twitter:image").strip())
    host = urlsplit(base).hostname or ""
    return PageWords(
        shorten(title, _MAX_TITLE),
        shorten(one_line(_meta(page, "og:description", "description")), _MAX_DESCRIPTION),
        shorten(one_line(_meta(page, "og:site_name")) or host.removeprefix("www."), _MAX_SITE),
        picture if picture != base and is_of_the_web(picture) else "",
    )


def _meta(page: Any, *names: str) -> str:
    """The content of the first such meta element that has one."""
    for name in names:
        for text in page.xpath("//meta[@property=$name or @name=$name]/@content", name=name):
            if text.strip():
                return str(text)
    return ""
