"""Feeds: Atom 1.0 (RFC 4287); RSS 2.0, 0.9x and 1.0 (RDF) with the modules that blogs use; JSON
Feed 1.0 and 1.1 (jsonfeed.org).
"""

import html
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import tzinfo
from functools import partial
from typing import Any
from xml.etree.ElementTree import Element, tostring

from publisher.base.errors import InvalidData
from publisher.base.media_files import Attachment
from publisher.base.text import as_list, as_text, joined
from publisher.parts.importing.formats import fields
from publisher.parts.importing.imported import Batch, ImportedPost, is_web_address
from publisher.parts.importing.sources import Document
from publisher.storage.tables.blog import SourceFormat

ATOM = "{http://www.w3.org/2005/Atom}"
BASE = "{http://www.w3.org/XML/1998/namespace}base"
# RFC 5023 and its drafts; Blogger's backups, of 2018 and before, which have drafts, comments,
# templates and settings as entries beside the posts.
_PUBLISHING = ("{http://www.w3.org/2007/app}", "{http://purl.org/atom/app#}")
_BLOGGER = "{http://schemas.google.com/blogger/2018}"
_BLOGGER_MORE = re.compile(r"<a name=[\"']more[\"']\s*(?:/>|>\s*</a>)")
_KIND = "http://schemas.google.com/g/2005#kind"


def read_atom(document: Document, _: tzinfo, batch: Batch) -> Iterator[ImportedPost]:
    """Every entry of a feed. Raises InvalidData for broken XML."""
    number, base, feed_author = 0, "", ""
    for part in fields.parts(document.stream, "feed", batch.notes):
        if part.tag == f"{ATOM}link" and part.get("rel", "alternate") == "alternate":
            base = part.get("href") or base
        elif part.tag == f"{ATOM}author":
            feed_author = fields.text_of(part, f"{ATOM}name")
        elif part.tag == f"{ATOM}entry":
            number += 1
            if fields.text_of(part, f"{_BLOGGER}status").endswith("TRASHED"):
                batch.notes["post in the trash is left out"] += 1
            elif (kind := _kind(part)) in ("post", "page"):
                post = _entry(part, number, base, feed_author)
                yield replace(post, kind="page" if kind == "page" else "post")
            else:
                batch.notes[f"{kind} is not a post and is left out"] += 1


def _kind(element: Element) -> str:
    """What an entry is at Blogger; other programs have posts alone."""
    terms = [
        part.get("term", "").rpartition("#")[2]
        for part in element.findall(f"{ATOM}category")
        if part.get("scheme") == _KIND
    ]
    return fields.text_of(element, f"{_BLOGGER}type").lower() or next(iter(terms), "post")


def _is_draft(element: Element) -> bool:
    marks = {fields.text_of(element, f"{app}control/{app}draft") for app in _PUBLISHING}
    state = fields.text_of(element, f"{_BLOGGER}status")
    return "yes" in marks or state not in ("", "LIVE", "SCHEDULED")


def _entry(element: Element, number: int, base: str, feed_author: str) -> ImportedPost:
    where = f"entry {number}"
    address = joined(base, _atom_link(element, "alternate").get("href", ""))
    base = joined(address or base, element.get(BASE, ""))
    full, summary = element.find(f"{ATOM}content"), element.find(f"{ATOM}summary")
    source = _BLOGGER_MORE.sub("<!--more-->", _markup(full, base))
    changed = _atom_text(element, "updated")
    published_at, needs = fields.first_dated(_atom_text(element, "published"), changed)
    draft, path = _is_draft(element), fields.text_of(element, f"{_BLOGGER}filename")
    return ImportedPost(
        where=where,
        status="draft" if draft else "published",
        aliases=(path,) if path and not draft else (),
        guid=fields.identity(
            _atom_text(element, "id"), address, _atom_text(element, "title") + source
        ),
        source=source or _markup(summary, base),
        title=fields.plain(_markup(element.find(f"{ATOM}title"), base)),
        summary=fields.plain(_markup(summary, base)) if source else "",
        tags=tuple(
            _category(part)
            for part in element.findall(f"{ATOM}category")
            if part.get("scheme") != _KIND
        ),
        by=(fields.text_of(element, f"{ATOM}author/{ATOM}name") or feed_author,),
        published_at=published_at,
        needs=needs,
        changed_at=fields.dated(changed)[0],
        address="" if draft else address,
        slug=fields.slug_of(address or path),
        enclosure=_atom_enclosure(_atom_link(element, "enclosure"), base),
    )


def _atom_text(element: Element, name: str) -> str:
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


def _atom_link(element: Element, relation: str) -> Element:
    """The first link of a kind; an empty element when there is none."""
    for link in element.findall(f"{ATOM}link"):
        if link.get("rel", "alternate") == relation:
            return link
    return Element("link")


def _category(element: Element) -> str:
    return (element.get("label") or element.get("term") or "").strip()


def _atom_enclosure(link: Element, base: str) -> Attachment | None:
    url = joined(base, link.get("href", "").strip()) if link.get("href") else ""
    return fields.attachment(url, link.get("type", ""), link.get("length"))


CONTENT = "{http://purl.org/rss/1.0/modules/content/}encoded"
DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"
ITUNES = "{http://www.itunes.com/dtds/podcast-1.0.dtd}"
MARKDOWN = "{http://source.scripting.com/}markdown"


