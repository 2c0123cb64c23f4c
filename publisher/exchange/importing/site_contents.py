"""Imports what our own export has besides posts: authors, settings, the update log, media.

Authors and settings are imported only into a blog without posts: an import must not rename a site
that is in use. Passwords are never exported: each author needs a new one (`author password NAME`).
"""

import secrets
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.base.dates import parse_instant
from publisher.base.errors import FieldErrors, InvalidData, InvalidInput
from publisher.blog import update_log
from publisher.blog.members import authors
from publisher.blog.post_files import media
from publisher.blog.post_files.media import Accepted
from publisher.exchange.importing.imported import Batch, ImportedSite
from publisher.exchange.importing.sources import Folder
from publisher.installation.settings import store_setting
from publisher.storage.database import Database
from publisher.storage.tables.blog import Media, Post, Update
from publisher.storage.tables.credentials import Role


def people_and_settings(session: Session, batch: Batch) -> None:
    """Add the authors and settings of an export, before its posts; only to a blog without posts."""
    if batch.site is None:
        return
    if session.scalar(select(Post.id).limit(1)) is not None:
        batch.notes["site's settings and authors are left alone: this blog is in use"] += 1
        return
    for name, value in batch.site.preferences.items():
        if name == "site_url":
            continue  # this site has an address of its own
        try:
            store_setting(session, name, value)
        except InvalidInput as error:
            raise InvalidData(f"publisher.json: {error}") from error
    here = {author.name for author in authors.everyone(session)}
    for row in batch.site.authors:
        if str(row.get("name")) not in here:
            _add_author(session, row)
            batch.notes["author imported; set a password with `author password NAME`"] += 1
    update_log.settle(session)


def log(database: Database, site: ImportedSite) -> None:
    """Add the rows of the update log that are not here yet, after the posts."""
    with database.read() as session:
        missing = list(_missing(session, site))
    update_log.record_history(database, missing)


def _missing(session: Session, site: ImportedSite) -> Iterator[update_log.Row]:
    ids = {guid: id_ for id_, guid in session.execute(select(Post.id, Post.guid))}
    rows = session.execute(select(Update.at, Update.kind, Update.post_id))
    here = Counter((at, kind, post_id) for at, kind, post_id in rows)
    for at, kind, guid in site.updates:
        row = (at, kind, ids.get(guid))
        if here[row]:
            here[row] -= 1
        else:
            yield row


def files(site: ImportedSite, source: Folder) -> Iterator[Accepted]:
    """The files of the media folder, checked and ready to be stored.

    Raises InvalidData for a file that is not what its name says.
    """
    groups: dict[str, list[str]] = {}
    for path in site.files:
        name = path.rpartition("/")[2]
        if not media.is_name(name):
            raise InvalidData(f"media/{name[:60]}: not a name that this program gives")
        groups.setdefault(name[:20], []).append(path)
    for row in site.media:
        digest = row["digest"]
        paths = sorted(groups.get(digest[:20], []), key=len)
        held = {path.rpartition("/")[2]: source.read(path, media.MAX_BYTES) for path in paths}
        if not held or media.digest_of(next(iter(held.values()))) != digest:
            raise InvalidData(f"media/{digest[:20]}: missing, or not the file it was")
        kind = media.CONTENT_TYPES[row["extension"]]
        yield Accepted(digest, kind, row["extension"], row["width"], row["height"], 0, held)


def media_rows(session: Session, site: ImportedSite) -> None:
    """Add the descriptions of the media that are not here yet."""
    known = set(session.scalars(select(Media.digest)))
    people = {author.name: author.id for author in authors.everyone(session)}
    for row in site.media:
        if row["digest"] not in known:
            same = ("digest", "extension", "bytes", "width", "height", "widths")
            session.add(
                Media(
                    **{name: row[name] for name in same},
                    **{name: str(row.get(name, "")) for name in ("name", "alt")},
                    content_type=media.CONTENT_TYPES[row["extension"]],
                    author_id=people.get(str(row.get("author"))),
                    created_at=parse_instant(str(row["created_at"])),
                )
            )
    session.flush()


def _add_author(session: Session, row: dict[str, Any]) -> None:
    """An author as exported, with a password that nobody knows."""
    try:
        name = str(row["name"])
        role: Role = "admin" if row["role"] == "admin" else "author"
        made_at = parse_instant(str(row["created_at"]))
        password = secrets.token_urlsafe(32)
        author = authors.add(session, name, password, role, made_at, str(row["display_name"]))
        author.bio, author.role = str(row["bio"]), role
        author.disabled_at = parse_instant(row["disabled_at"]) if row["disabled_at"] else None
    except (KeyError, TypeError, ValueError, FieldErrors) as error:
        raise InvalidData(f"publisher.json: an author: {error}") from error


def names(batch: Batch) -> Iterable[str]:
    """The names of the authors in an export."""
    return [str(row.get("name")) for row in batch.site.authors] if batch.site else []
