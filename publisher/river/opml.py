"""Lists of subscriptions as OPML 2.0, in and out."""

from collections.abc import Iterable
from xml.etree.ElementTree import Element, ParseError, SubElement, tostring

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from publisher.base.errors import InvalidData, InvalidInput
from publisher.river.charset import to_utf8
from publisher.river.subscriptions import Outline, tidy_url
from publisher.storage.tables.river import RiverFeed


def read_opml(document: bytes) -> tuple[list[Outline], list[str]]:
    """The subscriptions of an OPML file, each address once, and what could not be taken.

    Outlines may nest; the nearest one without an address names the folder. Raises
    InvalidData when it is no OPML.
    """
    try:
        root = fromstring(to_utf8(document))
    except (ParseError, DefusedXmlException, ValueError) as problem:
        raise InvalidData(f"this is no OPML file: {problem}") from problem
    if root.tag.lower() != "opml":
        raise InvalidData("this is no OPML file: its first element is not opml")
    found: dict[str, Outline] = {}
    refused: list[str] = []
    pending: list[tuple[Element, str]] = [(root, "")]
    while pending:
        parent, folder = pending.pop()
        for element in reversed(parent):
            url = element.get("xmlUrl") or element.get("xmlurl") or ""
            name = " ".join((element.get("text") or element.get("title") or "").split())
            pending.append((element, folder if url else name or folder))
        if url := parent.get("xmlUrl") or parent.get("xmlurl") or "":
            _take(parent, url, folder, found, refused)
    return list(found.values()), refused


def _take(
    element: Element, url: str, folder: str, found: dict[str, Outline], refused: list[str]
) -> None:
    try:
        tidy, secret = tidy_url(url)
    except InvalidInput as problem:
        refused.append(str(problem))
        return
    title = " ".join((element.get("title") or element.get("text") or "").split())
    site = element.get("htmlUrl") or ""
    found.setdefault(tidy, Outline(tidy, title[:500], site, folder[:200], secret))


def write_opml(title: str, feeds: Iterable[RiverFeed]) -> bytes:
    """An OPML 2.0 document with a folder per outline; the same feeds give the same bytes."""
    root = Element("opml", version="2.0")
    SubElement(SubElement(root, "head"), "title").text = title
    body = SubElement(root, "body")
    folders: dict[str, Element] = {"": body}
    for feed in feeds:
        if feed.folder not in folders:
            folders[feed.folder] = SubElement(body, "outline", text=feed.folder)
        name = feed.title or feed.url
        outline = SubElement(
            folders[feed.folder], "outline", text=name, title=name, type="rss", xmlUrl=feed.url
        )
        if feed.site_url:
            outline.set("htmlUrl", feed.site_url)
    text: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return text
