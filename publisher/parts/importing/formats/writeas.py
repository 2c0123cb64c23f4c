"""The JSON of Write.as and WriteFreely: an account with its blogs, or a list of posts."""

from collections.abc import Iterator
from typing import Any

from publisher.base.errors import InvalidData
from publisher.base.text import as_list, as_text
from publisher.parts.importing.formats import fields
from publisher.parts.importing.imported import Batch, ImportedPost
from publisher.parts.importing.sources import Document

Row = dict[str, Any]


def is_one(start: bytes) -> bool:
    """Whether a document begins as such an export does."""
    return b'"appearance"' in start or b'"username"' in start[:200]


def read(document: Document, _: object, batch: Batch) -> Iterator[ImportedPost]:
    """The posts of all blogs; what is in no blog (drafts, anonymous posts) as drafts.

    Raises InvalidData for broken JSON and for other JSON.
    """
    content = fields.json_in(document.stream)
    account = content if isinstance(content, dict) else {"posts": content}
    blogs, loose = fields.records(account.get("collections")), fields.records(account.get("posts"))
    if not any(
        "body" in row
        for row in (*loose, *(p for b in blogs for p in fields.records(b.get("posts"))))
    ):
        raise InvalidData("this is JSON, but no post of Write.as is in it")
    batch.old_feeds.append("/feed/")
    ids = set[str]()
    for blog in blogs:
        for row in fields.records(blog.get("posts")):
            ids.add(as_text(row.get("id")))
            yield _post(row, blog)
    for row in loose:
        of = row.get("collection")
        if as_text(row.get("id")) not in ids:
            if not isinstance(of, dict):
                batch.notes["post of no blog becomes a draft"] += 1
            yield _post(row, of if isinstance(of, dict) else {})


def _post(row: Row, blog: Row) -> ImportedPost:
    slug, title = as_text(row.get("slug")), " ".join(as_text(row.get("title")).split())
    moment, needs = fields.dated(as_text(row.get("created")))
    changed, _ = fields.dated(as_text(row.get("updated")))
    home, alias = as_text(blog.get("url")), as_text(blog.get("alias"))
    address = f"{home.rstrip('/')}/{slug}" if home else f"/{alias}/{slug}" if alias else ""
    public = bool(blog) and not needs
    return ImportedPost(
        where=f"{slug or as_text(row.get('id'))} ({title[:40]})",
        # A blog's feed has the address, so a reader knows the post again.
        guid=address if slug and home else fields.identity(as_text(row.get("id")), "", title),
        source=as_text(row.get("body")),
        source_format="markdown",
        needs=needs,
        status="published" if public else "draft",
        title=title,
        slug=slug,
        tags=tuple(filter(None, map(as_text, as_list(row.get("tags"))))),
        published_at=moment,
        changed_at=changed,
        address=address if slug and public else "",
    )
