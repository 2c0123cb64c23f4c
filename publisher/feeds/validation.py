"""The feed doctor: parses a document as a reader would, and lists the rules that it breaks.

It checks the bytes that are about to be served against the channel that they were made from.
A feed that was not made here is checked by the same rules, without a channel: then optional
elements may be missing, and only contradictions within the document are problems.
The rules are those of RSS 2.0, its best-practices profile, RFC 822, RFC 4287, JSON Feed 1.1 and
the sy and WebSub documents; R1 to R13 name them (R10, the media type, is a test's).
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from publisher.base import safe_xml
from publisher.base.dates import parse_instant
from publisher.base.errors import InvalidInput
from publisher.base.text import is_of_the_web
from publisher.dynamic_ttl.core.durations import update_rate
from publisher.feeds.channel import Channel, relative_addresses
from publisher.feeds.rss import ATOM, SYNDICATION

CONTENT = "http://purl.org/rss/1.0/modules/content/"
CLOUD = ("domain", "port", "path", "registerProcedure", "protocol")
MOST_PROBLEMS = 20  # in a report on a feed that was not made here

_RFC822 = re.compile(
    r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) "
    r"\d{4} \d\d:\d\d:\d\d (GMT|[+-]\d{4})"
)


@dataclass(frozen=True)
class Problem:
    """A broken rule: the document's name, the rule's (R1 to R13), and what is wrong."""

    document: str
    rule: str
    message: str


def examine(
    name: str,
    channel: Channel,
    now: datetime,
    render: Callable[[Channel], bytes],
    body: bytes,
) -> list[Problem]:
    """The problems of `body`, the document `name` that `render` made of `channel`; [] if none.

    `render` is called again, to check that it gives the same bytes.
    """
    again = [("R13", "rendered again from the same values, its bytes differ")]
    violations = [] if render(channel) == body else again
    try:
        violations += _EXAMINERS[name](body, channel, now)
    except (ParseError, ValueError) as error:
        violations.append(("R1", f"it cannot be parsed: {error}"))
    return [Problem(name, rule, message) for rule, message in violations]


_MULTI = "multi-byte encodings"  # expat's word for GBK, Shift_JIS and their like


def inspect(body: bytes, now: datetime) -> list[Problem]:
    """The problems of a feed that was not made here; at most `MOST_PROBLEMS`, each kind once."""
    name = "json" if body.lstrip()[:1] == b"{" else "rss"
    try:
        if name == "rss" and safe_xml.tree(body).tag == f"{{{ATOM}}}feed":
            name = "atom"
        violations = list(_EXAMINERS[name](body, None, now))
    except (ParseError, ValueError) as error:
        reason = "only UTF-8 is read everywhere" if _MULTI in str(error) else str(error)
        violations = [("R1", f"it cannot be parsed: {reason}")]
    kinds: dict[tuple[str, str], Problem] = {}
    for rule, message in violations:
        kind = re.sub(r"^item \d+: ", "", message).partition(": ")[0]  # without an example
        kinds.setdefault((rule, kind), Problem(name, rule, message))
    return list(kinds.values())[:MOST_PROBLEMS]


def _rss(body: bytes, channel: Channel | None, now: datetime) -> Iterator[tuple[str, str]]:
    root = safe_xml.tree(body)
    if channel is None and root.tag.endswith("}RDF"):
        return  # RSS 1.0: sound, and none of ours
    top = root.findall("channel")
    if root.tag != "rss" or root.get("version") != "2.0" or len(top) != 1:
        yield "R1", "it is not RSS 2.0 with one channel"
        return
    for check in (_frame, _ttl, _skip_hours, _dates, _items, _links, _cloud, _syndication):
        yield from check(top[0], channel, now)


def _frame(top: Element, channel: Channel | None, _now: datetime) -> Iterator[tuple[str, str]]:
    needed = ("title", "link", "description")
    for name in needed if channel is None else (*needed, "language"):
        if len(top.findall(name)) != 1 or not top.findtext(name, "").strip():
            yield "R1", f"the channel needs one {name}"


def _ttl(top: Element, channel: Channel | None, _now: datetime) -> Iterator[tuple[str, str]]:
    values = [element.text or "" for element in top.findall("ttl")]
    if channel is None and not values:
        return
    if len(values) != 1 or not re.fullmatch(r"[1-9]\d{0,5}", values[0]):
        yield "R2", f"ttl must be one whole number of minutes, not {values}"
    elif channel is not None and int(values[0]) != channel.ttl_minutes:
        yield "R2", f"ttl says {values[0]}, {channel.ttl_minutes} was decided"


def _skip_hours(top: Element, _: Channel | None, _now: datetime) -> Iterator[tuple[str, str]]:
    lists = top.findall("skipHours")
    if len(lists) > 1:
        yield "R3", "there is more than one skipHours"
    for hours in lists:
        texts = [hour.text or "" for hour in hours.findall("hour")]
        whole = all(re.fullmatch(r"\d{1,2}", text) for text in texts)
        numbers = [int(text) for text in texts] if whole else []
        if not numbers or numbers != sorted(set(numbers)) or numbers[-1] > 23:
            yield "R3", f"skipHours must be different hours from 0 to 23 in order, not {texts}"


def _dates(top: Element, channel: Channel | None, now: datetime) -> Iterator[tuple[str, str]]:
    published = [_rfc822(element.text) for element in top.iterfind("item/pubDate")]
    if None in published or len(published) != len(top.findall("item")):
        yield "R5", "each item needs a pubDate of RFC 822 with a year of four digits"
    dates = [at for at in published if at is not None]
    if any(at > now for at in dates):
        yield "R5", f"a pubDate is in the future: {max(dates)}"
    built = _rfc822(top.findtext("lastBuildDate"))
    if channel is None and top.find("lastBuildDate") is None:
        return
    if built is None:
        yield "R4", "lastBuildDate is missing or no date of RFC 822"
        return
    if channel is not None and built != channel.content_changed_at.replace(microsecond=0):
        yield "R4", f"lastBuildDate says {built}, the content changed at another time"
    if dates and built < max(dates):
        yield "R4", "lastBuildDate is older than the newest item"


def _items(top: Element, _channel: Channel | None, _now: datetime) -> Iterator[tuple[str, str]]:
    guids = [item.findtext("guid", "") for item in top.iterfind("item")]
    if "" in guids or len(set(guids)) != len(guids):
        yield "R7", "each item needs a guid of its own"
    for number, item in enumerate(top.iterfind("item"), 1):
        yield from ((rule, f"item {number}: {text}") for rule, text in _item(item))


def _item(item: Element) -> Iterator[tuple[str, str]]:
    title, description = item.find("title"), item.findtext("description", "")
    if title is not None and not (title.text or "").strip():
        yield "R6", "its title is empty"
    if title is None and not description.strip():
        yield "R6", "it has neither a title nor a description"
    guid = item.find("guid")
    permalink = guid is not None and guid.get("isPermaLink", "true") == "true"
    if permalink and not is_of_the_web(item.findtext("guid", "")):
        yield "R7", "its guid says that it is a permalink, but is not an address"
    names = [child.tag for child in item]
    encoded = f"{{{CONTENT}}}encoded"
    if encoded in names and "description" not in names[: names.index(encoded)]:
        yield "R8", "content:encoded stands before the description"
    for html in (description, item.findtext(encoded, "")):
        for address_text in relative_addresses(html):
            yield "R9", f"its text has a relative address: {address_text[:80]!r}"


def _links(top: Element, channel: Channel | None, _now: datetime) -> Iterator[tuple[str, str]]:
    links = top.findall(f"{{{ATOM}}}link")
    own = [link.get("href") for link in links if link.get("rel") == "self"]
    if channel is None:
        if len(own) > 1 or not all(is_of_the_web(address or "") for address in own):
            yield "R9", f"one self link with a whole address is enough, not {own}"
        return
    if own != [channel.feed_url]:
        yield "R9", f"one self link to {channel.feed_url} is needed, not {own}"
    hubs = tuple(link.get("href") or "" for link in links if link.get("rel") == "hub")
    if hubs != channel.hubs:
        yield "R9", f"the hubs are {channel.hubs}, not {hubs}"


def _cloud(top: Element, channel: Channel | None, _now: datetime) -> Iterator[tuple[str, str]]:
    clouds = top.findall("cloud")
    if channel is not None and len(clouds) != (channel.cloud is not None):
        yield "R11", "the cloud is missing, or there are several"
    for cloud in clouds:
        missing = [name for name in CLOUD if cloud.get(name) is None]
        if missing:
            yield "R11", f"cloud lacks {', '.join(missing)}"


def _syndication(
    top: Element, channel: Channel | None, _now: datetime
) -> Iterator[tuple[str, str]]:
    period, frequency = (
        (top.findtext(f"{{{SYNDICATION}}}{name}") or "").strip() or None
        for name in ("updatePeriod", "updateFrequency")
    )
    ttl = channel.ttl_minutes if channel else _whole(top.findtext("ttl"))
    if channel is None and (not ttl or period is None):
        return
    wanted = update_rate(ttl)
    rate = None if period is None and frequency is None else (period, frequency)
    if rate != (None if wanted is None else (wanted[0], str(wanted[1]))):
        yield "R12", f"sy says {rate}, the ttl is {ttl} minutes"


def _atom(body: bytes, channel: Channel | None, now: datetime) -> Iterator[tuple[str, str]]:
    root = safe_xml.tree(body)
    if root.tag != f"{{{ATOM}}}feed":
        yield "R1", "it is not an Atom feed"
        return
    own = [e.get("href") for e in root.findall(f"{{{ATOM}}}link") if e.get("rel") == "self"]
    if channel is not None and own != [channel.feed_url]:
        yield "R9", f"one self link to {channel.feed_url} is needed, not {own}"
    entries = root.findall(f"{{{ATOM}}}entry")
    for part in (root, *entries):
        for name in ("id", "title", "updated"):
            if not part.findtext(f"{{{ATOM}}}{name}", "").strip():
                yield "R1", f"the feed and each entry need a {name}"
    ids = [entry.findtext(f"{{{ATOM}}}id") for entry in entries]
    if len(set(ids)) != len(ids):
        yield "R7", "two entries have the same id"
    yield from _not_in_the_future(
        (entry.findtext(f"{{{ATOM}}}published") for entry in entries), now
    )


def _json(body: bytes, channel: Channel | None, now: datetime) -> Iterator[tuple[str, str]]:
    document: dict[str, Any] = json.loads(body)
    versions = ("1.1",) if channel is not None else ("1", "1.1")
    named = [f"https://jsonfeed.org/version/{version}" for version in versions]
    if document.get("version") not in named or not document.get("title"):
        yield "R1", "it is not JSON Feed 1.1 with a title"
    if channel is not None and document.get("feed_url") != channel.feed_url:
        yield "R9", f"feed_url must be {channel.feed_url}"
    items = document.get("items", [])
    ids = [item.get("id") for item in items]
    if len(set(ids)) != len(ids) or not all(
        isinstance(item_id, str) and item_id for item_id in ids
    ):
        yield "R7", "each item needs an id of its own, as a string"
    yield from _not_in_the_future((item.get("date_published") for item in items), now)


def _not_in_the_future(dates: Iterator[str | None], now: datetime) -> Iterator[tuple[str, str]]:
    for text in dates:
        try:
            if _instant(text or "") > now:
                yield "R5", f"a date is in the future: {text}"
        except InvalidInput:
            yield "R5", f"not a date: {text!r}"


def _whole(text: str | None) -> int:
    """A positive number of minutes; 0 for any other text."""
    text = (text or "").strip()
    return int(text) if re.fullmatch(r"[1-9]\d{0,5}", text) else 0


def _rfc822(text: str | None) -> datetime | None:
    if not text or not _RFC822.fullmatch(text):
        return None
    try:
        return _instant(text)
    except InvalidInput:
        return None


# Cached: nearly all dates stay the same from build to build and from format to format.
_instant = lru_cache(maxsize=1024)(parse_instant)

_EXAMINERS = {"rss": _rss, "atom": _atom, "json": _json}
