"""The schema of a database: made where there is none, migrated from 1.0.0 on, else refused.

From 1.0.0 on a migration only adds: tables, and columns that may be NULL or have a default of the
server. So the version before works on while machines are upgraded one after the other. What is not
needed any more is dropped by the release after.
"""

from __future__ import annotations  # types of what is imported late

import re
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, column, inspect, select, table
from sqlalchemy.orm import Session

from publisher.base.errors import InvalidData, StorageUnavailable
from publisher.base.system import whole_files
from publisher.storage import postgresql
from publisher.storage.database import Database, connect, translated
from publisher.storage.tables import all_rooms
from publisher.storage.tables.blog import Meta

if TYPE_CHECKING:
    from alembic.config import Config

# Alembic takes a fifth of a second to import, in each process that opens the database: it is
# imported only when there is something to migrate, and so are the logs.
MIGRATIONS = Path(__file__).parent / "migrations"
_FIRST = "0028_link_cards"  # what version 1.0.0 leaves
# The oldest schema whose program can serve a database of this one: raised by a release that drops
# what an older one needs.
_OLDEST_THAT_SERVES = "0028"
_OLDEST = "oldest_schema_that_serves"  # where the database says it, in `meta`


def upgrade(database: Database) -> None:
    """Make the tables, or apply the migrations that are missing; all or nothing.

    An SQLite file is copied before it is migrated, to `….before-upgrade` beside it, and the log
    says so. Raises InvalidData when the database is of a newer program or of one before 1.0.0,
    StorageUnavailable when it cannot be opened or written.
    """
    with translated(), database.engine.connect() as connection:
        if database.on_server:
            postgresql.check_server(connection, database.pooled)
        if _revision(connection) == newest_revision():
            return
    _migrate(database)


@cache
def newest_revision() -> str:
    """The schema of this program: the revision of the migration with the highest number."""
    newest = max(MIGRATIONS.glob("versions/[0-9]*.py"), key=lambda path: path.name)
    match = re.search(r'^revision = "([^"]+)"', newest.read_text("utf-8"), re.MULTILINE)
    if match is None:
        raise RuntimeError(f"{newest.name} names no revision")
    return match[1]


def _migrate(database: Database) -> None:
    from alembic import command

    config = _config()
    writer = database.engine.execution_options(immediate=True)
    with translated(), writer.begin() as connection:
        if database.on_server:
            connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
        config.attributes["connection"] = connection
        current = _revision(connection)
        if current is None:
            _refuse_others(connection)
            _make(connection)
            command.stamp(config, "head")
            return
        _refuse_unknown(current)
        if not database.on_server and (file := database.engine.url.database):
            from publisher.base.system.logs import get_logger

            copy = str(keep_copy(Path(file)))
            get_logger("schema").warning("the database is upgraded", copy_of_the_old=copy)
        command.upgrade(config, "head")
        _check_references(connection)
        _say_oldest(connection)


def _say_oldest(connection: Connection) -> None:
    # Not in a new database: no older program has opened it, and none can.
    meta = all_rooms().tables["meta"]
    connection.execute(meta.delete().where(meta.c.name == _OLDEST))
    connection.execute(meta.insert().values(name=_OLDEST, value=_OLDEST_THAT_SERVES))


def serves(session: Session) -> bool:
    """Whether this program is new enough for the database, which another one may have migrated."""
    row = session.get(Meta, _OLDEST)
    return row is None or row.value <= newest_revision()[:4]


def schema_of(session: Session) -> str:
    """The schema that the database has, such as `0028_link_cards`."""
    return _revision(session.connection()) or ""


def _make(connection: Connection) -> None:
    from publisher.storage.full_text import INDEXES

    all_rooms().create_all(connection, checkfirst=False)
    for index in INDEXES:
        index.create(connection)


def _check_references(connection: Connection) -> None:
    """InvalidData, which undoes the migration, when a row refers to one that is missing.

    A connection that does not check them may have left some.
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
    """InvalidData when the database has no schema, or none that this program knows."""
    with translated(), database.engine.connect() as connection:
        current = _revision(connection)
    if current is None:
        name = Path(database.engine.url.database or "").name
        raise InvalidData(f"the database {name} is none of Publisher's")
    _refuse_unknown(current)


def _revision(connection: Connection) -> str | None:
    """The schema that the database has; None for an empty one."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    versions = table("alembic_version", column("version_num"))
    revision: str | None = connection.scalar(select(versions.c.version_num))
    return revision


def _refuse_unknown(current: str) -> None:
    """InvalidData, which says what to do, for a schema of before 1.0.0 or of a newer program."""
    if current[:4] < _FIRST[:4]:
        raise InvalidData(
            f"the database has schema {current}, of a Publisher before 1.0.0, and was not changed: "
            "start version 1.0.0 with it once (`git checkout 0e7b84a4`), then this one"
        )
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory.from_config(_config())
    if current not in {script.revision for script in scripts.walk_revisions()}:
        raise InvalidData(
            f"the database has schema {current}, which this version does not know: "
            "it was used by a newer Publisher. Install that version again, or restore a backup."
        )


def _refuse_others(connection: Connection) -> None:
    """InvalidData for a database in which another program has tables of our names."""
    names = sorted(set(inspect(connection).get_table_names()) & set(all_rooms().tables))
    if names:
        raise InvalidData(
            f"the database is another program's (it has a table {names[0]}); nothing was "
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
    copy = source.with_name(f"{source.name}.before-upgrade")
    try:
        with whole_files.whole_draft(copy) as draft:
            copy_database(source, draft)
    except (OSError, sqlite3.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise StorageUnavailable(
            f"before an upgrade the database is copied to {copy}, which failed: {reason}. Nothing "
            f"was changed: make room for {source.stat().st_size / 1e6:,.0f} MB there"
        ) from error
    return copy
