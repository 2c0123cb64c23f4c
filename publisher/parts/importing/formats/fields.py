"""Parsing of what several formats share: single values (dates, addresses, sizes, texts), and XML.

XML is untrusted: no entities, no external references, bounded depth, one element at a time.
"""

import csv
import hashlib
import html
import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from itertools import islice
from pathlib import PurePosixPath
from typing import Any, BinaryIO
from urllib.parse import quote, unquote, urljoin, urlsplit
from xml.etree.ElementTree import Element, ParseError

from publisher.base import safe_xml
from publisher.base.dates import parse_instant
from publisher.base.errors import InvalidData, InvalidInput
from publisher.base.media_files import Attachment
from publisher.base.text import as_list, number_in, plain_text
from publisher.blog.markup import safe_html
from publisher.blog.writing.enclosures import seconds_in
from publisher.exchange.front_matter import MAX_FILE_BYTES
from publisher.feed_reading.character_sets import to_text
from publisher.feed_reading.lazy_pictures import loading_at_once
from publisher.feed_reading.mending import mended
from publisher.parts.importing.imported import MAX_ADDRESS, is_web_address

_RELATIVE = re.compile(r"""(?:src|href)\s*=\s*["']?(?!["'#]|[a-z][a-z0-9+.-]*:)""", re.IGNORECASE)
# In Markdown: behind words in brackets, behind the name of a link, or in HTML.
_FROM_ROOT = re.compile(
    r"""(\]\(<?|^ {0,3}\[[^\[\]\n]{1,80}\]:[ \t]*<?|\b(?:src|href)\s*=\s*["']?)/(?!/)""",
    re.IGNORECASE | re.MULTILINE,
)


def moment(text: str | None, where: str, zone: tzinfo = UTC) -> datetime | None:
    """The instant that `text` names, None for no text; the message of InvalidData has `where`."""
    if text is None or not text.strip():
        return None
    try:
        return parse_instant(text, zone)
    except InvalidInput as error:
        raise InvalidData(f"{where}: {error}") from error


# Besides what all dates are read as: Go's second offset and its clock, a point in a time of day.
_GO = re.compile(r"([+-]\d\d:?\d\d)\s+(?:[+-]\d{2,4}|UTC)(?:\s+m=\S+)?$")
_POINT = re.compile(r"(\s\d{1,2})\.(\d\d)(?=\s|$)")


def first_dated(*texts: str) -> tuple[datetime | None, tuple[str, ...]]:
    """The first instant that one of `texts` names; the need of a hand where none can be read."""
    found = [dated(text) for text in texts]
    instant = next((instant for instant, _ in found if instant is not None), None)
    return instant, () if instant else next((needs for _, needs in found if needs), ())


def dated(text: str, zone: tzinfo = UTC) -> tuple[datetime | None, tuple[str, ...]]:
    """The instant that `text` names, and the need of a hand where it names none that can be
    read."""
    text = text.strip()
    if not text:
        return None, ()
    tidy = _POINT.sub(r"\1:\2", _GO.sub(r"\1", text))
    try:
        return parse_instant(tidy, zone), ()
    except InvalidInput as error:
        return None, (f"its date cannot be read, so it became a draft: {error}",)


def plain(text: str | None) -> str:
    """A title or a summary as plain text, whether it was sent as text or as HTML."""
    return plain_text(text) if text else ""


# Elements that a title may have; anything else in angle brackets are its words.
_INLINE = re.compile(
    r"<(b|i|em|strong|code|a|span|sup|sub|u|s|small|q|cite|abbr|mark|del|ins|font|tt|kbd)\b"
    r"(?:\s[^<>]{0,500})?>([^<>]*)</\1>",
    re.IGNORECASE,
)
_ALONE = re.compile(r"<(?:br|wbr)\s*/?>", re.IGNORECASE)


def title(text: str) -> str:
    """A title as plain text: inline elements as their words, references read once, all else is
    kept."""
    before = None
    for _ in range(5):  # elements within elements
        before, text = text, _INLINE.sub(r"\2", text)
        if before == text:
            break
    return " ".join(html.unescape(_ALONE.sub(" ", text)).split())


def paragraphs(text: str) -> str:
    """Plain text as HTML."""
    blocks = re.split(r"\n\s*\n", html.escape(text.strip(), quote=False))
    return "\n".join("<p>" + block.replace("\n", "<br>\n") + "</p>" for block in blocks if block)


def with_base(source: str, base: str) -> str:
    """HTML whose relative addresses are made absolute; as it is when it has none.

    Links within the text, such as those of footnotes, stay.
    """
    source = loading_at_once(source)  # before anything is cleaned away
    if not base.startswith(("http://", "https://")) or not _RELATIVE.search(source):
        return source
    return safe_html.absolute(source, base, own_fragments=True)


def markdown_with_base(source: str, base: str) -> str:
    """Markdown whose addresses from the root of its site are made absolute; see `with_base`."""
    source = loading_at_once(source)
    if not base.startswith(("http://", "https://")):
        return source
    root = urljoin(base, "/")
    return _FROM_ROOT.sub(lambda before: before[1] + root, source)


