"""The schema version of a database: migrate it to this program's, or refuse a newer one."""

from __future__ import annotations  # types of what is imported late

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, column, inspect, select, table

from publisher.base.errors import InvalidData, StorageUnavailable
from publisher.base.system import whole_files
from publisher.storage import postgresql
from publisher.storage.database import Database, connect, translated
from publisher.storage.tables import all_rooms

if TYPE_CHECKING:
    from alembic.config import Config

# Alembic takes a fifth of a second to import, in each process that opens the database: it is
# imported only when there is something to migrate, and so are the logs.
MIGRATIONS = Path(__file__).parent / "migrations"


def upgrade(database: Database) -> None:
    """Apply the migrations that are missing, all or nothing; harmless when there are none.

    An SQLite file is copied first, to `….before-upgrade` beside it, and the log says so.
    Raises InvalidData when a newer program has migrated the database, StorageUnavailable when it
    cannot be opened or written.
    """
    with translated(), database.engine.connect() as connection:
        if database.on_server:
            postgresql.check_server(connection, database.pooled)
        if _revision(connection) == newest_revision():
            return
    _migrate(database)


def newest_revision() -> str:
    """The schema of this program: the revision of the migration with the highest number."""
    newest = max(MIGRATIONS.glob("versions/[0-9]*.py"), key=lambda path: path.name)
    found = re.search(r'^revision = "([^"]+)"', newest.read_text("utf-8"), re.MULTILINE)
    if found is None:
        raise RuntimeError(f"{newest.name} names no revision")
    return found[1]


def _migrate(database: Database) -> None:
    from alembic import command

    config = _config()
    writer = database.engine.execution_options(immediate=True)
    with translated(), writer.begin() as connection:
        if database.on_server:
            connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
        current = _revision(connection)
        _refuse_newer(current)
        if current is None:
            _refuse_others(connection)
        elif not database.on_server and (file := database.engine.url.database):
            from publisher.base.system.logs import get_logger

            kept = str(keep_copy(Path(file)))
            get_logger("schema").warning("the database is upgraded", copy_of_the_old=kept)
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        _check_references(connection)


def _check_references(connection: Connection) -> None:
    """InvalidData, which undoes the migration, when a row refers to one that is missing.

    SQLite does not check this where a migration copies a table: it is dropped and made again.
    """
    if connection.dialect.name != "sqlite":
        return  # checked by the database itself at each statement
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").mappings().all()
    if broken:
        tables = ", ".join(sorted({str(row["table"]) for row in broken}))
        raise InvalidData(
            f"{len(broken)} rows refer to rows that are missing (in {tables}); the database was "
            "not migrated. Restore a backup, or run the version before and export the blog."
        )


def check_known(database: Database) -> None:
    """InvalidData when the database has no schema, or one of a newer program."""
    with translated(), database.engine.connect() as connection:
        current = _revision(connection)
    if current is None:
        name = Path(database.engine.url.database or "").name
        raise InvalidData(f"the database {name} is none of Publisher's")
    _refuse_newer(current)


def _revision(connection: Connection) -> str | None:
    """The schema that the database has; None for an empty one."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    versions = table("alembic_version", column("version_num"))
    found: str | None = connection.scalar(select(versions.c.version_num))
    return found


def _refuse_newer(current: str | None) -> None:
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory.from_config(_config())
    known = {script.revision for script in scripts.walk_revisions()}
    if current is not None and current not in known:
        raise InvalidData(
            f"the database has schema {current}, which this version does not know: "
            "it was used by a newer Publisher. Install that version again, or restore a backup."
        )


def _refuse_others(connection: Connection) -> None:
    """InvalidData for a database in which another program has tables of our names."""
    others = sorted(set(inspect(connection).get_table_names()) & set(all_rooms().tables))
    if others:
        raise InvalidData(
            f"the database is another program's (it has a table {others[0]}); nothing was "
            "changed: name an empty one"
        )


def _config() -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("path_separator", "os")
    return config


def copy_database(source: Path, copy: Path) -> None:
    """Write a copy of `source`, one file without a log, to `copy`; writers need not stop."""
    with closing(connect(source)) as live, closing(sqlite3.connect(copy)) as target:
        live.backup(target)
        target.execute("PRAGMA journal_mode=DELETE")


def keep_copy(source: Path) -> Path:
    """Copy `source` to `….before-upgrade` beside it, in place of an earlier one; the file appears
    whole or not at all. Raises StorageUnavailable, with what to do, when it cannot be written."""
    kept = source.with_name(f"{source.name}.before-upgrade")
    try:
        with whole_files.whole_draft(kept) as draft:
            copy_database(source, draft)
    except (OSError, sqlite3.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise StorageUnavailable(
            f"before an upgrade the database is copied to {kept}, which failed: {reason}. Nothing "
            f"was changed: make room for {source.stat().st_size / 1e6:,.0f} MB there"
        ) from error
    return kept
