"""The text of Movable Type and TypePad, which Hatena, FC2 and others write as well.

An entry has a line `KEY: value` for each field, then its texts, each between lines of five hyphens
under a line with its name; it ends with a line of eight hyphens.
"""

import re
from collections.abc import Iterator
from datetime import tzinfo

from publisher.base.errors import InvalidData
from publisher.parts.importing.formats import fields, wxr
from publisher.parts.importing.imported import Batch, ImportedPost, is_web_address
from publisher.parts.importing.sources import Document
from publisher.storage.tables.blog import PostStatus, SourceFormat

_BEGINNING = re.compile(r"(?:[A-Z][A-Z ]{1,30}:[^\n]*\n+){2,60}-----\n")
# Such lines stand in texts, too: what follows decides.
_ENTRIES = re.compile(r"\n--------[ \t]*(?:\n\s*(?=[A-Z][A-Z ]{1,30}:)|\s*$)")
_SECTIONS = re.compile(
    r"\n-----[ \t]*(?:\n\s*(?=(?:(?:EXTENDED )?BODY|EXCERPT|KEYWORDS|COMMENT|PING):)|\s*$)"
)
_FIELD = re.compile(r"([A-Z][A-Z ]{1,30}): ?(.*)")
_DATE = re.compile(r"(\d\d?)/(\d\d?)/(\d{4})\s+(.*)")  # the month first, whatever the language
_STATES: dict[str, PostStatus] = {
    "publish": "published", "future": "scheduled", "scheduled": "scheduled",
}  # fmt: skip


def is_one(head: str) -> bool:
    """Whether a text begins as such an export does."""
    beginning = _BEGINNING.match(head.replace("\r\n", "\n").lstrip())
    return beginning is not None and "TITLE:" in beginning[0]


def read(document: Document, zone: tzinfo, batch: Batch) -> Iterator[ImportedPost]:
    """Posts with their states; comments and pings are counted and left out."""
    try:
        text = document.stream.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidData(f"not UTF-8 at byte {error.start}; save it as UTF-8 first") from error
    entries = _ENTRIES.split(text.replace("\r\n", "\n").replace("\r", "\n"))
    for number, entry in enumerate(entries, 1):
        if entry.strip():
            yield _post(entry, number, zone, batch)


def _post(entry: str, number: int, zone: tzinfo, batch: Batch) -> ImportedPost:
    head, *sections = _SECTIONS.split(f"\n{entry}\n")
    listed = [match.groups() for line in head.split("\n") if (match := _FIELD.fullmatch(line))]
    values = {key: value.strip() for key, value in reversed(listed)}
    texts = dict[str, str]()
    for section in sections:
        name, _, text = section.lstrip("\n").partition("\n")
        if name.startswith(("COMMENT:", "PING:")):
            batch.notes["comment or ping is left out"] += 1
        else:
            texts.setdefault(name.rstrip(": "), text.strip("\n"))
    body = texts.get("BODY", "").strip()
    if more := texts.get("EXTENDED BODY", "").strip():
        body = f"{body}\n\n<!--more-->\n\n{more}"
    breaks = values.get("CONVERT BREAKS", "").lower()
    form: SourceFormat = "markdown" if breaks.startswith("markdown") else "html"
    if form == "html" and breaks not in ("0", "richtext"):
        body = wxr.as_html(body)
    moment, needs = fields.dated(_DATE.sub(r"\3-\1-\2 \4", values.get("DATE", "")), zone)
    state = _STATES.get(values.get("STATUS", "publish").lower(), "draft")
    status = "draft" if needs else state
    if breaks.startswith("textile"):
        needs += ("it is written in Textile, which is shown as typed",)
    base, address = values.get("BASENAME", ""), values.get("UNIQUE URL", "")
    if not address and re.match(r"\d{4}/", base):  # Hatena's
        address = f"/entry/{base}"
    title = " ".join(values.get("TITLE", "").split())
    picture = values.get("IMAGE", "")
    return ImportedPost(
        where=f"entry {number} ({title[:40]})",
        guid=fields.identity("", address, f"{base}{values.get('DATE', '')}{title}"),
        source=body,
        source_format=form,
        as_markdown=form == "html",
        needs=needs,
        status=status,
        title=title,
        slug=base.rpartition("/")[2].replace("_", "-") or fields.slug_of(address),
        summary=fields.plain(texts.get("EXCERPT")),
        image=picture if is_web_address(picture) else "",
        by=tuple(filter(None, (values.get("AUTHOR", ""),))),
        tags=_tags(listed, texts.get("KEYWORDS", "")),
        published_at=moment,
        address=address if state == "published" else "",
    )


def _tags(listed: list[tuple[str, ...]], keywords: str) -> tuple[str, ...]:
    """Categories, tags and keywords, each once."""
    names = [value for key, value in listed if key in ("CATEGORY", "PRIMARY CATEGORY")]
    several = [value for key, value in listed if key == "TAGS"]
    names += [name for text in (*several, keywords.strip()) for name in text.split(",")]
    return tuple(dict.fromkeys(name for quoted in names if (name := quoted.strip().strip('"'))))
