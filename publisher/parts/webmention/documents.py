"""Strangers' pages, parsed for their Webmention endpoint and for what they say about a post.

Pure functions for `base.system.confined`; they return plain text and addresses only.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from publisher.base.text import joined, one_line
from publisher.base.web_pages import having, tree_of

MAX_LINE, MAX_WORDS = 200, 500
_LINK_HEADER = re.compile(r'<([^<>]*)>((?:\s*;\s*[\w*]+\s*(?:=\s*(?:"[^"]*"|[^\s",;]+))?)*)')
_REL = re.compile(r';\s*rel\s*=\s*(?:"([^"]*)"|([^\s",;]+))', re.IGNORECASE)
_LINKS = (
    "//a/@href | //area/@href | //link/@href | //img/@src | //video/@src | //audio/@src"
    " | //source/@src | //iframe/@src | //blockquote/@cite | //q/@cite"
)
_KINDS = {"u-in-reply-to": "reply", "u-like-of": "like", "u-repost-of": "share"}


@dataclass(frozen=True)
class MentionText:
    """What a page says about a post it links to; `said`: mention, reply, like or share."""

    said: str = "mention"
    author: str = ""
    title: str = ""
    words: str = ""


def endpoint_in_header(value: str) -> str | None:
    """The first webmention endpoint of a Link header, as it is written; None for none."""
    for address, parameters in _LINK_HEADER.findall(value):
        rel = _REL.search(parameters)
        if rel is not None and "webmention" in (rel[1] or rel[2] or "").lower().split():
            return str(address).strip()
    return None


def endpoint_in_page(body: bytes, base: str) -> str | None:
    """The address of the first `<link>` or `<a>` with rel=webmention and an href; None for none."""
    page = tree_of(body)
    if page is None:
        return None
    for element in page.iter("link", "a"):
        if "webmention" in element.get("rel", "").lower().split() and "href" in element.attrib:
            return joined(base, element.get("href", "").strip())
    return None


def mention_in(body: bytes, content_type: str, base: str, target: str) -> MentionText | None:
    """What a document says about `target`; None if it does not contain exactly that address."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind in ("text/html", "application/xhtml+xml", ""):
        page = tree_of(body)
        return None if page is None else _mention_in_page(page, base, target)
    text = body.decode("utf-8", "replace")
    if kind == "application/json" or kind.endswith("+json"):
        try:
            named = target in _texts(json.loads(text))
        except (ValueError, RecursionError):
            named = False
    else:
        named = kind.startswith("text/") and target in re.split(r'[\s"<>]+', text)
    return MentionText() if named else None


def _mention_in_page(page: Any, base: str, target: str) -> MentionText | None:
    links = [link for link in page.xpath(_LINKS) if joined(base, link.strip()) == target]
    if not links:
        return None
    entry = next(iter(page.xpath(having("h-entry"))), None)
    around = entry if entry is not None else page
    kind = next((s for link in links for s in _kinds(link.getparent(), around)), "mention")
    title = _first(around, "p-name") if entry is not None else ""
    if not title:
        title = _line(" ".join(page.xpath("//head/title[1]//text()")))
    words = _first(around, "e-content", MAX_WORDS) if entry is not None else ""
    if words.startswith(title.rstrip(" ….")):  # a note's p-name repeats its text
        title = ""
    return MentionText(
        kind, _author(around), title, words or _first(around, "p-summary", MAX_WORDS)
    )


def _kinds(element: Any, around: Any) -> Iterator[str]:
    """The kinds of mention in the classes of a link and of the elements around it."""
    while element is not None and element is not around:
        for name in element.get("class", "").split():
            if name in _KINDS:
                yield _KINDS[name]
        element = element.getparent()


def _author(around: Any) -> str:
    card = next(iter(around.xpath(having("p-author", "."))), None)
    if card is None:
        return ""
    return _first(card, "p-name") or _line(card.text_content())


def _first(around: Any, name: str, most: int = MAX_LINE) -> str:
    """The text of the first element of a class, one line, cut at a word."""
    for element in around.xpath(having(name, ".")):
        if text := _line(element.text_content(), most):
            return text
    return ""


def _line(text: str, most: int = MAX_LINE) -> str:
    line = one_line(text)
    if len(line) <= most:
        return line
    return (line[:most].rpartition(" ")[0] or line[:most]) + " …"


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)
