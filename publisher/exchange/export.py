"""Writing an export: every post, revision, setting and file, from one state of the database.

The destination, a folder or a zip, is written whole or not at all.

A post is a file with front matter; its revisions and the manifest are JSON.
"""

import csv
import io
import json
import secrets
import shutil
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session, selectinload

from publisher.base.dates import format_rfc3339
from publisher.base.errors import InvalidInput, StorageUnavailable
from publisher.base.media_files import MediaFiles
from publisher.base.system.whole_files import check_folder_of
from publisher.base.text import to_cell
from publisher.blog.members import authors
from publisher.blog.post_files import media
from publisher.blog.writing import content
from publisher.blog.writing.content import Content
from publisher.exchange.front_matter import join
from publisher.storage.tables.blog import (
    Media,
    MovedList,
    Post,
    Preference,
    Redirect,
    Revision,
    UnsavedText,
    Update,
)
from publisher.storage.tables.credentials import Author

FORMAT = 1
MANIFEST, UPDATES = "publisher.json", "updates.csv"
UPDATE_COLUMNS = ("updated_at", "kind", "guid")
AUTHOR_COLUMNS = ("name", "display_name", "bio", "role", "created_at", "disabled_at")
MEDIA_COLUMNS = (
    "digest", "name", "content_type", "extension", "bytes", "width", "height", "widths", "alt",
    "created_at",
)  # fmt: skip


def _place(post: Post) -> str:
    date = post.published_at
    if post.status == "published" and post.kind == "page":
        return f"pages/{post.slug}"
    if post.status == "published" and date is not None:
        return f"posts/{date:%Y}/{date:%Y-%m-%d}-{post.slug}"
    return f"{'drafts' if post.status == 'draft' else post.status}/{post.slug}"


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
        published=None if post.status == "published" else False,  # for Hugo and Jekyll
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


Write = Callable[[str, Iterable[bytes]], None]
"""Writes a file of this name, given in parts."""

_AT_ONCE, _ROWS_AT_ONCE, _BYTES_AT_ONCE = 500, 10_000, 1_000_000


@dataclass
class Exported:
    """How much was written."""

    posts: int = 0
    updates: int = 0
    files: int = 0


def export(
    session: Session,
    write: Write,
    media_files: MediaFiles,
    site_url: str,
    now: datetime,
    tell: Callable[[str], None] = lambda _: None,
) -> Exported:
    """Write everything; `session` must see one state throughout. `tell` gets the progress."""
    done = Exported()
    names = {author.id: author.name for author in authors.everyone(session)}
    for post in _posts(session):
        _write_post(session, write, post, names)
        done.posts += 1
        tell(f"{done.posts:,} posts")
    _write_unsaved(session, write, names)
    write(UPDATES, _log(session, done))
    for name in media_files.names():
        if media.is_name(name):
            write(f"media/{name}", _parts(media_files, name))
            done.files += 1
            tell(f"{done.posts:,} posts, {done.files:,} files")
    site = {
        "format": FORMAT,
        "exported_at": format_rfc3339(now),
        "site_url": site_url,
        "preferences": {row.name: row.value for row in session.scalars(select(Preference))},
        "authors": [_plain(row, AUTHOR_COLUMNS) for row in authors.everyone(session)],
        "media": [
            _plain(row, MEDIA_COLUMNS, author=names.get(row.author_id or 0, ""))
            for row in session.scalars(select(Media).order_by(Media.id))
        ],
        "moved_lists": {row.path: row.target for row in session.scalars(select(MovedList))},
    }
    write(MANIFEST, [_json(site)])
    return done


def _posts(session: Session) -> Iterator[Post]:
    """Every post, a few hundred in memory at a time."""
    ids = session.scalars(select(Post.id).order_by(Post.id)).all()
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        query = select(Post).where(Post.id.in_(some)).options(selectinload(Post.tags))
        yield from session.scalars(query.order_by(Post.id)).all()
        session.expunge_all()


def _write_post(session: Session, write: Write, post: Post, names: Mapping[int, str]) -> None:
    """Write a post's files; `names` are the authors' login names.

    The newest revision is the post itself: only if there are others do they get a file.
    """
    paths = select(Redirect.path).where(Redirect.post_id == post.id).order_by(Redirect.path)
    ours = content.to_plain(content.of_post(post, tuple(tag.name for tag in post.tags)))
    author = names.get(post.author_id or 0, "")
    fields = _fields(post, ours, author, session.scalars(paths).all())
    query = select(Revision).where(Revision.post_id == post.id).order_by(Revision.version)
    revisions = session.scalars(query).all()
    newest = revisions[-1] if revisions else None
    if newest and (newest.version, newest.content) == (post.version, ours):
        revisions = revisions[:-1]
        fields |= _non_empty(
            saved=_instant(newest.saved_at),
            saved_by=names.get(newest.author_id or 0),
            saved_minor="true" if newest.minor else "",
        )
    suffix = "html" if post.source_format == "html" else "md"
    write(f"{_place(post)}.{suffix}", [join(fields, post.source).encode()])
    if revisions:
        write(f"revisions/{post.slug}.json", [_json([_revision(row, names) for row in revisions])])


