"""Lists of subscriptions as OPML 2.0, in and out."""

from collections.abc import Iterable
from xml.etree.ElementTree import (
    Element,
    ParseError,
    SubElement,
    register_namespace,
    tostring,
)

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from publisher.base.errors import InvalidData, InvalidInput
from publisher.core.specs import SpecError
from publisher.river.charset import to_utf8
from publisher.river.observed import check_policy
from publisher.river.subscriptions import Outline, tidy_folder, tidy_url
from publisher.storage.tables.river import RiverFeed

_OURS = "urn:publisher:river"
_POLICY, _STATE = f"{{{_OURS}}}policy", f"{{{_OURS}}}state"
register_namespace("river", _OURS)


def read_opml(document: bytes) -> tuple[list[Outline], list[str]]:
    """The subscriptions of an OPML file, each address once, and what could not be taken.

    Outlines may nest; those without an address name the folder, with a slash between. What only
    our own lists say (policy, paused) is taken over. Raises InvalidData when it is no OPML.
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
            inside = f"{folder}/{name.replace('/', '-')}" if name and not url else folder
            pending.append((element, inside))
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
    title = " ".join((element.get("text") or element.get("title") or "").split())
    policy = element.get(_POLICY) or ""
    try:
        check_policy(policy)
    except SpecError as problem:
        refused.append(f"the policy of {tidy}: {problem}")
        policy = ""
    outline = Outline(
        tidy,
        "" if title in (url, tidy) else title[:500],
        element.get("htmlUrl") or "",
        tidy_folder(folder),
        secret,
        policy,
        element.get(_STATE) == "paused",
    )
    found.setdefault(tidy, outline)


def write_opml(title: str, feeds: Iterable[RiverFeed], *, complete: bool = True) -> bytes:
    """An OPML 2.0 document with a folder per outline; the same feeds give the same bytes.

    A complete one says, in attributes of our own, what another river needs to go on: policies,
    and which feeds are paused. Logins are in none.
    """
    root = Element("opml", version="2.0")
    SubElement(SubElement(root, "head"), "title").text = title
    body = SubElement(root, "body")
    folders: dict[str, Element] = {"": body}
    for feed in feeds:
        name = feed.title or feed.url
        outline = SubElement(
            _folder(folders, feed.folder),
            "outline",
            text=name,
            title=feed.feed_title or name,
            type="rss",
            xmlUrl=feed.url,
        )
        if feed.site_url:
            outline.set("htmlUrl", feed.site_url)
        if complete and feed.policy:
            outline.set(_POLICY, feed.policy)
        if complete and feed.state == "paused":
            outline.set(_STATE, feed.state)
    text: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return text


def _folder(folders: dict[str, Element], path: str) -> Element:
    """The outline of a folder, made with those around it where it is new."""
    if path not in folders:
        around, _, name = path.rpartition("/")
        folders[path] = SubElement(_folder(folders, around), "outline", text=name)
    return folders[path]
