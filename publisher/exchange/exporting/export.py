"""Writing an export: every post, revision, setting and file, from one state of the database.

The destination, a folder or a zip, is written whole or not at all.
"""

import csv
import io
import secrets
import shutil
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session, selectinload

from publisher.base.dates import format_rfc3339
from publisher.base.errors import InvalidInput, StorageUnavailable
from publisher.base.media_files import MediaFiles
from publisher.base.text import to_cell
from publisher.base.whole_files import check_folder_of
from publisher.blog.members import authors
from publisher.blog.post_files import media
from publisher.exchange.exporting import exported_files as documents
from publisher.exchange.importing.formats import own_export
from publisher.storage.tables.blog import Media, Post, Preference, Redirect, Revision, Update

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
    kept: MediaFiles,
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
    write(own_export.UPDATES, _log(session, done))
    for name in kept.names():
        if media.is_name(name):
            write(f"media/{name}", _parts(kept, name))
            done.files += 1
            tell(f"{done.posts:,} posts, {done.files:,} files")
    settings = {row.name: row.value for row in session.scalars(select(Preference))}
    pictures = session.scalars(select(Media).order_by(Media.id))
    people = authors.everyone(session)
    text = documents.manifest(now, site_url, settings, people, pictures, names)
    write(own_export.MANIFEST, [text.encode()])
    return done


def _posts(session: Session) -> Iterator[Post]:
    """Every post, a few hundred in memory at a time."""
    ids = session.scalars(select(Post.id).order_by(Post.id)).all()
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        query = select(Post).where(Post.id.in_(some)).options(selectinload(Post.tags))
        yield from session.scalars(query.order_by(Post.id)).all()
        session.expunge_all()


def _write_post(session: Session, write: Write, post: Post, names: dict[int, str]) -> None:
    paths = select(Redirect.path).where(Redirect.post_id == post.id).order_by(Redirect.path)
    redirects = session.scalars(paths).all()
    query = select(Revision).where(Revision.post_id == post.id).order_by(Revision.version)
    for name, text in documents.files_of(post, redirects, session.scalars(query).all(), names):
        write(name, [text.encode()])


def _parts(kept: MediaFiles, name: str) -> Iterator[bytes]:
    """A file's bytes, in parts."""
    with kept.open(name) as file:
        while part := file.read(_BYTES_AT_ONCE):
            yield part


def _log(session: Session, done: Exported) -> Iterator[bytes]:
    """The update log as CSV, oldest first, in parts; `done` counts its rows."""
    yield _csv([documents.UPDATE_COLUMNS])
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
