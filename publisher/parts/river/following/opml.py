"""Lists of subscriptions as OPML 2.0, in and out."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree.ElementTree import Element, ParseError, SubElement, register_namespace, tostring

from publisher.base import safe_xml
from publisher.base.errors import InvalidData, InvalidInput
from publisher.base.system.confined import Limits, read
from publisher.dynamic_ttl.core.specs import SpecError
from publisher.feed_fetching.addresses import tidy_url
from publisher.feed_reading.character_sets import as_utf8
from publisher.feed_reading.feed_document import web_address
from publisher.feed_reading.mending import mended
from publisher.feed_reading.remarks import Remark, gathered
from publisher.feed_reading.scan import first_tag
from publisher.parts.river.following.subscriptions import Outline, tidy_folder
from publisher.parts.river.observe import check_policy
from publisher.parts.river.tables import RiverFeed

LIST_LIMITS = Limits(seconds=10.0)
_END, _END_BYTES = re.compile(rb"</opml\s*>", re.IGNORECASE), 4_096
# Between lists that were joined to one file; comments without angle brackets keep it linear.
_SEAM = re.compile(r"</opml\s*>(?:\s|<[!?][^<>]*+>)*+<opml\b[^<>]*+>", re.IGNORECASE)
_OURS = "urn:publisher:river"
_POLICY, _STATE = f"{{{_OURS}}}policy", f"{{{_OURS}}}state"
register_namespace("river", _OURS)


@dataclass(frozen=True, slots=True)
class FeedList:
    """The subscriptions of a list, each address once, and messages about refused entries.

    `cut_off`: the end is missing, so it may name fewer feeds than it is meant to.
    """

    title: str
    outlines: list[Outline]
    refused: list[str]
    cut_off: bool = False
    remarks: tuple[Remark, ...] = ()


def read_list(document: bytes) -> FeedList:
    """As `read_opml`, in a confined process."""
    return read(read_opml, LIST_LIMITS, document)


def read_opml(document: bytes) -> FeedList:
    """The list in an OPML file.

    Outlines may nest; those without an address name the folder, with a slash between. One of the
    type `include` names another list. Our own attributes (policy, paused) are read too. What is
    not well-formed is read as it is meant, with a remark. Raises InvalidData when it is no OPML.
    """
    xml, remarks = as_utf8(document)
    root, mending = _root(xml)
    outlines: dict[str, Outline] = {}
    refused: list[str] = []
    pending: list[tuple[Element, str]] = [(root, "")]
    while pending:
        parent, folder = pending.pop()
        for element in reversed(parent):
            url = _address(element)
            name = " ".join((element.get("text") or element.get("title") or "").split())
            inside = f"{folder}/{name.replace('/', '-')}" if name and not url else folder
            pending.append((element, inside))
        if url := _address(parent):
            _read_outline(parent, url, folder, outlines, refused)
    if mending and not outlines:
        raise InvalidData("this is not an OPML file: it is damaged, and no feed is found in it")
    title = " ".join((root.findtext("head/title") or "").split())
    cut_off = bool(mending) and not _END.search(xml[-_END_BYTES:])
    return FeedList(
        title[:500], list(outlines.values()), refused, cut_off, gathered((*remarks, *mending))
    )


def _root(xml: bytes) -> tuple[Element, tuple[Remark, ...]]:
    """The first element of a list, and remarks if it had to be mended."""
    if first_tag(xml).lower() != "opml":
        raise InvalidData("this is not an OPML file: its first element is not opml")
    mending: tuple[Remark, ...] = ()
    try:
        try:
            return safe_xml.tree(xml), ()
        except ParseError:
            text, mending = mended(_SEAM.sub("", xml.decode("utf-8")))
            return safe_xml.tree(text.encode("utf-8")), mending
    except (ParseError, ValueError) as problem:
        raise InvalidData(f"this is not an OPML file: {problem}") from problem


def _address(element: Element) -> str:
    """The address that an outline names, of a feed or of another list; else ""."""
    if _is_list(element):
        return element.get("url") or ""
    named = {name.lower(): value for name, value in element.items()}
    of_a_feed = named.get("type", "").lower() in ("rss", "atom", "feed")
    return named.get("xmlurl") or (named.get("url", "") if of_a_feed else "")


def _is_list(element: Element) -> bool:
    return (element.get("type") or "").lower() == "include"


def _read_outline(
    element: Element, url: str, folder: str, outlines: dict[str, Outline], refused: list[str]
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
        web_address(tidy, element.get("htmlUrl")),
        tidy_folder(folder),
        secret,
        policy,
        element.get(_STATE) == "paused",
        _is_list(element),
    )
    outlines.setdefault(tidy, outline)


def write_opml(title: str, feeds: Iterable[RiverFeed], *, complete: bool = True) -> bytes:
    """An OPML 2.0 document with a folder per outline; the same feeds give the same bytes.

    A complete one has attributes of our own, from which another river can go on: policies, and
    which feeds are paused. Logins are never written.
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
            type="include" if feed.is_list else "rss",
        )
        outline.set("url" if feed.is_list else "xmlUrl", feed.url)
        if feed.site_url:
            outline.set("htmlUrl", feed.site_url)
        if complete and feed.policy:
            outline.set(_POLICY, feed.policy)
        if complete and feed.state == "paused":
            outline.set(_STATE, feed.state)
    text: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return text


def _folder(folders: dict[str, Element], path: str) -> Element:
    """The outline of a folder, created with its parents if it is missing."""
    if path not in folders:
        around, _, name = path.rpartition("/")
        folders[path] = SubElement(_folder(folders, around), "outline", text=name)
    return folders[path]
