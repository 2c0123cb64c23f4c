"""Bear Blog's export: a CSV with a line for each post, its text in Markdown."""

from collections.abc import Iterator
from datetime import tzinfo

from publisher.base.errors import InvalidData
from publisher.parts.importing.formats import fields
from publisher.parts.importing.imported import ImportedPost
from publisher.parts.importing.sources import Document

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
    except UnicodeDecodeError as error:
        raise InvalidData(f"the CSV cannot be read: {error}") from error
    for number, values in enumerate(fields.table_in(text)[1], 2):
        row = {name.strip().lower().replace(" ", "_"): value for name, value in values.items()}
        if lacking := _NEEDED - row.keys():
            raise InvalidData(f"the CSV lacks {', '.join(sorted(lacking))}")
        yield _post(row, number, zone)


def _post(row: dict[str, str], number: int, zone: tzinfo) -> ImportedPost:
    where = f"line {number} ({row['title'][:40]})"
    slug = row["slug"].strip("/")
    out = row.get("publish", "true").lower() in _YES
    written = row.get("published_date", "")
    moment, needs = fields.dated(written, zone)
    tags = row.get("all_tags") or row.get("tags", "")
    alias = row.get("alias", "").strip("/")
    return ImportedPost(
        where=where,
        guid=fields.identity(row.get("uid", ""), "", slug + row["title"]),
        source=row["content"].replace("\r\n", "\n"),
        source_format="markdown",
        kind="page" if row.get("is_page", "").lower() in _YES else "post",
        status="published" if out else "draft",
        title=" ".join(row["title"].split()),
        slug=slug,
        summary=row.get("meta_description", ""),
        image=row.get("meta_image", ""),
        tags=_tags(tags),
        published_at=moment,
        needs=needs,
        address=f"/{slug}/" if slug and out else "",
        aliases=(f"/{alias}/",) if alias and out else (),
    )


def _tags(text: str) -> tuple[str, ...]:
    """Tags with commas between them, or as a list of Python's or JSON's."""
    names = (name.strip().strip("'\"") for name in text.strip().strip("[]").split(","))
    return tuple(dict.fromkeys(name for name in names if name))
