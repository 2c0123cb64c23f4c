"""RSS 2.0, 0.9x and 1.0 (RDF), with the modules that blogs use."""

from collections.abc import Iterator
from functools import partial
from typing import BinaryIO
from xml.etree.ElementTree import Element

from publisher.base.media_files import Attachment
from publisher.exchange.importing.formats import fields
from publisher.exchange.importing.imported import Batch, ImportedPost
from publisher.storage.tables.blog import SourceFormat

CONTENT = "{http://purl.org/rss/1.0/modules/content/}encoded"
DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"
ITUNES = "{http://www.itunes.com/dtds/podcast-1.0.dtd}"
MARKDOWN = "{http://source.scripting.com/}markdown"


def read(stream: BinaryIO) -> Batch:
    """Every item of a feed. Raises InvalidData for broken XML and impossible dates."""
    return Batch(_items(stream))


def _items(stream: BinaryIO) -> Iterator[ImportedPost]:
    rdf = fields.root(stream)[0] == "RDF"
    number = 0
    for part in fields.parts(stream, "RDF" if rdf else "channel"):
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
    permalink = permalink and fields.is_web_address(guid_text)
    address = link or (guid_text if permalink else "")
    source, source_format, summary = _content(element, address)
    return ImportedPost(
        where=where,
        guid=fields.identity(guid_text, link, text("title") + source),
        guid_is_permalink=permalink,
        source=source,
        source_format=source_format,
        title=fields.plain(text("title")),
        summary=summary,
        tags=tuple((part.text or "").strip() for part in element.findall("category")),
        by=(_author(text("author")) or text(f"{DUBLIN_CORE}creator"),),
        published_at=fields.moment(text("pubDate") or text(f"{DUBLIN_CORE}date"), where),
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
    found = element.find("enclosure")
    if found is None:
        return None
    duration = element.findtext(f"{ITUNES}duration") or ""
    return fields.attachment(
        found.get("url", ""), found.get("type", ""), found.get("length"), duration
    )


def _plain_names(element: Element) -> Element:
    """An item of RSS 1.0 without its namespace; everything else is as in RSS 2.0."""
    for part in element.iter():
        if str(part.tag).startswith("{http://purl.org/rss/1.0/}"):
            part.tag = fields.local(part)
    return element
