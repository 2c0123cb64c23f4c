"""Which format a source has, and the adapter that reads it."""

from datetime import tzinfo

from publisher.base.errors import InvalidData, InvalidInput
from publisher.exchange.importing import (
    atom,
    jsonfeed,
    markdown_files,
    own_export,
    rss,
    safe_xml,
    wxr,
)
from publisher.exchange.importing.imported import Batch
from publisher.exchange.importing.sources import Document, Folder

FORMATS = ("rss", "atom", "json", "wxr", "markdown")
_ROOTS = {"rss": "rss", "RDF": "rss", "feed": "atom"}


def read(source: Document | Folder, format_: str | None, zone: tzinfo) -> Batch:
    """Read a source, as `format_` or as what it looks like; `zone` is for dates without an offset.

    Raises InvalidData for what is broken or no format we know, InvalidInput when the format asked
    for cannot be.
    """
    if isinstance(source, Folder):
        if format_ not in (None, "markdown"):
            raise InvalidInput(f"a folder or zip is read as markdown, not as {format_}")
        return own_export.read(source) or markdown_files.read_folder(source, zone)
    try:
        return _read_document(source, format_ or sniff(source), zone)
    except InvalidData as error:
        raise InvalidData(f"{source.name}: {error}") from error


def sniff(source: Document) -> str:
    """What a document looks like; InvalidData when it looks like nothing we read."""
    start = source.head().removeprefix(b"\xef\xbb\xbf").lstrip()
    if start[:1] == b"{" and not source.name.lower().endswith(markdown_files.SUFFIXES):
        return "json"
    name, namespaces = safe_xml.root(source.stream)
    if name == "rss" and any(wxr.NAMESPACE in namespace for namespace in namespaces):
        return "wxr"
    if name in _ROOTS:
        return _ROOTS[name]
    if start[:3] in (b"---", b"+++") or source.name.lower().endswith((".md", ".markdown")):
        return "markdown"
    if not start:
        raise InvalidData("it is empty")
    if name.lower() == "html" or start[:9].lower() in (b"<!doctype", b"<html"):
        raise InvalidData("this is a web page, not a feed or an export")
    raise InvalidData("not a format we know (RSS, Atom, JSON Feed, WXR, Markdown, or a zip of it)")


def _read_document(source: Document, format_: str, zone: tzinfo) -> Batch:
    stream = source.stream
    match format_:
        case "rss":
            return rss.read(stream)
        case "atom":
            return atom.read(stream)
        case "json":
            return jsonfeed.read(stream)
        case "wxr":
            return wxr.read(stream, zone)
        case "markdown":
            return markdown_files.read_file(source, zone)
    raise InvalidInput(f"no format is called {format_!r} (known: {', '.join(FORMATS)})")
