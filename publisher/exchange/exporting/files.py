"""The files of an export: a post with front matter, its revisions and the manifest as JSON."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from publisher.base.dates import format_rfc3339
from publisher.blog import content
from publisher.blog.content import Content
from publisher.exchange.importing import front_matter
from publisher.storage.tables.blog import Author, Media, Post, Revision

FORMAT = 1
UPDATE_COLUMNS = ("updated_at", "kind", "guid")


def post_file(post: Post, author: str, redirects: Sequence[str]) -> tuple[str, str]:
    """Where a post's file lies, and what stands in it; `author` is the name to log in with."""
    text = front_matter.join(_fields(post, author, redirects), post.source)
    return f"{_place(post)}.{_suffix(post)}", text


def revisions_file(
    post: Post, rows: Iterable[Revision], names: Mapping[int, str]
) -> tuple[str, str]:
    """Where the revisions of a post lie, and what stands there."""
    values = [
        {
            "version": row.version,
            "saved_at": format_rfc3339(row.saved_at),
            "author": names.get(row.author_id or 0, ""),
            "minor": row.minor,
            **row.content,
        }
        for row in rows
    ]
    return f"revisions/{post.slug}.json", json.dumps(values, ensure_ascii=False, indent=1)


def manifest(
    now: datetime,
    site_url: str,
    settings: Mapping[str, str],
    authors: Iterable[Author],
    media: Iterable[Media],
    names: Mapping[int, str],
) -> str:
    """The description of the site around the posts."""
    value = {
        "format": FORMAT,
        "exported_at": format_rfc3339(now),
        "site_url": site_url,
        "preferences": dict(settings),
        "authors": [_author(row) for row in authors],
        "media": [_media(row, names) for row in media],
    }
    return json.dumps(value, ensure_ascii=False, indent=1)


def _place(post: Post) -> str:
    date = post.published_at
    if post.status == "published" and post.kind == "page":
        return f"pages/{post.slug}"
    if post.status == "published" and date is not None:
        return f"posts/{date:%Y}/{date:%Y-%m-%d}-{post.slug}"
    return f"{'drafts' if post.status == 'draft' else post.status}/{post.slug}"


def _suffix(post: Post) -> str:
    return "html" if post.source_format == "html" else "md"


def _fields(post: Post, author: str, redirects: Sequence[str]) -> dict[str, Any]:
    """The front matter: what is empty or the rule is left out."""
    ours = content.of_post(post, tuple(tag.name for tag in post.tags))
    usual = content.to_plain(Content())
    said = {name: part for name, part in content.to_plain(ours).items() if part != usual[name]}
    said = {name: part for name, part in said.items() if name not in ("source", "source_format")}
    values: dict[str, Any] = {
        **said,
        "date": _instant(post.published_at or post.scheduled_at),
        "author": author,
        "state": post.status,
        "guid": post.guid,
        "guid_is_permalink": "true" if post.guid_is_permalink else "",
        "redirects": list(redirects),
        "created": _instant(post.created_at),
        "changed": _instant(post.changed_at),
        "deleted": _instant(post.deleted_at),
        "deleted_state": post.deleted_status,
        "version": post.version,
    }
    return {name: value for name, value in values.items() if value not in ("", [], None)}


def _author(row: Author) -> dict[str, Any]:
    return {
        "name": row.name,
        "display_name": row.display_name,
        "bio": row.bio,
        "role": row.role,
        "created_at": format_rfc3339(row.created_at),
        "disabled_at": _instant(row.disabled_at),
    }


def _media(row: Media, names: Mapping[int, str]) -> dict[str, Any]:
    return {
        "digest": row.digest,
        "name": row.name,
        "content_type": row.content_type,
        "extension": row.extension,
        "bytes": row.bytes,
        "width": row.width,
        "height": row.height,
        "widths": row.widths,
        "alt": row.alt,
        "author": names.get(row.author_id or 0, ""),
        "created_at": format_rfc3339(row.created_at),
    }


def _instant(moment: datetime | None) -> str | None:
    return format_rfc3339(moment) if moment else None
