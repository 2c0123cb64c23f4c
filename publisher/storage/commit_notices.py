"""Commit notices: tell the other processes of a site that something was committed (SQLite).

Each listening process keeps a named pipe beside the database; a process that commits writes a byte
into each of them. Writers never block, and remove the pipes of dead processes. A notification may
get lost, so listeners also check the database now and then. `ChangeCounter`
is a cheap check whether anything was committed since the last look (SQLite's data_version).
"""

import os
import secrets
import select
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy.engine import Engine, make_url


def folder_of(url: str) -> Path | None:
    """Where the pipes of a database are; None where there is no folder that all processes share."""
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite" or parsed.database in (None, "", ":memory:"):
        return None
    return Path(str(parsed.database)).parent / "bells"


class CommitListener:
    """One listener's pipe; `wait` is for one thread, `wake` for any."""

    def __init__(self, folder: Path | None) -> None:
        self._path: Path | None = None
        self._read, self._write = -1, -1
        if folder is not None:
            with suppress(OSError):  # read-only: nobody writes there either
                self._make_pipe(folder)
        if self._path is None:
            self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)
        self._poll = select.poll()
        self._poll.register(self._read, select.POLLIN)

    def _make_pipe(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, exist_ok=True)
        path = folder / secrets.token_hex(8)
        # Writers remove pipes that nobody has open, so this one is opened under a hidden name.
        unseen = folder / f".{path.name}"
        os.mkfifo(unseen, 0o600)
        self._read = self._write = os.open(unseen, os.O_RDWR)
        self._path = unseen.rename(path)

    def wait(self, seconds: float) -> bool:
        """Wait for a notice, up to `seconds`; returns whether one came."""
        came = bool(self._poll.poll(max(0.0, seconds) * 1000))
        if came:
            with suppress(BlockingIOError):
                os.read(self._read, 65536)
        return came

    def wake(self) -> None:
        """End the `wait` of another thread."""
        with suppress(OSError):  # it is full, so the other thread is awake; or closed
            os.write(self._write, b".")

    def close(self) -> None:
        """Remove the pipe; no thread may be in `wait`."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)
        read, write = self._read, self._write
        self._read = self._write = -1
        for number in {read, write}:
            os.close(number)


def notify(folder: Path | None) -> None:
    """Notify every listener; never fails, never waits."""
    if folder is None:
        return
    with suppress(OSError):
        for name in os.listdir(folder):  # noqa: PTH208 - names are enough, at every commit
            if not name.startswith("."):
                _notify_one(folder / name)


def _notify_one(path: Path) -> None:
    try:
        pipe = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:  # nobody has it open: its process is dead
        path.unlink(missing_ok=True)
        return
    with suppress(OSError):
        os.write(pipe, b".")
    os.close(pipe)


class ChangeCounter:
    """Remembers the state that it saw last; one thread makes, uses and closes it.

    SQLite counts the commits of all other connections in a number that a connection of our own
    reads from shared memory. Other databases have nothing as cheap: there the answer is always
    yes, and the caller compares what it has itself.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
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
