"""Bear Blog's export: a CSV with a line for each post, its text in Markdown."""

import csv
import io
from collections.abc import Iterator, Mapping
from datetime import tzinfo
from typing import Any

from publisher.base.errors import InvalidData
from publisher.parts.importing.formats import fields
from publisher.parts.importing.imported import ImportedPost
from publisher.parts.importing.sources import Document

MAX_FIELD = 8_000_000
_NEEDED = {"title", "slug", "content"}
_YES = ("true", "1", "yes")


def is_one(head: str) -> bool:
    """Whether a text begins as Bear's export does."""
    names = {name.strip().strip('"').lower() for name in head.partition("\n")[0].split(",")}
    return names >= _NEEDED


def read(document: Document, zone: tzinfo, _: object) -> Iterator[ImportedPost]:
    """Posts and pages, drafts among them; `zone` is for dates without an offset.

    Raises InvalidData for what is no CSV of Bear's and for impossible dates.
    """
    try:
        text = document.stream.read().decode("utf-8-sig")
        csv.field_size_limit(MAX_FIELD)
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidData(f"the CSV cannot be read: {error}") from error
    named = [_lower(row) for row in rows]
    if named and not named[0].keys() >= _NEEDED:
        raise InvalidData(f"the CSV lacks {', '.join(sorted(_NEEDED - named[0].keys()))}")
    yield from (_post(row, number, zone) for number, row in enumerate(named, 2))


def _post(row: dict[str, str], number: int, zone: tzinfo) -> ImportedPost:
    where = f"line {number} ({row['title'][:40]})"
    slug = row["slug"].strip("/")
    out = row.get("publish", "true").lower() in _YES
    written = row.get("published date") or row.get("published_date") or ""
    moment, problem = fields.dated(written, zone)
    tags = row.get("all tags") or row.get("all_tags") or row.get("tags", "")
    alias = row.get("alias", "").strip("/")
    return ImportedPost(
        where=where,
        guid=fields.identity(row.get("uid", ""), "", slug + row["title"]),
        source=row["content"].replace("\r\n", "\n"),
        source_format="markdown",
        kind="page" if row.get("is page", row.get("is_page", "")).lower() in _YES else "post",
        status="published" if out else "draft",
        title=" ".join(row["title"].split()),
        slug=slug,
        summary=row.get("meta description") or row.get("meta_description", ""),
        image=row.get("meta image") or row.get("meta_image", ""),
        tags=_tags(tags),
        published_at=moment,
        needs=(problem,) if problem else (),
        address=f"/{slug}/" if slug and out else "",
        aliases=(f"/{alias}/",) if alias and out else (),
    )


def _tags(text: str) -> tuple[str, ...]:
    """Tags with commas between them, or as a list of Python's or JSON's."""
    names = (name.strip().strip("'\"") for name in text.strip().strip("[]").split(","))
    return tuple(dict.fromkeys(name for name in names if name))


def _lower(row: Mapping[Any, Any]) -> dict[str, str]:
    """A row by lower-case column names; values beyond the last column are dropped."""
    return {
        name.strip().lower(): str(value or "")
        for name, value in row.items()
        if isinstance(name, str)
    }