def read_rss(document: Document, _: object, batch: Batch) -> Iterator[ImportedPost]:
    """Every item of a feed. Raises InvalidData for broken XML."""
    rdf = fields.root(document.stream)[0] == "RDF"
    number = 0
    for part in fields.parts(document.stream, "RDF" if rdf else "channel", batch.notes):
        if fields.local(part) == "item":
            number += 1
            yield item(_plain_names(part) if rdf else part, number)


def item(element: Element, number: int) -> ImportedPost:
    """One item as a post; its guid and whether that is an address are kept as they are."""
    where = f"item {number}"
    text = partial(fields.text_of, element)
    guid, link = element.find("guid"), text("link")
    guid_text = (guid.text or "").strip() if guid is not None else ""
    permalink = guid is not None and guid.get("isPermaLink", "true").strip().lower() == "true"
    permalink = permalink and is_web_address(guid_text)
    address = link or (guid_text if permalink else "")
    source, source_format, summary = _content(element, address)
    published_at, needs = fields.first_dated(text("pubDate"), text(f"{DUBLIN_CORE}date"))
    return ImportedPost(
        where=where,
        guid=fields.identity(guid_text, link, text("title") + source),
        guid_is_permalink=permalink,
        source=source,
        source_format=source_format,
        title=fields.title(text("title")),
        summary=summary,
        tags=tuple((part.text or "").strip() for part in element.findall("category")),
        by=(_author(text("author")) or text(f"{DUBLIN_CORE}creator"),),
        published_at=published_at,
        needs=needs,
        address=address,
        slug=fields.slug_of(address),
        enclosure=_enclosure(element),
    )


def _content(element: Element, address: str) -> tuple[str, SourceFormat, str]:
    """Source, its format, and the summary: the description, if there is a full text besides."""
    markdown = element.findtext(MARKDOWN) or ""
    full = element.findtext(CONTENT) or ""
    description = (element.findtext("description") or "").strip()
    if markdown.strip():
        return markdown, "markdown", fields.plain(description) if full.strip() else ""
    if full.strip():
        summary = fields.plain(description)
        return fields.with_base(full, address), "html", summary
    return fields.with_base(description, address), "html", ""


def _author(text: str) -> str:
    """The name in "ada@example.org (Ada)", else the text."""
    name = text.partition("(")[2].rpartition(")")[0].strip()
    return name or text


def _enclosure(element: Element) -> Attachment | None:
    enclosure = element.find("enclosure")
    if enclosure is None:
        return None
    duration = element.findtext(f"{ITUNES}duration") or ""
    return fields.attachment(
        enclosure.get("url", ""), enclosure.get("type", ""), enclosure.get("length"), duration
    )


def _plain_names(element: Element) -> Element:
    """An item of RSS 1.0 without its namespace; everything else is as in RSS 2.0."""
    for part in element.iter():
        if str(part.tag).startswith("{http://purl.org/rss/1.0/}"):
            part.tag = fields.local(part)
    return element


def read_json(document: Document, *_: object, in_archive: bool = False) -> Iterator[ImportedPost]:
    """Every item of a feed; in an archive, relative addresses start from the blog's home page.

    Raises InvalidData for broken JSON."""
    feed = fields.json_in(document.stream)
    items = feed.get("items") if isinstance(feed, dict) else None
    if not isinstance(items, list) or "jsonfeed.org" not in as_text(feed.get("version")):
        raise InvalidData("this is JSON, but not a JSON Feed")
    author = _json_author(feed)
    home = as_text(feed.get("home_page_url")) if in_archive else ""
    for number, item in enumerate(items, 1):
        if isinstance(item, dict):
            yield _json_item(item, number, author, home)


def _json_item(item: dict[str, Any], number: int, feed_author: str, home: str) -> ImportedPost:
    where = f"item {number}"
    address = as_text(item.get("url"))
    markup, plain = as_text(item.get("content_html")), as_text(item.get("content_text"))
    summary = as_text(item.get("summary"))
    source = fields.with_base(markup, home or address) or fields.paragraphs(plain or summary)
    published_at, needs = fields.dated(as_text(item.get("date_published")))
    return ImportedPost(
        where=where,
        guid=fields.identity(as_text(item.get("id")), address, as_text(item.get("title")) + source),
        source=source,
        title=" ".join(as_text(item.get("title")).split()),
        summary=summary if markup or plain else "",
        tags=tuple(as_text(tag) for tag in as_list(item.get("tags"))),
        by=(_json_author(item) or feed_author,),
        published_at=published_at,
        changed_at=fields.dated(as_text(item.get("date_modified")))[0],
        needs=needs,
        address=address,
        slug=fields.slug_of(address),
        enclosure=_json_enclosure(as_list(item.get("attachments"))),
    )


def _json_author(holder: dict[str, Any]) -> str:
    """The first author of an item or a feed, in the form of 1.1 or 1.0."""
    people = [*as_list(holder.get("authors")), holder.get("author")]
    return next((as_text(p.get("name")) for p in people if isinstance(p, dict)), "")


def _json_enclosure(files: list[Any]) -> Attachment | None:
    file = files[0] if files and isinstance(files[0], dict) else {}
    url, kind, size = (as_text(file.get(n)) for n in ("url", "mime_type", "size_in_bytes"))
    seconds = as_text(file.get("duration_in_seconds")).partition(".")[0]
    return fields.attachment(url, kind, size, seconds)
