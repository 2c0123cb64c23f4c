"""Backup of a running site into one file, and restore.

The file is a gzipped tar: the database (copied by SQLite's online backup, so that writers need not
stop), then the media. The key that signs cookies is not in it: after a restore elsewhere, people
log in again.
"""

import os
import shutil
import sqlite3
import tarfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from publisher.base.environment import Environment, prepare_instance
from publisher.base.errors import Conflict, InvalidData, InvalidInput, StorageUnavailable
from publisher.base.media_files import MediaFiles
from publisher.base.system import whole_files
from publisher.installation import serving_lock
from publisher.storage import sqlite_file
from publisher.storage.database import Database
from publisher.storage.schema import check_known, copy_database

DATABASE, MEDIA, ROOM = "publisher.db", "media", "restore"


def backup(
    environment: Environment, target: Path, tell: Callable[[str], None] = lambda _: None
) -> int:
    """Write a backup of the site to `target`; returns its size in bytes. `tell` is called with the
    progress.

    The file appears whole or not at all. Raises InvalidInput when the database is not SQLite or
    the target exists, InvalidData when the database is one that `restore` would refuse,
    StorageUnavailable when the target cannot be written.
    """
    source = database_file(environment)
    if target.exists():
        raise InvalidInput(f"{target} exists already; nothing was written")
    whole_files.check_folder_of(target)
    if not source.exists():
        raise InvalidData(f"there is no database in {environment.instance}")
    # Beside the target where the instance's own disk has no room for a copy, or takes nothing.
    room = shutil.disk_usage(environment.instance).free > 2 * source.stat().st_size
    room = room and _takes_files(environment.instance)
    copy = whole_files.draft_of((environment.instance if room else target.parent) / "backup")
    try:
        with whole_files.in_use(copy, create=True):
            try:
                tell("copying the database")
                copy_database(source, copy)
                _check_database(copy, f"nothing was written: the database {source}")
                with whole_files.whole_file(target) as file:
                    _write_archive(file, copy, environment.media, tell)
            finally:
                copy.unlink(missing_ok=True)
    except (OSError, sqlite3.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise StorageUnavailable(f"{target} could not be written: {reason}") from error
    return target.stat().st_size


def _takes_files(folder: Path) -> bool:
    """By trying: a file system that turned read-only after a fault does not say so."""
    try:
        with TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def restore(environment: Environment, source: Path) -> Path | None:
    """Replace the site's data by a backup; returns where the old database was kept.

    If it is killed at any point, the database is the old one or the new one.
    Raises InvalidData, having changed nothing, when the file is not a complete backup, and Conflict
    while the site is being served.
    """
    prepare_instance(environment)
    database = database_file(environment)
    with serving_lock(environment, "being restored"):
        room = whole_files.draft_of(environment.instance / ROOM)
        room.mkdir(mode=0o700)
        with whole_files.in_use(room):
            try:
                _read_archive(source, room)
                _check_database(room / DATABASE, "the database in the backup")
                _bring_media(room / MEDIA, environment.media)
                former = _keep(database)
                whole_files.put_in_place(room / DATABASE, database)
            except OSError as error:
                raise StorageUnavailable(
                    f"the restore stopped: {error.strerror}. The site is as it was"
                ) from error
            finally:
                shutil.rmtree(room, ignore_errors=True)
    return former


def cut_off(environment: Environment) -> str | None:
    """The message about a restore that was killed before it took effect; None if there is none."""
    for room in environment.instance.glob(f".{ROOM}-*"):
        if (room / DATABASE).exists():
            return (
                "a restore was cut off before it took effect: the database is the one from "
                "before it; run `publisher restore FILE` again"
            )
    return None


def database_file(environment: Environment) -> Path:
    """The SQLite file behind the settings; InvalidInput for another kind of database."""
    path = sqlite_file.path_of(environment.database_url)
    if path is None:
        raise InvalidInput(
            "backup and restore copy SQLite's file; this site's database is on a server: "
            "use pg_dump, and keep the media folder (docs/deploy.md)"
        )
    return path


def _write_archive(
    file: IO[bytes], database: Path, media: MediaFiles, tell: Callable[[str], None]
) -> None:
    with tarfile.open(fileobj=file, mode="w:gz", compresslevel=6) as archive:
        archive.add(database, DATABASE)
        names = media.names()
        for number, name in enumerate(names, 1):
            tell(f"{number:,} of {len(names):,} files")
            entry = tarfile.TarInfo(f"{MEDIA}/{name}")
            entry.mode = 0o600
            with media.open(name) as content:
                entry.size = content.seek(0, os.SEEK_END)
                content.seek(0)
                archive.addfile(entry, content)


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


def _check_database(path: Path, named: str) -> None:
    """InvalidData, which calls the database `named`, unless it is whole and of a known schema."""
    try:
        with closing(sqlite3.connect(path)) as connection:
            verdict = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    except sqlite3.DatabaseError as error:
        verdict = str(error)
    if verdict != "ok":
        raise InvalidData(f"{named} is damaged: {' '.join(verdict.split())[:200]}")
    database = Database(f"sqlite:///{path}")
    try:
        check_known(database)
    finally:
        database.close()
    sqlite_file.fold_log(path)
    path.chmod(0o600)
    whole_files.sync(path)


def _bring_media(room: Path, media: MediaFiles) -> None:
    """Add the backup's files to the existing ones: equal names mean equal content."""
    for file in sorted(room.rglob("*")):
        if file.is_file():
            media.bring(file, str(file.relative_to(room)))


def _keep(database: Path) -> Path | None:
    """Keep the present database under a second name, its write-ahead log merged into it.

    The log of a damaged one is renamed with it: an old log must not be applied to the new database.
    """
    if not database.exists():
        return None
    number = 1
    copy = database.with_name(f"{database.name}.before-restore")
    while copy.exists():
        number += 1
        copy = database.with_name(f"{database.name}.before-restore-{number}")
    try:
        free = sqlite_file.fold_log(database)
    except sqlite3.DatabaseError:
        free = True
    if not free:
        raise Conflict("another command is using the database; wait for it, then restore again")
    os.link(database, copy)
    for log in sqlite_file.LOGS:
        left = database.with_name(database.name + log)
        if left.exists():
            left.replace(copy.with_name(copy.name + log))
    whole_files.sync(database.parent)
    return copy
