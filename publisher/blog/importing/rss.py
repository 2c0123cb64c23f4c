"""RSS 2.0, 0.9x and 1.0 (RDF), with the modules that blogs use."""

from __future__ import annotations

from functools import partial
from typing import BinaryIO
from xml.etree.ElementTree import Element

from publisher.blog.drafts import Enclosure
from publisher.blog.importing import safexml, values
from publisher.blog.importing.model import Batch, ImportedPost

CONTENT = "{http://purl.org/rss/1.0/modules/content/}encoded"
DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"
ITUNES = "{http://www.itunes.com/dtds/podcast-1.0.dtd}"
MARKDOWN = "{http://source.scripting.com/}markdown"


def read(stream: BinaryIO) -> Batch:
    """Every item of a feed. Raises InvalidData for broken XML and impossible dates."""
    name, _ = safexml.root(stream)
    batch, rdf = Batch(), name == "RDF"
    for part in safexml.parts(stream, "RDF" if rdf else "channel"):
        if safexml.local(part) == "item":
            batch.posts.append(item(_plain_names(part) if rdf else part, len(batch.posts) + 1))
    return batch


def item(element: Element, number: int) -> ImportedPost:
    """One item as a post; its guid and whether that is an address are kept as they are."""
    where = f"item {number}"
    text = partial(safexml.text_of, element)
    guid, link = element.find("guid"), text("link")
    guid_text = (guid.text or "").strip() if guid is not None else ""
    permalink = guid is not None and guid.get("isPermaLink", "true").strip().lower() == "true"
    permalink = permalink and values.is_web_address(guid_text)
    address = link or (guid_text if permalink else "")
    source, source_format, summary = _content(element, address)
    return ImportedPost(
        where=where,
        guid=values.identity(guid_text, link, text("title") + source),
        guid_is_permalink=permalink,
        source=source,
        source_format=source_format,
        title=values.plain(text("title")),
        summary=summary,
        tags=tuple((part.text or "").strip() for part in element.findall("category")),
        by=(_author(text("author")) or text(f"{DUBLIN_CORE}creator"),),
        published_at=values.moment(text("pubDate") or text(f"{DUBLIN_CORE}date"), where),
        address=address,
        slug=values.slug_of(address),
        enclosure=_enclosure(element),
    )


def _content(element: Element, address: str) -> tuple[str, str, str]:
    """Source, its format, and the summary: the description, when the full text stands beside it."""
    markdown = element.findtext(MARKDOWN) or ""
    full = element.findtext(CONTENT) or ""
    description = (element.findtext("description") or "").strip()
    if markdown.strip():
        return markdown, "markdown", values.plain(description) if full.strip() else ""
    if full.strip():
        summary = values.plain(description)
        return values.with_base(full, address), "html", summary
    return values.with_base(description, address), "html", ""


def _author(text: str) -> str:
    """The name in "ada@example.org (Ada)", else the text."""
    name = text.partition("(")[2].rpartition(")")[0].strip()
    return name or text


def _enclosure(element: Element) -> Enclosure | None:
    found = element.find("enclosure")
    url = (found.get("url") or "").strip() if found is not None else ""
    if found is None or not values.is_web_address(url):
        return None
    return Enclosure(
        url,
        (found.get("type") or "").strip() or "application/octet-stream",
        values.size(found.get("length")),
        values.seconds(element.findtext(f"{ITUNES}duration")),
    )


def _plain_names(element: Element) -> Element:
    """RSS 1.0 puts its own elements into a namespace; everything else is as in RSS 2.0."""
    for part in element.iter():
        if str(part.tag).startswith("{http://purl.org/rss/1.0/}"):
            part.tag = safexml.local(part)
    return element
