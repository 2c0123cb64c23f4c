"""The database: engine, read and write sessions, its errors translated into ours.

The content serial is a counter that grows with each change of what readers can be shown. It is
written in the transaction of the change itself, and each build of the feeds notes the serial that
it has seen. So a change that the feeds lack is noticed without comparing times: also one that began
before the build and was committed after it, or whose process was killed before its own build.
"""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as NoneFree
from sqlalchemy.orm import Session, configure_mappers

from publisher.base.clock import AskedClock, Clock, utc_now
from publisher.base.encryption import Cipher
from publisher.base.errors import InvalidInput, PublisherError, StorageUnavailable
from publisher.part import Part
from publisher.storage import commit_notices, postgresql
from publisher.storage.columns import encrypt_with
from publisher.storage.tables.blog import Meta

BUSY_TIMEOUT_SECONDS = 5.0
_LOOKS_AGAIN_SECONDS = 0.1  # the longest pause of SQLite between two tries to get the lock

_DAMAGED = "the database is damaged: put a backup in its place with `publisher restore FILE`"
# SQLite reports these by text alone; each is something that a person can act on.
_TROUBLES = {
    "database is locked": "the database is busy; nothing was changed, try again",
    "database or disk is full": "the disk is full; nothing was changed",
    "disk I/O error": "the disk is full or failed; nothing was changed",
    "attempt to write a readonly database": "the database cannot be written; nothing was changed",
    "disk image is malformed": _DAMAGED,
    "file is not a database": _DAMAGED,
    "no such table": postgresql.TABLE_MISSING,
    "unable to open database file": "the database file cannot be opened",
}
_UNKNOWN = (
    "the connection to the database broke off while this was being stored: look whether it is "
    "there before you try again"
)


class Database:
    """Sessions on one database: `read()` sees one consistent state, `write()` is all or nothing."""

    def __init__(
        self, url: str, cipher: Cipher | None = None, listen_url: str | None = None
    ) -> None:
        """`listen_url` leads to the server itself where `url` leads to a pooler."""
        configure_mappers()  # some 30 ms, which the first write would take under its lock
        self._direct_url = listen_url or url
        self.pooled = listen_url is not None
        self.on_server = make_url(url).get_backend_name() == "postgresql"
        self.engine = postgresql.make_engine(url, self.pooled) if self.on_server else _sqlite(url)
        self._direct = postgresql.make_engine(self._direct_url) if self.pooled else self.engine
        self._inode = self._present_inode()
        if cipher is not None:
            encrypt_with(self.engine.dialect, cipher)
        self._bells = commit_notices.folder_of(url)
        # The parts that are on: `open_site` sets them.
        self.parts: tuple[Part, ...] = ()
        # Called in each transaction that writes, before anything else; raises where it must not.
        self.check_writer: Callable[[Session], None] = lambda _: None

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A session that must not write; what it loaded stays readable after its end."""
        with translated(), Session(self.engine, info={"parts": self.parts}) as session:
            yield session

    @contextmanager
    def write(self, quiet: bool = False) -> Iterator[Session]:
        """A session that is committed at the end, or rolled back when anything fails.

        The write lock is taken at the start, so that what is read here is still true at the end.
        `quiet`: nobody is notified, as nobody waits for what is written.
        Raises StorageUnavailable when the lock is not had in time or the disk refuses.
        """
        with self._writing(immediate=True) as session:
            before = self._changed_rows(session)
            yield session
            session.flush()
            if self.on_server and not quiet:
                postgresql.tell(session.connection())
            changed = self._changed_rows(session) > before
        if (
            changed and not quiet
        ):  # else a listener whose own write changed nothing would wake itself
            commit_notices.notify(self._bells)

    def _changed_rows(self, session: Session) -> int:
        """The rows that SQLite has changed on this connection so far; a server: always 0."""
        if self.on_server:
            return 0
        driver: Any = session.connection().connection.driver_connection
        return int(driver.total_changes)

    def give_way(self) -> None:
        """Pause between many writes, so that others get SQLite's lock (a server has a queue)."""
        if not self.on_server:
            time.sleep(1.2 * _LOOKS_AGAIN_SECONDS)

    @contextmanager
    def write_rows(self) -> Iterator[Session]:
        """As `write`, for work that itself locks the rows it relies on, in the order of names.

        It notifies nobody, as it happens all the time. On a server it waits only for those rows,
        not for the writers' lock.
        """
        kind = {"rows": True} if self.on_server else {"immediate": True}
        with self._writing(**kind) as session:
            yield session

    def _present_inode(self) -> int | None:
        """What is at the place of the file now; None for nothing, and on a server."""
        try:
            return None if self.on_server else Path(str(self.engine.url.database)).stat().st_ino
        except OSError:
            return None

    def _check_place(self) -> None:
        """StorageUnavailable when the file that is open was replaced or removed: what would be
        written into it is lost when it is closed."""
        if self._inode is not None and self._inode != self._present_inode():
            raise StorageUnavailable(
                "the file of the database was replaced or removed while it was in use: restart the "
                "service; nothing was changed"
            )

    @contextmanager
    def _writing(self, **kind: bool) -> Iterator[Session]:
        self._check_place()
        writer = self.engine.execution_options(**kind)
        info = {"parts": self.parts}
        with translated(), Session(writer, expire_on_commit=False, info=info) as session:
            session.connection()  # else the lock would be taken by the first statement
            self.check_writer(session)
            yield session
            session.flush()
            try:
                session.commit()
            except DBAPIError as error:
                if error.connection_invalidated:  # the server may have done it before that
                    raise StorageUnavailable(_UNKNOWN) from error
                raise

    def takes_writes(self) -> bool:
        """False on a server that is a replica, or where default_transaction_read_only is on."""
        self._check_place()
        if not self.on_server:
            return True
        with translated(), self.engine.connect() as connection:
            return postgresql.takes_writes(connection)

    def clock(self) -> Clock:
        """The clock that all machines of the site share: the server's, or this machine's own."""
        return AskedClock(self._server_time) if self.on_server else utc_now

    def _server_time(self) -> datetime:
        with translated(), self.engine.connect() as connection:
            return postgresql.time_of(connection)

    def listen(self) -> commit_notices.CommitListener:
        """A listener for the commits of any process of the site; the caller closes it."""
        return (
            postgresql.ServerListener(self._direct_url)
            if self.on_server
            else commit_notices.CommitListener(self._bells)
        )

    # Between checks without a notice, which gets lost if a process is killed after its commit.
    look_seconds = 5.0

    def wake(self) -> None:
        """Notify this machine's processes though nothing was written: one is to end."""
        commit_notices.notify(self._bells)

    def check_listening(self) -> None:
        """InvalidInput if PUBLISHER_LISTEN_URL is set and does not lead to the server itself."""
        if not self.pooled:
            return
        try:
            with translated(), self._direct.connect() as connection:
                postgresql.check_server(connection)
        except PublisherError as error:
            raise InvalidInput(
                "PUBLISHER_LISTEN_URL does not lead past the pooler to the database server"
            ) from error
        finally:
            self._direct.dispose()

    def close(self) -> None:
        """Close every connection; one that a thread still uses, as soon as it is returned."""
        for engine in {self.engine, self._direct}:
            event.listen(engine.pool, "checkin", lambda _, record: record.invalidate())
            engine.dispose()