def _write_unsaved(session: Session, write: Write, names: Mapping[int, str]) -> None:
    """Write what authors have typed and not saved, for people to read: an import leaves it."""
    query = select(UnsavedText, Post).outerjoin(Post, Post.id == UnsavedText.post_id)
    for row, post in session.execute(
        query.order_by(UnsavedText.id).execution_options(yield_per=20)
    ):
        fields = _non_empty(
            **{name: text for name, text in row.fields.items() if name != "source"},
            author=names.get(row.author_id),
            state="unsaved",
            published=False,
            guid=post.guid if post else "",
            changed=_instant(row.saved_at),
        )
        text = join(fields, row.fields.get("source", ""))
        write(f"unsaved/{row.id}-{post.slug if post else 'new'}.md", [text.encode()])


def _revision(row: Revision, names: Mapping[int, str]) -> dict[str, Any]:
    return {
        "version": row.version,
        "saved_at": format_rfc3339(row.saved_at),
        "author": names.get(row.author_id or 0, ""),
        "minor": row.minor,
        **row.content,
    }


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode()


def _parts(media_files: MediaFiles, name: str) -> Iterator[bytes]:
    """A file's bytes, in parts."""
    with media_files.open(name) as file:
        while part := file.read(_BYTES_AT_ONCE):
            yield part


def _log(session: Session, done: Exported) -> Iterator[bytes]:
    """The update log as CSV, oldest first, in parts; `done` counts its rows."""
    yield _csv([UPDATE_COLUMNS])
    query = (
        select(Update.at, Update.kind, Post.guid)
        .join(Post, Post.id == Update.post_id, isouter=True)
        .order_by(Update.at, Update.id)
    )
    for part in session.execute(query).yield_per(_ROWS_AT_ONCE).partitions():
        done.updates += len(part)
        yield _csv((format_rfc3339(at), kind, to_cell(guid or "")) for at, kind, guid in part)


def _csv(rows: Iterable[Sequence[str]]) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()


@contextmanager
def target(destination: Path) -> Iterator[Write]:
    """A function that writes one file of the export; at the end everything appears at once.

    Raises InvalidInput when something is there already (an empty folder is allowed), and
    StorageUnavailable when the disk refuses; then nothing is left behind.
    """
    _refuse_to_overwrite(destination)
    check_folder_of(destination)
    is_zip = destination.suffix.lower() == ".zip"
    draft = destination.with_name(f".{destination.name}-{secrets.token_hex(4)}.part")
    try:
        with _zip(draft) if is_zip else _folder(draft) as write:
            yield write
        if destination.is_dir():
            destination.rmdir()
        draft.rename(destination)
    except OSError as error:
        raise StorageUnavailable(
            f"{destination}: {error.strerror}; nothing was exported"
        ) from error
    finally:
        if draft.is_dir():
            shutil.rmtree(draft, ignore_errors=True)
        else:
            draft.unlink(missing_ok=True)


def _refuse_to_overwrite(destination: Path) -> None:
    if destination.is_dir() and not destination.is_symlink():
        if any(destination.iterdir()):
            raise InvalidInput(f"{destination} is not empty; name a new folder or a .zip")
        if destination.suffix.lower() == ".zip":
            raise InvalidInput(f"{destination} is a folder")
    elif destination.exists() or destination.is_symlink():
        raise InvalidInput(f"{destination} exists; name a new folder or a .zip")


@contextmanager
def _folder(root: Path) -> Iterator[Write]:
    root.mkdir()

    def write(name: str, parts: Iterable[bytes]) -> None:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.writelines(parts)

    yield write


@contextmanager
def _zip(path: Path) -> Iterator[Write]:
    made_at = time.localtime()[:6]
    with zipfile.ZipFile(path, "x") as archive:

        def write(name: str, parts: Iterable[bytes]) -> None:
            info = zipfile.ZipInfo(name, made_at)
            info.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(info, "w") as file:
                file.writelines(parts)

        yield write
