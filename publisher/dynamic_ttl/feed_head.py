"""The editor of a feed's head: inserts or replaces ttl, syndication module, self link, hubs and
cloud, and leaves every other byte as it is.

RSS 2.0 and 0.9x get all of these; RSS 1.0 (RDF) has neither ttl nor cloud; Atom has neither these
nor the module, so only its links change. Editing is idempotent.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

from publisher.core.durations import update_rate
from publisher.dynamic_ttl.feed_outline import Element, FeedOutline, end_of_tag, outline_of

ATOM = "http://www.w3.org/2005/Atom"
SYNDICATION = "http://purl.org/rss/1.0/modules/syndication/"
_LINK = f"{ATOM} link"
_HREF = re.compile(rb"""(\shref\s*=\s*)(?:"[^"]*"|'[^']*')""")
_SPACES = b" \t\r\n"


@dataclass(frozen=True, slots=True)
class HeadChange:
    """The new values of a feed's head; None leaves that part unchanged.

    ttl_minutes: for `ttl` and the syndication module. self_url: the feed's own address. hubs: the
    complete list. cloud: the attributes of RSS `cloud` in order, or () to remove the element.
    """

    ttl_minutes: int | None = None
    self_url: str | None = None
    hubs: tuple[str, ...] | None = None
    cloud: tuple[tuple[str, str], ...] | None = None


def edit(document: bytes, change: HeadChange, outline: FeedOutline | None = None) -> bytes:
    """The document with the changed head; NotEditable if it is no feed or not well-formed.

    outline: the document's, if it was already parsed.
    """
    outline = outline or outline_of(document)
    cuts: list[tuple[int, int, bytes]] = []
    added: list[bytes] = []
    for name, wanted in _wanted(outline, change):
        present = [child for child in outline.children if _is(child, name)]
        for child, text in zip(present, wanted, strict=False):
            cuts.append((child.begin, child.end, _changed(document, child, text)))
        cuts += [(*_with_space(document, child), b"") for child in present[len(wanted) :]]
        added += wanted[len(present) :]
    if added:
        cuts.append(_insertion(document, outline, added))
    for begin, end, text in sorted(cuts, reverse=True):
        document = document[:begin] + text + document[end:]
    return document


def _wanted(outline: FeedOutline, change: HeadChange) -> Iterator[tuple[str, list[bytes]]]:
    """By name, the complete list of elements to have in the head; others of that name are
    removed."""
    if change.ttl_minutes is not None and outline.kind == "rss":
        yield "ttl", [b"<ttl>%d</ttl>" % change.ttl_minutes]
    if change.ttl_minutes is not None and outline.kind != "atom":
        rate = update_rate(change.ttl_minutes)
        period, frequency = ([rate[0]], [str(rate[1])]) if rate else ([], [])
        # updateBase is removed: it promises a fixed schedule.
        parts = {"updatePeriod": period, "updateFrequency": frequency, "updateBase": list[str]()}
        for part, values in parts.items():
            opening, closing = _tag(outline, SYNDICATION, "sy", part)
            yield f"{SYNDICATION} {part}", [_ascii(f"<{opening}>{v}</{closing}>") for v in values]
    if change.self_url is not None:
        yield f"{_LINK} self", [_link(outline, "self", change.self_url)]
    if change.hubs is not None:
        yield f"{_LINK} hub", [_link(outline, "hub", hub) for hub in change.hubs]
    if change.cloud is not None and outline.kind == "rss":
        attributes = "".join(f" {name}={quoteattr(value)}" for name, value in change.cloud)
        yield "cloud", [_ascii(f"<cloud{attributes}/>")] if change.cloud else []


def _is(child: Element, name: str) -> bool:
    if child.name == _LINK:
        return name == f"{_LINK} {child.attributes.get('rel', 'alternate').strip().lower()}"
    return child.name == name


def _tag(outline: FeedOutline, namespace: str, usual: str, name: str) -> tuple[str, str]:
    """The text of an element's start tag and end tag, with the document's prefix for the namespace;
    if it has none, the start tag declares the prefix `usual`."""
    prefix = outline.prefixes.get(namespace)
    if prefix is None:
        return f'{usual}:{name} xmlns:{usual}="{namespace}"', f"{usual}:{name}"
    written = f"{prefix}:{name}" if prefix else name
    return written, written


def _link(outline: FeedOutline, relation: str, address: str) -> bytes:
    opening, _ = _tag(outline, ATOM, "atom", "link")
    media = f' type="application/{outline.kind}+xml"' if relation == "self" else ""
    return _ascii(f'<{opening} rel="{relation}"{media} href={quoteattr(address)}/>')


def _ascii(text: str) -> bytes:
    """`text` in ASCII with character references: valid in every encoding that extends ASCII."""
    return text.encode("ascii", "xmlcharrefreplace")


def _changed(document: bytes, child: Element, text: bytes) -> bytes:
    """The new bytes of an existing element with the value of `text`: only the href of a link and
    only the content of others change; `cloud` is replaced."""
    old = document[child.begin : child.end]
    if child.name == _LINK:
        value = text[text.rindex(b" href=") + 6 : -2]
        return _HREF.sub(lambda found: found.group(1) + value, old, count=1)
    if child.name == "cloud":
        return text
    opening = old[: end_of_tag(old, 0)]
    value = text[text.index(b">") + 1 : text.rindex(b"</")]
    if opening.endswith(b"/>"):
        return b"%s>%s</%s>" % (opening[:-2].rstrip(), value, _ascii(child.written))
    return opening + value + old[old.rindex(b"</") :]


def _insertion(document: bytes, outline: FeedOutline, added: list[bytes]) -> tuple[int, int, bytes]:
    """The cut that inserts new elements after the last one before the items, with its indent."""
    before = [child for child in outline.children if child.begin < outline.first_item]
    at = before[-1].end if before else outline.head_end
    space = _space_before(document, before[-1].begin if before else outline.first_item)
    gap = space[max(space.rfind(b"\n"), 0) :]
    gap = b"\r" + gap if space.endswith(b"\r" + gap) else gap
    return at, at, b"".join(gap + text for text in added)


def _with_space(document: bytes, child: Element) -> tuple[int, int]:
    """The bytes of an element and the white space before it: removed, they leave no empty line."""
    return child.begin - len(_space_before(document, child.begin)), child.end


def _space_before(document: bytes, at: int) -> bytes:
    """The white space before byte `at`."""
    begin = at
    while begin > 0 and document[begin - 1] in _SPACES:
        begin -= 1
    return document[begin:at]
