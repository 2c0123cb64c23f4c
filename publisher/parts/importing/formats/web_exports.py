"""Exports whose posts are web pages: the zips of Substack and of Medium."""

import csv
import io
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from lxml import html as lxml_html
from lxml.etree import LxmlError

from publisher.base.errors import InvalidData
from publisher.exchange.front_matter import MAX_FILE_BYTES
from publisher.parts.importing.formats import fields
from publisher.parts.importing.imported import ImportedPost, Notes
from publisher.parts.importing.sources import MAX_DOCUMENT_BYTES, Folder

_TABLE = "posts.csv"
_NEEDED = {"post_id", "post_date", "is_published", "title"}
_ENTRY = re.compile(rb"""class=["'][^"'<>]{0,99}\bh-entry\b""")
_MEDIUM_ID = re.compile(r"(?:^|[-_/])([0-9a-f]{8,14})(?:\.html)?$")
_PLACEHOLDER = re.compile(r"%%\w{1,60}%%")
_HEAD_BYTES = 20_000  # of a page, in which Medium's styles and the entry's beginning stand


def reader_of(folder: Folder) -> Any:
    """The function that reads this folder; None where it is an export of neither."""
    names = [name for name in folder.names if PurePosixPath(name).name == _TABLE]
    if names and set(_rows(folder, names[0])[0]) >= _NEEDED:
        return _substack
    pages = [name for name in folder.names if _is_page(name)]
    if pages and _ENTRY.search(folder.read(pages[0], MAX_FILE_BYTES)[:_HEAD_BYTES]):
        return _medium
    return None


def _is_page(name: str) -> bool:
    """Whether a file is one of Medium's posts; other folders list claps and bookmarks."""
    return PurePosixPath(name).parent.name == "posts" and name.endswith(".html")


def _text(folder: Folder, name: str, limit: int = MAX_FILE_BYTES) -> str:
    return folder.read(name, limit).decode("utf-8-sig", "replace")


def _rows(folder: Folder, name: str) -> tuple[list[str], list[dict[str, str]]]:
    """The columns of a table and its rows."""
    csv.field_size_limit(MAX_FILE_BYTES)
    table = csv.DictReader(io.StringIO(_text(folder, name, MAX_DOCUMENT_BYTES), newline=""))
    try:
        rows = [{key: value or "" for key, value in row.items() if key} for row in table]
    except csv.Error as error:
        raise InvalidData(f"{name}: the CSV cannot be read: {error}") from error
    return list(table.fieldnames or ()), rows


def _substack(folder: Folder, notes: Notes) -> Iterator[ImportedPost]:
    """The posts of the table, each with the page that has its text."""
    table = next(name for name in folder.names if PurePosixPath(name).name == _TABLE)
    notes.old_feeds.append("/feed")
    pages = {PurePosixPath(name).name: name for name in folder.names if name.endswith(".html")}
    for row in _rows(folder, table)[1]:
        known = row.get("post_id", "")
        name = pages.get(f"{known}.html")
        slug = known.partition(".")[2]
        members = row.get("audience", "everyone") not in ("everyone", "")
        public = row.get("is_published", "").lower() == "true" and not members
        if members:
            notes["post for members becomes a draft"] += 1
        moment, problem = fields.dated(row.get("post_date", ""))
        text = _text(folder, name) if name else ""
        sound = fields.attachment(row.get("podcast_url", ""), "audio/mpeg", "0")
        needs = [problem] if problem else []
        if not text and sound is None:
            needs.append("its text is not in the export")
        if _PLACEHOLDER.search(text):
            needs.append("words of Substack's own between %% and %%")
        title = " ".join(row.get("title", "").split())
        yield ImportedPost(
            where=f"{known[:60]} ({title[:40]})",
            guid=fields.identity(known, "", text),
            source=text,
            as_markdown=True,
            needs=tuple(needs),
            kind="page" if row.get("type") == "page" else "post",
            status="published" if public and not problem else "draft",
            title=title,
            slug=slug,
            summary=fields.plain(row.get("subtitle")),
            enclosure=sound,
            published_at=moment,
            address=f"/p/{slug}" if slug and public else "",
        )


