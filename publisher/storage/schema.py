"""Bring a database to the schema of this program, or refuse it in plain words."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from publisher.errors import InvalidData
from publisher.storage.engine import Database, translated


def upgrade(database: Database) -> None:
    """Apply the migrations that are missing, all or nothing; harmless when there are none.

    Raises InvalidData when a newer program has migrated the database, StorageUnavailable when it
    cannot be opened or written.
    """
    config = _config()
    scripts = ScriptDirectory.from_config(config)
    head = scripts.get_current_head()
    with translated():
        with database.engine.connect() as connection:
            if _revision(connection) == head:
                return
        writer = database.engine.execution_options(immediate=True)
        with writer.begin() as connection:
            current = _revision(connection)
            _refuse_newer(current, {script.revision for script in scripts.walk_revisions()})
            config.attributes["connection"] = connection
            command.upgrade(config, "head")


def check_known(database: Database) -> None:
    """InvalidData when the database has no schema, or one of a newer program."""
    scripts = ScriptDirectory.from_config(_config())
    with translated(), database.engine.connect() as connection:
        current = _revision(connection)
    if current is None:
        raise InvalidData("this is not a database of Publisher")
    _refuse_newer(current, {script.revision for script in scripts.walk_revisions()})


def _revision(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _refuse_newer(current: str | None, known: set[str]) -> None:
    if current is not None and current not in known:
        raise InvalidData(
            f"the database has schema {current}, which this version does not know: "
            "it was used by a newer Publisher. Install that version again, or restore a backup."
        )


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    return config
