"""Exports of newsletters and of Medium: pages, alone or with a table that says what they are."""

import re
from collections.abc import Iterator
from datetime import tzinfo
from pathlib import PurePosixPath
from typing import Any

from lxml import html as lxml_html
from lxml.etree import LxmlError

from publisher.exchange.front_matter import MAX_FILE_BYTES
from publisher.parts.importing.formats import fields
from publisher.parts.importing.imported import Batch, ImportedPost, is_web_address
from publisher.parts.importing.sources import MAX_DOCUMENT_BYTES, Document, Folder

_BEEHIIV = {"web_title", "content_html", "status"}
_ENTRY = re.compile(rb"""class=["'][^"'<>]{0,99}\bh-entry\b""")
_MEDIUM_ID = re.compile(r"(?:^|[-_/])([0-9a-f]{8,14})(?:\.html)?$")
_PLACEHOLDER = re.compile(r"%%\w{1,60}%%|\{\{[^{}\n]{1,60}\}\}")
_MODE = re.compile(r"^\s*<!-- buttondown-editor-mode: \w+ -->")
_HEAD_BYTES = 20_000  # of a page, in which Medium's styles and the entry's beginning stand


def reader_of(folder: Folder) -> Any:
    """The function that reads this folder, given a batch and the address of the site, "" if that is
    not known; None where it is none of these exports."""
    for table, needed, reader in _TABLES:
        if (name := _named(folder, table)) and set(_rows_of(folder, name)[0]) >= needed:
            return reader
    pages = [name for name in folder.names if _is_page(name)]
    if pages and _ENTRY.search(folder.read(pages[0], MAX_FILE_BYTES)[:_HEAD_BYTES]):
        return _medium
    return None


def is_beehiiv(head: str) -> bool:
    """Whether a text begins as the table of beehiiv's posts does."""
    return {name.strip(' "') for name in head.partition("\n")[0].strip().split(",")} >= _BEEHIIV


def _named(folder: Folder, name: str) -> str:
    """The first file called so, in whichever folder; "" for none."""
    return next((path for path in folder.names if PurePosixPath(path).name == name), "")


def _is_page(name: str) -> bool:
    """Whether a file is one of Medium's posts; other folders list claps and bookmarks."""
    return PurePosixPath(name).parent.name == "posts" and name.endswith(".html")


def _text(folder: Folder, name: str, limit: int = MAX_FILE_BYTES) -> str:
    return folder.read(name, limit).decode("utf-8-sig", "replace")


def _rows_of(folder: Folder, name: str) -> tuple[list[str], list[dict[str, str]]]:
    return fields.table_in(_text(folder, name, MAX_DOCUMENT_BYTES), f"{name}: ")


_NO_GUIDS = "post has not the guid of the old feed: give --permalink with the site's address before"


def _of_feed(own_id: str, site: str, path: str, text: str, batch: Batch) -> str:
    """The guid that the old feed gave, which is the address on `site`; without that, another."""
    if site and path:
        return site + path
    if path:
        batch.notes[_NO_GUIDS] += 1
    return fields.identity(own_id, "", text)


def _substack(folder: Folder, batch: Batch, site: str) -> Iterator[ImportedPost]:
    """The posts of the table, each with the page that has its text."""
    batch.old_feeds.append("/feed")
    pages = {PurePosixPath(name).name: name for name in folder.names if name.endswith(".html")}
    for row in _rows_of(folder, _named(folder, "posts.csv"))[1]:
        post_id = row.get("post_id", "")
        name = pages.get(f"{post_id}.html")
        slug = post_id.partition(".")[2]
        members = row.get("audience", "everyone") not in ("everyone", "")
        public = row.get("is_published", "").lower() == "true" and not members
        if members:
            batch.notes["post for members becomes a draft"] += 1
        moment, needs = fields.dated(row.get("post_date", ""))
        text = _text(folder, name) if name else ""
        sound = fields.attachment(row.get("podcast_url", ""), "audio/mpeg", "0")
        title = " ".join(row.get("title", "").split())
        address = f"/p/{slug}" if slug and public else ""
        yield ImportedPost(
            where=f"{post_id[:60]} ({title[:40]})",
            guid=_of_feed(post_id, site, address, text, batch),
            formerly=(post_id,) if site and post_id else (),
            source=text,
            as_markdown=True,
            needs=(*needs, *_needs_of(text, bool(text or sound))),
            kind="page" if row.get("type") == "page" else "post",
            status="published" if public and not needs else "draft",
            title=title,
            slug=slug,
            summary=fields.plain(row.get("subtitle")),
            enclosure=sound,
            published_at=moment,
            address=address,
        )


def _buttondown(folder: Folder, batch: Batch, site: str) -> Iterator[ImportedPost]:
    """The emails of the table, each with the Markdown file that has its text."""
    batch.old_feeds.append("/rss")
    texts = {PurePosixPath(name).stem: name for name in folder.names if name.endswith(".md")}
    for row in _rows_of(folder, _named(folder, "emails.csv"))[1]:
        slug, title = row.get("slug", ""), " ".join(row.get("subject", "").split())
        moment, needs = fields.dated(row.get("publish_date", ""))
        text = _MODE.sub("", _text(folder, texts[slug])) if slug in texts else ""
        state = row.get("status", "")
        public = moment is not None and state not in ("draft", "scheduled")
        post_id, address = row.get("id", ""), f"/archive/{slug}/" if slug and public else ""
        yield ImportedPost(
            where=f"{slug[:60]} ({title[:40]})",
            guid=_of_feed(post_id, site, address, text, batch),
            formerly=(post_id,) if site and post_id else (),
            source=text,
            source_format="markdown",
            needs=(*needs, *_needs_of(text, bool(text))),
            status="scheduled" if state == "scheduled" else "published" if public else "draft",
            title=title,
            slug=slug,
            published_at=moment,
            address=address,
        )