def _medium(folder: Folder, notes: Notes) -> Iterator[ImportedPost]:
    """The entries (microformats' h-entry), drafts and responses to others' posts as drafts."""
    notes.old_feeds.append("/feed")
    for name in folder.names:
        if not _is_page(name):
            continue
        entry = _entry(folder.read(name, MAX_FILE_BYTES))
        if entry is None:
            notes["page without an entry is left out"] += 1
        else:
            yield _of_medium(PurePosixPath(name).name, entry)


def _entry(page: bytes) -> Any:
    """The element of a page's entry; None where there is none."""
    try:
        root = lxml_html.document_fromstring(page, lxml_html.HTMLParser(encoding="utf-8"))
        return next(iter(root.find_class("h-entry")), None)
    except (LxmlError, ValueError):
        return None


def _of_medium(name: str, entry: Any) -> ImportedPost:
    title, summary = _first(entry, "p-name"), _first(entry, "p-summary")
    canonical = _first(entry, "p-canonical", "href")
    moment, problem = fields.dated(_first(entry, "dt-published", "datetime"))
    needs = [problem] if problem else []
    for body in entry.find_class("e-content")[:1]:
        response = not body.find_class("graf--title") and _begins(body, title)
        text = _medium_text(body, summary)
        break
    else:
        response, text = False, ""
    if response:
        needs.append("it looks like a response to somebody's post, so it became a draft")
    elif moment is None and not problem:
        needs.append("Medium has it as a draft")
    links = [link.get("href", "") for link in entry.iter("a")]
    places = (canonical, *(one for one in links if "medium.com/p/" in one), name)
    found = next((one for place in places if (one := _MEDIUM_ID.search(place))), None)
    slug = re.sub(r"-?[0-9a-f]{8,14}$", "", fields.slug_of(canonical))
    own = canonical and not re.match(r"https?://([\w-]+\.)*medium\.com/", canonical)
    return ImportedPost(
        where=name[:100],
        # As in Medium's feed, so that a reader that has the post knows it again.
        guid=f"https://medium.com/p/{found[1]}" if found else fields.identity("", canonical, text),
        source=text,
        as_markdown=True,
        needs=tuple(needs),
        status="draft" if response or moment is None else "published",
        title="" if response else title,
        slug=slug,
        summary=summary,
        by=tuple(filter(None, (_first(entry, "p-author"),))),
        tags=tuple(dict.fromkeys(_words(tag) for tag in entry.find_class("p-tag"))),
        published_at=moment,
        address=canonical if own else "",
    )


def _first(entry: Any, mark: str, attribute: str = "") -> str:
    """The words, or an attribute, of the first element with this class; "" for none."""
    for element in entry.find_class(mark):
        return str(element.get(attribute, "")).strip() if attribute else _words(element)
    return ""


def _words(element: Any) -> str:
    return " ".join(str(element.text_content()).split())


def _begins(body: Any, title: str) -> bool:
    """Whether a text begins with its title, which Medium makes of a text without one."""
    return bool(title) and _words(body).startswith(title.rstrip("…").rstrip())


def _medium_text(body: Any, summary: str) -> str:
    """The text as HTML without the title, the subtitle and the frame of Medium's page."""
    subtitles = (one for one in body.find_class("graf--subtitle") if _words(one) == summary)
    lines = [one for one in body.find_class("section-divider") if one.tag == "hr"]
    for element in [*body.find_class("graf--title"), *subtitles, *lines[:1]]:
        element.drop_tree()
    for element in [*body.iter("section", "div")]:
        if element is not body:
            element.drop_tag()
    parts = (lxml_html.tostring(child, encoding="unicode") for child in body)
    return f"{body.text or ''}{''.join(parts)}".strip()
