"""Deltas: only the newer items of a document, for readers that send `A-IM: feed` (RFC 3229).

A document's history lists its latest contents, and the content in which each item first appeared.
A reader's tag names the content that it holds; it gets the items that appeared later.
"""

import hashlib
import json
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, NamedTuple

from lxml.etree import XMLParser, XMLSyntaxError, fromstring, tostring

from publisher.feeds.feed_answer import gzipped
from publisher.feeds.rss import ATOM, HISTORY

MOST_CONTENTS = 32
CONTENT_DIGITS = 8  # of the content's hash; a tag begins with them
# feedparser sends the header on behalf of programs that cannot take a 226: rss2email fails.
UNAWARES = ("feedparser/", "rss2email/")
LARGEST_SHARE = 0.5  # of the whole document: a longer delta is not offered

# "contents": content -> number, oldest first; "items": item -> number of its first content.
History = dict[str, dict[str, int]]


class Delta(NamedTuple):
    """A document of newer items, uncompressed and as gzip."""

    body: bytes
    body_gzip: bytes


def followed(before: History | None, content_hash: str, content_type: str, body: bytes) -> History:
    """The history of a document whose predecessor had the history `before`.

    A document that cannot be parsed has no items in it.
    """
    content = content_hash[:CONTENT_DIGITS]
    document = _Document(content_type, body)
    contents, items = (before["contents"], before["items"]) if before else ({}, {})
    number = max(contents.values(), default=0) + 1
    came = {digest: items.get(digest, number) for digest in document.digests}
    if next(reversed(contents), None) == content:
        if came == items:
            return {"contents": contents, "items": items}
        contents = {}  # the same content in other bytes: which of them a reader holds is unknown
    earlier = [(name, at) for name, at in contents.items() if name != content]
    return {"contents": dict([*earlier, (content, number)][-MOST_CONTENTS:]), "items": came}


def deltas(history: History | None, content_type: str, body: bytes) -> dict[str, Delta]:
    """By earlier content, the items that its holders lack; only if short (LARGEST_SHARE)."""
    if not history or not history["items"]:
        return {}
    document = _Document(content_type, body)
    by_number: dict[int, Delta] = {}
    for number in {*history["contents"].values()}:
        held = {item for item, at in history["items"].items() if at <= number}
        text = document.without(held) if held else body
        if len(text) <= LARGEST_SHARE * len(body):
            by_number[number] = Delta(text, gzipped(text))
    contents = history["contents"].items()
    return {content: by_number[number] for content, number in contents if number in by_number}


def wanted(environ: Mapping[str, Any]) -> bool:
    """Whether a request asks for a delta, from a program that can read one."""
    if str(environ.get("HTTP_USER_AGENT", "")).startswith(UNAWARES):
        return False
    for part in str(environ.get("HTTP_A_IM", "")).lower().split(","):
        name, _, quality = part.partition(";")
        if name.strip() == "feed":
            return quality.strip().rstrip("0.") != "q="
    return False


class _Document:
    """A parsed feed; one that cannot be parsed has no items."""

    def __init__(self, content_type: str, body: bytes) -> None:
        self._is_json = "json" in content_type
        try:
            self._root: Any = json.loads(body) if self._is_json else fromstring(body, _parser())
        except (ValueError, XMLSyntaxError):
            self._root = None
        self.digests = [_digest(item) for item in _items(self._root)]

    def without(self, unwanted: set[str]) -> bytes:
        """The document without these items, and without the claim that there are no others."""
        if self._is_json:
            pairs = zip(self.digests, self._root["items"], strict=True)
            items = [item for digest, item in pairs if digest not in unwanted]
            short = {**self._root, "items": items}
            return (json.dumps(short, ensure_ascii=False, indent=1) + "\n").encode()
        tree = deepcopy(self._root.getroottree())
        pairs = zip(self.digests, _items(tree.getroot()), strict=True)
        gone = [item for digest, item in pairs if digest in unwanted]
        for element in (*gone, *tree.iterfind(f".//{{{HISTORY}}}complete")):
            element.getparent().remove(element)
        return bytes(tostring(tree, encoding="UTF-8", xml_declaration=True))


def _parser() -> XMLParser:
    return XMLParser(strip_cdata=False, resolve_entities=False)


def _items(root: Any) -> list[Any]:
    """The items of RSS 2.0 and JSON Feed, the entries of Atom."""
    if isinstance(root, dict):
        items = root.get("items")
        return items if isinstance(items, list) else []
    if getattr(root, "tag", "") == "rss":
        return list(root.iterfind("channel/item"))
    atom = getattr(root, "tag", "") == f"{{{ATOM}}}feed"
    return list(root.iterfind(f"{{{ATOM}}}entry")) if atom else []


def _digest(item: Any) -> str:
    if isinstance(item, dict):
        text = json.dumps(item, sort_keys=True).encode()
    else:
        text = tostring(item, method="c14n", exclusive=True, with_tail=False)
    return hashlib.sha256(text).hexdigest()[:16]