def _needs_of(text: str, complete: bool) -> Iterator[str]:
    """What a person has to put right in a text; `complete`: whether the export has it."""
    if not complete:
        yield "its text is not in the export"
    if _PLACEHOLDER.search(text):
        yield "words of the mailing program's own, between %% and %% or {{ and }}"


_TABLES = (
    ("posts.csv", {"post_id", "post_date", "is_published", "title"}, _substack),
    ("emails.csv", {"subject", "publish_date", "slug"}, _buttondown),
)


def read_beehiiv(document: Document, zone: tzinfo, batch: Batch) -> Iterator[ImportedPost]:
    """The posts of the table, whose texts are pages as they are mailed: the blocks of the text."""
    batch.old_feeds.append("/feed")
    for row in fields.table_in(document.stream.read().decode("utf-8-sig", "replace"))[1]:
        title, address = " ".join(row.get("web_title", "").split()), row.get("url", "").strip()
        audience = row.get("audience") or row.get("web_audiences", "")
        members = any(word in audience.lower() for word in ("premium", "paid"))
        if members:
            batch.notes["post for members becomes a draft"] += 1
        moment, needs = fields.dated(row.get("created_at", ""), zone)
        text = _blocks(row.get("content_html", ""))
        public = row.get("status") == "confirmed" and not members and not needs
        picture = row.get("thumbnail_url", "")
        yield ImportedPost(
            where=f"{row.get('id', '')[:40]} ({title[:40]})",
            guid=fields.identity(address, row.get("id", ""), text),
            source=text,
            as_markdown=True,
            needs=(*needs, *_needs_of(text, True)),
            status="published" if public else "draft",
            title=title,
            slug=fields.slug_of(address),
            summary=fields.plain(row.get("web_subtitle")),
            image=picture if is_web_address(picture) else "",
            tags=tuple(filter(None, map(str.strip, row.get("content_tags", "").split(";")))),
            published_at=moment,
            address=address if public else "",
        )


def _blocks(page: str) -> str:
    """The part of a mailed page that is the text, without the tables that lay it out."""
    if not page.strip():
        return ""
    try:
        root = lxml_html.document_fromstring(page)
        blocks = root.get_element_by_id("content-blocks", None)
    except (LxmlError, ValueError):
        return page
    if blocks is None:
        return page
    for element in [*blocks.iter("table", "tbody", "tr", "td", "div", "style")]:
        if element is not blocks:
            (element.drop_tree if element.tag == "style" else element.drop_tag)()
    return _inside(blocks)


def _medium(folder: Folder, batch: Batch, _: str) -> Iterator[ImportedPost]:
    """The entries (microformats' h-entry), drafts and responses to others' posts as drafts."""
    batch.old_feeds.append("/feed")
    for name in folder.names:
        if not _is_page(name):
            continue
        entry = _entry(folder.read(name, MAX_FILE_BYTES))
        if entry is None:
            batch.notes["page without an entry is left out"] += 1
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
    moment, needs = fields.dated(_first(entry, "dt-published", "datetime"))
    for body in entry.find_class("e-content")[:1]:
        response = not body.find_class("graf--title") and _begins(body, title)
        text = _medium_text(body, summary)
        break
    else:
        response, text = False, ""
    if response:
        needs += ("it looks like a response to somebody's post, so it became a draft",)
    elif moment is None and not needs:
        needs += ("Medium has it as a draft",)
    links = [link.get("href", "") for link in entry.iter("a")]
    places = (canonical, *(link for link in links if "medium.com/p/" in link), name)
    match = next((medium_id for place in places if (medium_id := _MEDIUM_ID.search(place))), None)
    slug = re.sub(r"-?[0-9a-f]{8,14}$", "", fields.slug_of(canonical))
    own = canonical and not re.match(r"https?://([\w-]+\.)*medium\.com/", canonical)
    return ImportedPost(
        where=name[:100],
        # As in Medium's feed, so that a reader that has the post knows it again.
        guid=f"https://medium.com/p/{match[1]}" if match else fields.identity("", canonical, text),
        source=text,
        as_markdown=True,
        needs=needs,
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
    subtitles = (
        element for element in body.find_class("graf--subtitle") if _words(element) == summary
    )
    lines = [rule for rule in body.find_class("section-divider") if rule.tag == "hr"]
    for element in [*body.find_class("graf--title"), *subtitles, *lines[:1]]:
        element.drop_tree()
    for element in [*body.iter("section", "div")]:
        if element is not body:
            element.drop_tag()
    linked = {link.get("href", "").removeprefix("#") for link in body.iter("a")}
    for element in body.iter():  # marks of Medium's editor, each paragraph's own
        for name in {*element.attrib} & {"class", "name", "style", "id"}:
            if name != "id" or element.get("id") not in linked:
                del element.attrib[name]
    return _inside(body)


def _inside(element: Any) -> str:
    """An element's content as HTML."""
    parts = (lxml_html.tostring(child, encoding="unicode") for child in element)
    return f"{element.text or ''}{''.join(parts)}".strip()
