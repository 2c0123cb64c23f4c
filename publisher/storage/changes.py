"""A cheap check whether the database was changed since the last look (SQLite data_version)."""

import sqlite3
from typing import Any

from publisher.storage.database import Database


class ChangeCounter:
    """Remembers the state that it saw last; one thread makes, uses and closes it.

    SQLite counts the commits of all other connections in a number that a connection of our own
    reads from shared memory. Other databases have nothing as cheap: there the answer is always
    yes, and the caller compares what it has itself.
    """

    def __init__(self, database: Database) -> None:
        self._engine = database.engine
        self._connection: Any = None
        self._seen: int | None = None

    def changed(self) -> bool:
        """Whether anything may have been committed since the last call; yes at the first one."""
        if self._engine.dialect.name != "sqlite":
            return True
        try:
            if self._connection is None:
                self._connection = self._engine.raw_connection()
            row = self._connection.driver_connection.execute("PRAGMA data_version").fetchone()
        except sqlite3.Error:
            self.close()
            return True
        version: int = row[0]
        if version == self._seen:
            return False
        self._seen = version
        return True

    def close(self) -> None:
        """Give the connection back."""
        connection, self._connection, self._seen = self._connection, None, None
        if connection is not None:
            connection.close()
