"""Reads our own export: posts with all their properties, and the site's data around them."""

import csv
import io
import json
import re
from collections.abc import Container, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

from publisher.base.dates import parse_instant, parse_rfc3339
from publisher.base.errors import InvalidData
from publisher.base.text import from_cell
from publisher.blog.post_files import media
from publisher.blog.writing import content
from publisher.blog.writing.content import Content, from_plain, to_plain
from publisher.exchange.export import MANIFEST, UPDATES
from publisher.exchange.front_matter import MAX_FILE_BYTES, split
from publisher.parts.importing.formats import markdown_files
from publisher.parts.importing.formats.fields import moment
from publisher.parts.importing.imported import (
    Batch,
    ImportedPost,
    ImportedRevision,
    ImportedSite,
    LoggedUpdate,
)
from publisher.parts.importing.sources import Folder
from publisher.storage.tables.blog import UPDATE_KINDS, UpdateKind

MAX_LOG_BYTES = 500_000_000
_FOLDERS = ("posts", "pages", "scheduled", "drafts", "deleted")


def read(folder: Folder) -> Batch | None:
    """The posts, and the site around them; None when the folder is no export of ours.

    Raises InvalidData, naming the file, for whatever is not as we write it.
    """
    top = _top(folder)
    if top is None:
        return None
    folder = folder.below(top)
    manifest = _json(folder, MANIFEST)
    if not isinstance(manifest, dict) or manifest.get("format") != 1:
        raise InvalidData(f"{MANIFEST}: not an export that this version knows")
    files = tuple(f"{top}{name}" for name in folder.names if name.startswith("media/"))
    moved = manifest.get("moved_lists")
    lists = {str(old): str(new) for old, new in moved.items()} if isinstance(moved, dict) else {}
    return Batch(_posts(folder), site=_site(manifest, files), moved=lists)


def updates(folder: Folder, now: datetime) -> Iterator[LoggedUpdate]:
    """The rows of the update log in an export of ours; InvalidData names the line that is wrong."""
    folder = folder.below(_top(folder) or "")
    if UPDATES not in folder.names:
        return
    data = io.BytesIO(folder.read(UPDATES, MAX_LOG_BYTES))
    rows = csv.DictReader(io.TextIOWrapper(data, "utf-8", "replace", newline=""))
    try:
        for row in rows:
            at, kind = parse_rfc3339(row["updated_at"]), _update_kind(row["kind"])
            if at > now:
                raise ValueError(f"{at:%Y-%m-%d %H:%M} is in the future")
            yield at, kind, from_cell(row["guid"] or "")
    except (KeyError, ValueError, csv.Error) as error:
        raise InvalidData(f"{UPDATES}: line {rows.line_num}: {error}") from error


def _top(folder: Folder) -> str | None:
    """The folder that the manifest lies in, with its slash; None where there is none."""
    tops = [name for name in folder.names if PurePosixPath(name).name == MANIFEST]
    top = min(tops, key=len, default="")
    return top.removesuffix(MANIFEST) if top and top.count("/") <= 1 else None


def _posts(folder: Folder) -> Iterator[ImportedPost]:
    revised = {name for name in folder.names if name.startswith("revisions/")}
    for name in folder.names:
        if name.partition("/")[0] in _FOLDERS:
            yield _post(folder, name, revised)


def _post(folder: Folder, name: str, revised: Container[str]) -> ImportedPost:
    fields, body = split(name, folder.read(name, MAX_FILE_BYTES))
    post = markdown_files.post(name, fields, body, UTC)
    path, revisions = f"revisions/{post.slug}.json", list[ImportedRevision]()
    if path in revised:
        rows = _json(folder, path)
        with _naming(path):
            revisions = [_revision(row) for row in rows]
    if saved_at := moment(str(fields.get("saved", "")), name):
        by, minor = str(fields.get("saved_by", "")), fields.get("saved_minor") == "true"
        newest = to_plain(content.of(post))
        revisions.append(ImportedRevision(post.version, saved_at, newest, by, minor))
    return replace(post, revisions=tuple(revisions), needs=())


def _revision(row: dict[str, Any]) -> ImportedRevision:
    return ImportedRevision(
        version=int(row["version"]),
        saved_at=parse_instant(row["saved_at"]),
        content=_content(row),
        author=str(row["author"]),
        minor=row["minor"] is True,
    )


def _content(row: dict[str, Any]) -> dict[str, Any]:
    """The fields that the row has, as revisions keep them; older exports have only four."""
    if not isinstance(row["source"], str):
        raise TypeError("source: a text is needed")
    fields = to_plain(replace(Content(), **from_plain(row)))
    return {name: value for name, value in fields.items() if name in row}


def _site(manifest: dict[str, Any], files: tuple[str, ...]) -> ImportedSite:
    """The manifest as values of the right types."""
    with _naming(MANIFEST):
        return ImportedSite(
            preferences={str(n): str(v) for n, v in manifest.get("preferences", {}).items()},
            authors=tuple(dict(row) for row in manifest.get("authors", [])),
            media=tuple(_medium(row) for row in manifest.get("media", [])),
            files=files,
        )


def _medium(row: dict[str, Any]) -> dict[str, Any]:
    """What the manifest says about a media file; ValueError for a file that cannot be ours."""
    extension, digest = str(row["extension"]), str(row["digest"])
    if extension not in media.CONTENT_TYPES or not re.fullmatch("[0-9a-f]{64}", digest):
        raise ValueError(f"no media file of ours: {digest[:20]!r}")
    parse_instant(str(row["created_at"]))
    return {
        **row,
        "digest": digest,
        "extension": extension,
        "widths": [_number(width) for width in row["widths"]],
        **{name: _number(row[name]) for name in ("bytes", "width", "height")},
    }


def _number(value: object) -> int:
    """A number of bytes or pixels."""
    if not isinstance(value, int) or not 0 <= value < 2**31:
        raise ValueError(f"a number from 0 on is needed, not {str(value)[:40]!r}")
    return value


def _update_kind(word: str) -> UpdateKind:
    for kind in UPDATE_KINDS:
        if kind == word:
            return kind
    raise ValueError(f"{word[:40]!r} is not a kind of update")


def _json(folder: Folder, name: str) -> Any:
    try:
        return json.loads(folder.read(name, MAX_LOG_BYTES))
    except (ValueError, RecursionError) as error:
        raise InvalidData(f"{name}: the JSON cannot be read") from error


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Say in which file a value is missing or of the wrong kind."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidData(f"{name}: {error or type(error).__name__}") from error
