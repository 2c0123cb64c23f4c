"""The file of an SQLite database: created atomically, and checked before it is used."""

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from publisher.base.errors import InvalidData, InvalidInput, StorageUnavailable
from publisher.base.system import whole_files
from publisher.storage.database import Database, connect
from publisher.storage.schema import upgrade

_STEPS = 10_000  # instructions of SQLite's virtual machine between two checks of the time
LOGS = ("-wal", "-shm", "-journal")
BACKUP = "put a backup in its place with `publisher restore FILE`"


def path_of(url: str, name: str = "PUBLISHER_DATABASE_URL") -> Path | None:
    """The file behind a database's address; None where there is none (a server).

    Raises InvalidInput, which calls the address `name`, for one that this program does not know, or
    that names no file: a database in memory is lost when the command ends.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:  # its port is read as a number
        raise InvalidInput(f"{name} cannot be read as a database's URL") from error
    if parsed.drivername not in ("sqlite", "postgresql+psycopg"):
        raise InvalidInput(
            f"{name}: {parsed.drivername}:// is not known here "
            "(known: sqlite:///FILE, postgresql+psycopg://...)"
        )
    if parsed.drivername != "sqlite":
        return None
    if parsed.database in (None, "", ":memory:"):
        raise InvalidInput(f"{name}: the name of a file is missing (sqlite:///FILE)")
    return Path(str(parsed.database)).absolute()


def prepare(path: Path) -> None:
    """Make the database where there is none; InvalidData if it is damaged or seems to be lost."""
    if not path.exists():
        traces = _traces(path)
        if traces:
            raise InvalidData(
                f"the database {path} is missing, but {traces[0]} is there, left by a site. "
                f"Nothing was changed. To have it back, {BACKUP}; for a new site, set "
                "PUBLISHER_INSTANCE to an empty folder"
            )
        try:
            _create(path)
        except OSError as error:
            raise StorageUnavailable(
                f"the database {path} cannot be made: {error.strerror}"
            ) from error
        return
    if path.stat().st_size == 0:
        raise InvalidData(f"the database {path} is empty (0 bytes). Nothing was changed: {BACKUP}")
    if not _begins_as_one(path):
        raise InvalidData(f"{path} is damaged or no database. Nothing was changed: {BACKUP}")


def _begins_as_one(path: Path) -> bool:
    """Whether a file begins like a database. SQLite reads it: if we closed the file ourselves,
    every connection of this process would lose its POSIX locks."""
    try:
        with closing(connect(path)) as connection:
            connection.execute("PRAGMA schema_version").fetchone()
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_CANTOPEN:
            raise StorageUnavailable(
                f"the database {path} cannot be opened: it has to be a file of this user"
            ) from error
        return "not a database" not in str(error)
    return True


def check(path: Path, seconds: float | None = None) -> bool:
    """Check the whole database; InvalidData with what is wrong and what to do.

    Returns False if `seconds` were over before the end: half a gigabyte takes one second from a
    warm disk, and a start must not wait for a cold one.
    """
    until = None if seconds is None else time.monotonic() + seconds
    try:
        with closing(connect(path)) as connection:
            if until is not None:
                connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
            verdict = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            return False
        verdict = str(error)
    if verdict != "ok":
        problem = " ".join(verdict.split())[:200]
        raise InvalidData(
            f"the database {path} is damaged ({problem}). Nothing was changed: {BACKUP}"
        )
    return True


def _create(path: Path) -> None:
    """Make a database with its schema; the file appears when it is complete."""
    with whole_files.whole_draft(path, replace=False) as draft:
        try:
            with closing(Database(f"sqlite:///{draft}")) as made:
                upgrade(made)
            fold_log(draft)
        finally:
            for log in LOGS:
                draft.with_name(draft.name + log).unlink(missing_ok=True)


def fold_log(path: Path) -> bool:
    """Merge the write-ahead log into the file and remove it; False while others have it open."""
    with closing(connect(path, 2.0)) as connection:
        try:
            mode = connection.execute("PRAGMA journal_mode=DELETE").fetchone()[0]
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                return False
            raise
    return bool(mode == "delete")


def _traces(path: Path) -> list[str]:
    """Files that show that a site has been in the database's folder."""
    folder = path.parent
    names = [f"{path.name}-wal", "secret_key"]
    traces = [name for name in names if (folder / name).exists()]
    traces += [copy.name for copy in sorted(folder.glob(f"{path.name}.before-*"))]
    media = folder / "media"
    files = os.scandir(media) if media.is_dir() else ()
    traces += ["a file in media/" for file in files if not file.name.startswith(".")][:1]
    return traces
