"""Atom 1.0 (RFC 4287)."""

import html
from collections.abc import Iterator
from typing import BinaryIO
from xml.etree.ElementTree import Element, tostring

from publisher.base.links import joined
from publisher.base.media_files import Attachment
from publisher.exchange.importing.formats import fields
from publisher.exchange.importing.imported import Batch, ImportedPost

ATOM = "{http://www.w3.org/2005/Atom}"
BASE = "{http://www.w3.org/XML/1998/namespace}base"


def read(stream: BinaryIO) -> Batch:
    """Every entry of a feed. Raises InvalidData for broken XML and impossible dates."""
    return Batch(_entries(stream))


def _entries(stream: BinaryIO) -> Iterator[ImportedPost]:
    number, base, feed_author = 0, "", ""
    for part in fields.parts(stream, "feed"):
        if part.tag == f"{ATOM}link" and part.get("rel", "alternate") == "alternate":
            base = part.get("href") or base
        elif part.tag == f"{ATOM}author":
            feed_author = fields.text_of(part, f"{ATOM}name")
        elif part.tag == f"{ATOM}entry":
            number += 1
            yield _entry(part, number, base, feed_author)


def _entry(element: Element, number: int, base: str, feed_author: str) -> ImportedPost:
    where = f"entry {number}"
    address = joined(base, _link(element, "alternate").get("href", ""))
    base = joined(address or base, element.get(BASE, ""))
    full, summary = element.find(f"{ATOM}content"), element.find(f"{ATOM}summary")
    source = _markup(full, base)
    changed_at = fields.moment(_text(element, "updated"), where)
    return ImportedPost(
        where=where,
        guid=fields.identity(_text(element, "id"), address, _text(element, "title") + source),
        source=source or _markup(summary, base),
        title=fields.plain(_markup(element.find(f"{ATOM}title"), base)),
        summary=fields.plain(_markup(summary, base)) if source else "",
        tags=tuple(_category(part) for part in element.findall(f"{ATOM}category")),
        by=(fields.text_of(element, f"{ATOM}author/{ATOM}name") or feed_author,),
        published_at=fields.moment(_text(element, "published"), where) or changed_at,
        changed_at=changed_at,
        address=address,
        slug=fields.slug_of(address),
        enclosure=_enclosure(_link(element, "enclosure"), base),
    )


def _text(element: Element, name: str) -> str:
    return fields.text_of(element, f"{ATOM}{name}")


def _markup(element: Element | None, base: str) -> str:
    """A text construct as HTML, whichever of its three types it has."""
    if element is None:
        return ""
    kind = element.get("type", "text").strip().lower()
    if kind in ("xhtml", "application/xhtml+xml"):
        return fields.with_base(_inner(element), joined(base, element.get(BASE, "")))
    text = (element.text or "").strip()
    if kind in ("html", "text/html"):
        return fields.with_base(text, joined(base, element.get(BASE, "")))
    return fields.paragraphs(text) if "\n" in text else html.escape(text, quote=False)


def _inner(element: Element) -> str:
    """The HTML inside the `div` that Atom requires around XHTML."""
    div = next(iter(element), element)
    for part in div.iter():
        part.tag = fields.local(part)
    parts = [html.escape(div.text or "", quote=False)]
    parts += [str(tostring(child, encoding="unicode", method="html")) for child in div]
    return "".join(parts).strip()


def _link(element: Element, relation: str) -> Element:
    """The first link of a kind; an empty element when there is none."""
    for link in element.findall(f"{ATOM}link"):
        if link.get("rel", "alternate") == relation:
            return link
    return Element("link")


def _category(element: Element) -> str:
    return (element.get("label") or element.get("term") or "").strip()


def _enclosure(link: Element, base: str) -> Attachment | None:
    url = joined(base, link.get("href", "").strip()) if link.get("href") else ""
    return fields.attachment(url, link.get("type", ""), link.get("length"))
