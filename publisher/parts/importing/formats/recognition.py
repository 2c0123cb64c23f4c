"""Which format a source has, and the adapter that reads it."""

import io
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, tzinfo

from publisher.base.errors import InvalidData, InvalidInput
from publisher.parts.importing.formats import (
    bear,
    feed_files,
    fields,
    ghost,
    markdown_files,
    movable_type,
    own_export,
    web_exports,
    writeas,
    wxr,
)
from publisher.parts.importing.imported import Batch, ImportedPost
from publisher.parts.importing.sites import permalinks
from publisher.parts.importing.sites.generators.recognised import recognised
from publisher.parts.importing.sources import MAX_DOCUMENT_BYTES, Document, Folder

READERS: dict[str, Callable[[Document, tzinfo, Batch], Iterator[ImportedPost]]] = {
    "rss": feed_files.read_rss,
    "atom": feed_files.read_atom,
    "json": feed_files.read_json,
    "wxr": wxr.read,
    "markdown": markdown_files.read_file,
    "ghost": ghost.read,
    "bear": bear.read,
    "beehiiv": web_exports.read_beehiiv,
    "movabletype": movable_type.read,
    "writeas": writeas.read,
}
# The file of posts in a zip of micro.blog (.bar, the blog archive format).
_ARCHIVES = ("feed.json", "index.json")
_INSTEAD = (
    "import the address of the blog's feed (of Tumblr /rss, of LiveJournal /data/rss, of Wix "
    "/blog-feed.xml), or the whole zip as it was exported"
)
_GHOST = re.compile(rb'\{\s*"(?:meta|data)"\s*:\s*\{')
_ROOTS = {"rss": "rss", "RDF": "rss", "feed": "atom"}


def read(
    source: Document | Folder, format_: str | None, zone: tzinfo, permalink: str = ""
) -> Batch:
    """Read a source, as `format_` or as what it looks like; `zone` is for dates without an offset,
    `permalink` the pattern of the old addresses of posts that name none.

    Raises InvalidData for what is broken or no format we know, InvalidInput when `format_` is
    impossible for it.
    """
    if isinstance(source, Folder):
        if format_ not in (None, "markdown"):
            raise InvalidInput(f"a folder or zip is read as markdown, not as {format_}")
        return (
            own_export.read(source)
            or _archive(source)
            or _pages(source, zone, permalink)
            or _files(source, zone, permalink)
        )
    with _named(source.name):
        format_ = format_ or sniff(source)
    if format_ not in READERS:
        raise InvalidInput(f"no format is called {format_!r} (known: {', '.join(READERS)})")
    batch = Batch()
    posts = _each_named(source.name, READERS[format_](source, zone, batch))
    batch.posts = _with_addresses(posts, permalink, zone)
    return batch


def _with_addresses(
    posts: Iterable[ImportedPost], pattern: str, zone: tzinfo
) -> Iterator[ImportedPost]:
    """The posts; a published one without an address gets the one that `pattern` makes."""
    for post in posts:
        if pattern and not post.address and (post.status, post.kind) == ("published", "post"):
            words = dict.fromkeys(("title", "slug", "basename"), post.slug)
            date = post.published_at and post.published_at.astimezone(zone)
            path = permalinks.filled(pattern, words, date) if post.slug else ""
            post = replace(post, address=permalinks.escaped(path))  # noqa: PLW2901
        yield post


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Put the name of a document in front of messages of InvalidData."""
    try:
        yield
    except InvalidData as error:
        raise InvalidData(f"{name}: {error}") from error


def _each_named(name: str, posts: Iterable[ImportedPost]) -> Iterator[ImportedPost]:
    with _named(name):
        yield from posts


def sniff(source: Document) -> str:
    """Guess the format of a document from its beginning; InvalidData when it is none we read."""
    start = source.head().removeprefix(b"\xef\xbb\xbf").lstrip()
    if start[:1] in (b"{", b"[") and not source.name.lower().endswith(markdown_files.SUFFIXES):
        if writeas.is_one(start):
            return "writeas"
        if start[:1] == b"{":
            return "ghost" if b'"db"' in start[:200] or _GHOST.match(start) else "json"
    text = start.decode("utf-8", "replace")
    if bear.is_one(text):
        return "bear"
    if web_exports.is_beehiiv(text):
        return "beehiiv"
    if movable_type.is_one(text):
        return "movabletype"
    name, namespaces = fields.root(source.stream)
    if name == "rss" and any(wxr.NAMESPACE in namespace for namespace in namespaces):
        return "wxr"
    if name in _ROOTS:
        return _ROOTS[name]
    if start[:3] in (b"---", b"+++") or source.name.lower().endswith((".md", ".markdown")):
        return "markdown"
    if not start:
        raise InvalidData("it is empty")
    if name.lower() == "html" or start[:9].lower() in (b"<!doctype", b"<html"):
        raise InvalidData(f"this is a web page, not a feed or an export; {_INSTEAD}")
    if name == "livejournal":
        raise InvalidData(f"LiveJournal's export is not read; {_INSTEAD}")
    raise InvalidData(
        "not a format we know (RSS, Atom, JSON Feed, WXR, Ghost, Bear, Movable Type, Write.as, "
        f"Markdown, or a zip of it); {_INSTEAD}"
    )


def _archive(folder: Folder) -> Batch | None:
    """The posts of a blog archive: a JSON Feed among its files; None where there is none, as in
    the site of a generator, where it is what a template makes."""
    name = next((name for name in _ARCHIVES if name in folder.names), None)
    if name is None or recognised(folder, "", UTC).name:
        return None
    document = Document(name, io.BytesIO(folder.read(name, MAX_DOCUMENT_BYTES)))
    posts = feed_files.read_json(document, in_archive=True)
    return Batch(_each_named(f"{folder.name}: {name}", posts))


def _pages(folder: Folder, zone: tzinfo, permalink: str) -> Batch | None:
    """The posts of an export that consists of web pages; None where it is none."""
    reader = web_exports.reader_of(folder)
    if reader is None:
        return None
    batch = Batch()
    site = re.match(r"https?://[^/:\s]+(?::\d+)?(?:/[\w-]+(?=/archive/))?", permalink)
    posts = _each_named(folder.name, reader(folder, batch, site[0] if site else ""))
    batch.posts = _with_addresses(posts, permalink, zone)
    return batch


def _files(folder: Folder, zone: tzinfo, permalink: str) -> Batch:
    """Markdown files, or a single export file that somebody zipped."""
    if len(folder.names) == 1 and not folder.names[0].lower().endswith(markdown_files.SUFFIXES):
        (name,) = folder.names
        inner = Document(name, io.BytesIO(folder.read(name, MAX_DOCUMENT_BYTES)))
        return read(inner, None, zone)
    batch = Batch()
    batch.posts = markdown_files.read_folder(folder, zone, batch, permalink)
    return batch