def web(address: str) -> str:
    """An address as it stands in a feed, its letters escaped."""
    parts = urlsplit(address)
    return address.replace(parts.path, quote(parts.path, safe="/:@!$&'()*+,;=~-._%"), 1)


def identity(guid: str, address: str, content: str) -> str:
    """What identifies a post: its guid, else its address, else a hash of its content."""
    digest = hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()
    return guid.strip() or address.strip() or f"urn:sha256:{digest}"


def old_path(address: str) -> str:
    """The path (and query) of a former address, as it would be requested; "" when none."""
    try:
        parts = urlsplit(address.strip())
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https", "") or (not parts.scheme and address[:1] != "/"):
        return ""
    path = unquote(parts.path) or "/"
    whole = f"{path}?{parts.query}" if parts.query else path
    return "" if whole == "/" or len(whole) > MAX_ADDRESS else whole


def slug_of(address: str) -> str:
    """The last words of a permalink's path, without an extension; "" when there are none."""
    name = PurePosixPath(old_path(address).partition("?")[0]).name
    stem = re.sub(r"\.(html?|php|aspx?|md)$", "", name)
    return "" if stem in ("", "index") or stem.isdigit() else stem


def attachment(
    url: str, media_type: str, size_: str | None, duration: str = ""
) -> Attachment | None:
    """A file that comes with a post; None without a complete web address."""
    if not is_web_address(url := url.strip()):
        return None
    media_type = media_type.strip() or "application/octet-stream"
    return Attachment(url, media_type, number_in(size_), seconds_in(duration) or 0)


def records(value: object) -> list[dict[str, Any]]:
    """The objects in a list of JSON; none for what is no list."""
    return [row for row in as_list(value) if isinstance(row, dict)]


def table_in(text: str, where: str = "") -> tuple[list[str], list[dict[str, str]]]:
    """The columns of a CSV and its rows, whose values beyond the last column are dropped;
    InvalidData, which begins with `where`, when it cannot be read."""
    csv.field_size_limit(MAX_FILE_BYTES)
    table = csv.DictReader(io.StringIO(text, newline=""))
    try:
        rows = [{key: value or "" for key, value in row.items() if key} for row in table]
    except csv.Error as error:
        raise InvalidData(f"{where}the CSV cannot be read: {error}") from error
    return list(table.fieldnames or ()), rows


def json_in(stream: BinaryIO) -> Any:
    """The JSON of a document; InvalidData when it cannot be read."""
    try:
        return json.load(stream)
    except (ValueError, RecursionError) as error:
        raise InvalidData(f"the JSON cannot be read: {error}") from error


MAX_DEPTH = 200


_MOST_MENDED = 50_000_000  # bytes; a document that is mended is held in memory
_END = re.compile(rb"</(?:\w+:)?(?:rss|feed|rdf)>\s*(?:<!--[^<>]*-->\s*)?\Z", re.IGNORECASE)


def parts(stream: BinaryIO, container: str, notes: Counter[str]) -> Iterator[Element]:
    """Every finished child of the outermost `container` element, freed when the next is asked for.

    XML that is not well-formed is read as it is meant, with a note, if it has its end. Raises
    InvalidData for XML that ends too early, declares entities or nests deeply.
    """
    count = 0
    try:
        try:
            for element in _children(stream, container):
                count += 1
                yield element
        except ParseError as error:
            line, column = error.position
            where = (
                f"the XML breaks at line {line}, column {column}: {str(error).partition(':')[0]}"
            )
            stream.seek(0)
            data = stream.read(_MOST_MENDED + 1)
            if len(data) > _MOST_MENDED or not _END.search(data[-2000:]):
                raise InvalidData(where) from error
            notes[f"{where}; it was read as it is meant, so look at what stands there"] = 1
            sound = io.BytesIO(mended(to_text(data))[0].encode("utf-8", "replace"))
            yield from islice(_children(sound, container), count, None)
    except ParseError as error:
        raise InvalidData(f"{where}, and cannot be mended") from error
    except InvalidData:
        raise
    except (LookupError, ValueError) as error:
        raise InvalidData("the XML is in an encoding that cannot be read") from error


def _children(stream: BinaryIO, container: str) -> Iterator[Element]:
    parents: list[Element] = []
    for event, element in safe_xml.elements(stream):
        if event == "start":
            element.tag = safe_xml.usual_tag(element.tag)
            parents.append(element)
            if len(parents) > MAX_DEPTH:
                raise InvalidData("the XML is nested too deeply")
            continue
        parents.pop()
        if 0 < len(parents) <= 2 and local(parents[-1]) == container:
            yield element
            parents[-1].remove(element)


def local(element: Element) -> str:
    """An element's name without its namespace."""
    return str(element.tag).rpartition("}")[2]


def text_of(element: Element, tag: str) -> str:
    """The text of the first child called `tag`; "" when there is none."""
    return (element.findtext(tag) or "").strip()


def root(stream: BinaryIO) -> tuple[str, frozenset[str]]:
    """The root's local name and the namespaces it declares; the stream is put back to its start.

    ("", none) for what does not begin as XML; InvalidData where it declares entities.
    """
    try:
        return safe_xml.first_element(stream)
    except InvalidData:
        raise
    except (ParseError, LookupError, ValueError):
        return "", frozenset()