def parts_of(session: Session) -> tuple[Part, ...]:
    """The parts that are on in the site of a session."""
    parts: tuple[Part, ...] = session.info.get("parts", ())
    return parts


@contextmanager
def translated() -> Iterator[None]:
    """Turn the database's own errors into StorageUnavailable, in words for people."""
    try:
        yield
    except NoneFree as error:  # of this process's own connections
        raise StorageUnavailable("the database is busy; nothing was changed, try again") from error
    except DBAPIError as error:
        fitting = (words for symptom, words in _TROUBLES.items() if symptom in str(error.orig))
        if (
            message := next(fitting, None)
            or postgresql.in_words(error.orig)
            or _unknown(error.orig)
        ):
            raise StorageUnavailable(message) from error
        raise


def _unknown(error: BaseException | None) -> str | None:
    """The message for an error of SQLite that no list has, which is logged; None for a bug of ours.

    SQLITE_ERROR says that the statement is wrong; damage has no class of its own in the driver.
    """
    if type(error) is sqlite3.DatabaseError:
        message = _DAMAGED
    elif isinstance(error, sqlite3.OperationalError) and (
        getattr(error, "sqlite_errorcode", 0) & 0xFF > sqlite3.SQLITE_ERROR
    ):
        message = f"the database failed ({error}); nothing was changed, try again"
    else:
        return None
    from publisher.base.system.logs import get_logger  # late: most commands start without it

    get_logger("storage").error("the database failed", reason=str(error))
    return message


def connect(path: Path, seconds: float = BUSY_TIMEOUT_SECONDS) -> sqlite3.Connection:
    """Open an SQLite file; any thread may use the connection.

    A read-only file system does not take the log that SQLite makes beside a file without one:
    there it is told that nobody changes the file.
    """
    read_only = path.parent.is_dir() and os.statvfs(path.parent).f_flag & os.ST_RDONLY
    fixed = read_only and not path.with_name(f"{path.name}-wal").exists()
    name = f"file:{quote(str(path))}?immutable={1 if fixed else 0}"
    return sqlite3.connect(name, timeout=seconds, uri=True, check_same_thread=False)


def _sqlite(url: str) -> Engine:
    # `hide_parameters`: a logged error names the statement that failed, not its values.
    path = Path(str(make_url(url).database)).absolute()
    open_file = partial(connect, path, BUSY_TIMEOUT_SECONDS)
    engine = create_engine(url, hide_parameters=True, creator=open_file)
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _set_up_sqlite(connection: sqlite3.Connection, _record: Any) -> None:
    """Pragmas of every connection; the driver leaves BEGIN to us (see `_begin_sqlite`).

    synchronous=FULL: what was acknowledged survives a power cut, not only a killed process.
    """
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: Connection) -> None:
    immediate = connection.get_execution_options().get("immediate", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")


_NAME = "content_serial"
_SERIAL = select(Meta.value).where(Meta.name == _NAME)


def content_serial(session: Session) -> int:
    """The serial, with the changes of this transaction."""
    return int(session.scalar(_SERIAL) or 0)


def content_changed(session: Session) -> None:
    """Count a change, in its own transaction (a writer holds the write lock, so none is lost)."""
    row = session.get(Meta, _NAME, with_for_update=True)
    if row is None:
        session.add(Meta(name=_NAME, value="1"))
    else:
        row.value = str(int(row.value) + 1)
