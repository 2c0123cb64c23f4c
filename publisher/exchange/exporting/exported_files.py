"""The files of an export: a post with front matter, its revisions and the manifest as JSON."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from publisher.base.dates import format_rfc3339
from publisher.blog.writing import content
from publisher.blog.writing.content import Content
from publisher.exchange.importing.formats import front_matter
from publisher.storage.tables.blog import Media, Post, Revision
from publisher.storage.tables.credentials import Author

FORMAT = 1
UPDATE_COLUMNS = ("updated_at", "kind", "guid")
AUTHOR_COLUMNS = ("name", "display_name", "bio", "role", "created_at", "disabled_at")
MEDIA_COLUMNS = (
    "digest", "name", "content_type", "extension", "bytes", "width", "height", "widths", "alt",
    "created_at",
)  # fmt: skip


def files_of(
    post: Post, redirects: Sequence[str], revisions: Sequence[Revision], names: Mapping[int, str]
) -> Iterator[tuple[str, str]]:
    """The paths of a post's files, and their texts; `names` are the authors' login names.

    The newest revision is the post itself: only if there are others do they get a file.
    """
    ours = content.to_plain(content.of_post(post, tuple(tag.name for tag in post.tags)))
    fields = _fields(post, ours, names.get(post.author_id or 0, ""), redirects)
    newest = revisions[-1] if revisions else None
    if newest and (newest.version, newest.content) == (post.version, ours):
        revisions = revisions[:-1]
        fields |= _non_empty(
            saved=_instant(newest.saved_at),
            saved_by=names.get(newest.author_id or 0),
            saved_minor="true" if newest.minor else "",
        )
    yield f"{_place(post)}.{_suffix(post)}", front_matter.join(fields, post.source)
    if revisions:
        yield f"revisions/{post.slug}.json", _revisions(revisions, names)


def _revisions(rows: Iterable[Revision], names: Mapping[int, str]) -> str:
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
    return json.dumps(values, ensure_ascii=False, indent=1)


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
        "authors": [_plain(row, AUTHOR_COLUMNS) for row in authors],
        "media": [
            _plain(row, MEDIA_COLUMNS, author=names.get(row.author_id or 0, "")) for row in media
        ],
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


def _fields(
    post: Post, ours: Mapping[str, Any], author: str, redirects: Sequence[str]
) -> dict[str, Any]:
    """The front matter: empty and default values are left out."""
    defaults = content.to_plain(Content())
    own = {name: part for name, part in ours.items() if part != defaults[name]}
    own = {name: part for name, part in own.items() if name not in ("source", "source_format")}
    return _non_empty(
        **own,
        date=_instant(post.published_at or post.scheduled_at),
        author=author,
        state=post.status,
        guid=post.guid,
        guid_is_permalink="true" if post.guid_is_permalink else "",
        redirects=list(redirects),
        created=_instant(post.created_at),
        changed=_instant(post.changed_at),
        deleted=_instant(post.deleted_at),
        deleted_state=post.deleted_status,
        version=post.version,
    )


def _non_empty(**values: Any) -> dict[str, Any]:
    """The values that are not empty."""
    return {name: value for name, value in values.items() if value not in ("", [], None)}


def _plain(row: Author | Media, columns: Sequence[str], **more: Any) -> dict[str, Any]:
    """Columns of a row as JSON has them."""
    values = {name: getattr(row, name) for name in columns}
    return {
        name: format_rfc3339(value) if isinstance(value, datetime) else value
        for name, value in (values | more).items()
    }


def _instant(moment: datetime | None) -> str | None:
    return format_rfc3339(moment) if moment else None
