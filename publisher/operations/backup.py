"""Backup of a running site into one file, and restore.

The file is a gzipped tar: the database (copied by SQLite's online backup, so that writers need not
stop), then the media. The key that signs cookies stays out of it: after a restore elsewhere, people
log in again.
"""

import os
import secrets
import shutil
import sqlite3
import tarfile
from contextlib import closing, suppress
from pathlib import Path
from typing import IO

from sqlalchemy import make_url

from publisher.base.environment import Environment, prepare_instance
from publisher.base.errors import InvalidData, InvalidInput, StorageUnavailable
from publisher.installation import serving_lock
from publisher.storage.database import Database
from publisher.storage.schema import check_known

DATABASE, MEDIA = "publisher.db", "media"


def backup(environment: Environment, target: Path) -> int:
    """Write a backup of the site to `target`; returns its size in bytes.

    The file appears whole or not at all. Raises InvalidInput when the database is not SQLite or
    the target exists, StorageUnavailable when it cannot be written.
    """
    source = database_file(environment)
    if target.exists():
        raise InvalidInput(f"{target} exists already; nothing was written")
    if not source.exists():
        raise InvalidData(f"there is no database in {environment.instance}")
    draft = target.with_name(f".{target.name}-{secrets.token_hex(4)}")
    copy = environment.instance / f".backup-{secrets.token_hex(4)}.db"
    try:
        _copy_database(source, copy)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            _write_archive(file, copy, environment.media)
        draft.replace(target)
    except (OSError, sqlite3.Error) as error:
        raise StorageUnavailable(f"the backup could not be written: {error}") from error
    finally:
        copy.unlink(missing_ok=True)
        draft.unlink(missing_ok=True)
    return target.stat().st_size


def restore(environment: Environment, source: Path) -> Path | None:
    """Put a backup in the place of the site's data; returns where the old database was kept.

    Raises InvalidData, having changed nothing, when the file is not a whole backup, and Conflict
    while the site is being served.
    """
    prepare_instance(environment)
    database = database_file(environment)
    with serving_lock(environment, exclusive=True):
        room = environment.instance / f".restore-{secrets.token_hex(4)}"
        room.mkdir()
        try:
            _read_archive(source, room)
            _check_database(room / DATABASE)
            for file in sorted((room / MEDIA).rglob("*")):
                if file.is_file():
                    place = environment.media / file.relative_to(room / MEDIA)
                    place.parent.mkdir(parents=True, exist_ok=True)
                    file.replace(place)
            kept = _set_aside(database)
            (room / DATABASE).replace(database)
        finally:
            shutil.rmtree(room)
    return kept


def database_file(environment: Environment) -> Path:
    """The SQLite file behind the settings; InvalidInput for another kind of database."""
    url = make_url(environment.database_url)
    if url.get_backend_name() != "sqlite" or not url.database:
        raise InvalidInput("backup and restore copy SQLite; use your database's own tools instead")
    return Path(url.database)


def _copy_database(source: Path, copy: Path) -> None:
    with closing(sqlite3.connect(source)) as live, closing(sqlite3.connect(copy)) as target:
        live.backup(target)
        target.execute("PRAGMA journal_mode=DELETE")


def _write_archive(file: IO[bytes], database: Path, media: Path) -> None:
    with tarfile.open(fileobj=file, mode="w:gz", compresslevel=6) as archive:
        archive.add(database, DATABASE)
        for path in sorted(media.rglob("*")):
            if path.is_file() and not path.name.startswith("."):
                archive.add(path, f"{MEDIA}/{path.relative_to(media)}")


def _read_archive(source: Path, room: Path) -> None:
    """Unpack into an empty folder; only the names a backup has are taken, links never."""
    (room / MEDIA).mkdir()
    try:
        with tarfile.open(source, "r:gz") as archive:
            for member in archive:
                expected = member.name == DATABASE or member.name.startswith(f"{MEDIA}/")
                if not member.isfile() or not expected:
                    raise InvalidData(f"{source} is not a backup: it contains {member.name[:80]!r}")
                archive.extract(member, room, filter="data", set_attrs=False)
    except (tarfile.TarError, OSError, EOFError) as error:
        raise InvalidData(f"{source} cannot be read as a backup: {error}") from error
    if not (room / DATABASE).is_file():
        raise InvalidData(f"{source} is not a backup: it holds no database")


def _check_database(path: Path) -> None:
    try:
        with closing(sqlite3.connect(path)) as connection:
            verdict = connection.execute("PRAGMA integrity_check").fetchone()[0]
    except sqlite3.Error as error:
        raise InvalidData(f"the database in the backup is damaged: {error}") from error
    if verdict != "ok":
        raise InvalidData(f"the database in the backup is damaged: {verdict}")
    database = Database(f"sqlite:///{path}")
    try:
        check_known(database)
    finally:
        database.close()
    for leftover in ("-wal", "-shm"):
        path.with_name(path.name + leftover).unlink(missing_ok=True)


def _set_aside(database: Path) -> Path | None:
    """Keep the present database beside the restored one, its write-ahead log folded in."""
    if not database.exists():
        return None
    with closing(sqlite3.connect(database)) as connection, suppress(sqlite3.Error):
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    kept = database.with_name(f"{database.name}.before-restore")
    number = 1
    while kept.exists():
        number += 1
        kept = database.with_name(f"{database.name}.before-restore-{number}")
    database.replace(kept)
    for leftover in ("-wal", "-shm"):
        database.with_name(database.name + leftover).unlink(missing_ok=True)
    return kept
