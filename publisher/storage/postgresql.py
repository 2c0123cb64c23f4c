"""PostgreSQL as a site's database: connections, the writers' lock, notifications, its errors.

Each writing transaction takes one advisory lock, as SQLite's writers lock the file: what a use-case
has read is still true when it commits, on however many machines the site runs. Commits are
announced by NOTIFY. PgBouncer in transaction mode drops LISTEN: then processes notice a commit at
their next check.
"""

import select
import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.orm import Session
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

from publisher.base.clock import monotonic_seconds
from publisher.base.errors import InvalidInput, StorageUnavailable, to_install
from publisher.storage.commit_notices import CommitListener

OLDEST = 130_000  # server_version_num of PostgreSQL 13
CHANNEL = "publisher"
# The number of our advisory lock: arbitrary, but no other program in the database may use it.
WRITERS = 7_020_201
# Whoever is gone is noticed within some ten seconds: by the server, so that a lost machine loses
# its locks, and by us, as who waits for an answer would wait for an hour. Seconds, then ms.
_KEEPALIVES = {"keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 2}
_UNANSWERED = {"tcp_user_timeout": 10_000}
_CONNECT: dict[str, Any] = {"connect_timeout": 5, **_KEEPALIVES, **_UNANSWERED}
# A statement or an idle transaction that takes longer than these (ms) is a fault, not work.
_SESSION = {
    "lock_timeout": 5_000,
    "statement_timeout": 30_000,
    "idle_in_transaction_session_timeout": 60_000,
    **{f"tcp_{name}": value for name, value in _KEEPALIVES.items()},
    **_UNANSWERED,
}
_SET = "".join(
    f"SET LOCAL {name} = {value};" for name, value in _SESSION.items() if "tcp" not in name
)
# A writer that is stopped in the middle must not keep the others waiting.
_LOCK = (
    f"SET LOCAL idle_in_transaction_session_timeout = 20000; "
    f"SELECT pg_advisory_xact_lock({WRITERS})"
)
_TELL = f"SELECT pg_notify('{CHANNEL}', '') WHERE pg_current_xact_id_if_assigned() IS NOT NULL"

# By SQLSTATE or its first characters: https://www.postgresql.org/docs/current/errcodes-appendix.html
TABLE_MISSING = "a table is missing in the database: `publisher doctor` names it"
_TROUBLES = {
    "42P01": TABLE_MISSING,
    "55P03": "the database is busy; nothing was changed, try again",
    "40": "the database is busy; nothing was changed, try again",
    "57014": "the database took too long; nothing was changed, try again",
    "53100": "the database server's disk is full; nothing was changed",
    "25006": "the database takes no writes: name the primary server, not a replica, and let "
    "default_transaction_read_only be off; nothing was changed",
    "28": "the database server refuses this user or password: correct the database's URL",
    "3D000": "the database server has no database of this name: make it with createdb",
    "42501": "this user may not do that in the database: make it the owner",
    "53300": "the database server takes no more connections; try again",
    "57P": "the database server is stopping or starting; nothing was changed, try again",
    **dict.fromkeys(
        ("53", "54", "55", "57", "58", "F0", "XX"),
        "the database server failed, and its log says how; nothing was changed, try again",
    ),
    "08": "the database server does not answer (does it run, and is its URL right?); "
    "nothing was changed, try again",
}
_GONE = _TROUBLES["08"]
_POOLER = (
    "PUBLISHER_DATABASE_URL leads to a pooler, which passes on no notifications: set "
    "PUBLISHER_LISTEN_URL to the database server itself"
)
# Of a server, or a pooler, that has no room for another connection.
_FULL = (
    "too many clients", "connection slots are reserved", "too many connections",
    "no more connections allowed",
)  # fmt: skip
# A refused connection has no SQLSTATE: our message by words in its error.
_REFUSALS = {
    "password": _TROUBLES["28"],
    'FATAL:  role "': _TROUBLES["28"],
    "no pg_hba.conf entry": _TROUBLES["28"],
    'FATAL:  database "': _TROUBLES["3D000"],
    "permission denied for database": _TROUBLES["42501"],
    **dict.fromkeys(_FULL, _TROUBLES["53300"]),
    "failed to resolve host": "the database server's name is not known: correct the database's URL",
    "invalid connection option": "the database's URL has an option that the driver does not know",
    "does not support SSL": "the database server speaks no TLS, which the URL's sslmode asks for",
    "certificate verify failed": "the database server's certificate is not trusted: see the URL's "
    "sslmode and sslrootcert",
    "is starting up": _TROUBLES["57P"],
    "is shutting down": _TROUBLES["57P"],
    "unsupported startup parameter": _POOLER,
}


class Connections(QueuePool):
    """At most MOST connections of a process. One that was not used for IDLE_SECONDS is closed when
    another is given back: so each process of an idle site keeps one, and leaves room to others.

    Where the server has no room, it is asked again for WAIT_SECONDS, as often as none of our own
    is free.
    """

    MOST = 10  # a worker's eight threads for pages, its look for changes, its counts of polls
    IDLE_SECONDS, WAIT_SECONDS, _AGAIN_SECONDS = 5.0, 10.0, 0.1

    def _do_get(self) -> ConnectionPoolEntry:
        end = monotonic_seconds() + self.WAIT_SECONDS
        while True:
            try:
                return super()._do_get()
            except Exception as error:
                full = any(words in str(error) for words in _FULL)
                if not full or monotonic_seconds() > end:
                    raise
            time.sleep(self._AGAIN_SECONDS)

    def _do_return_conn(self, record: ConnectionPoolEntry) -> None:
        now = monotonic_seconds()
        if record.record_info is not None:
            record.record_info["at"] = now
        super()._do_return_conn(record)
        waiting: Any = self._pool  # the one that was used last is taken first
        with suppress(IndexError):  # another thread took it
            while now - waiting.queue[0].record_info["at"] > self.IDLE_SECONDS:
                waiting.queue.popleft().close()
                self._dec_overflow()


def make_engine(url: str, pooled: bool = False) -> Engine:
    """The engine for a server, with no connection opened yet; InvalidInput without the driver.

    `pooled`: a pooler may run each transaction in another session, so each sets its own options.
    """
    options = " ".join(f"-c {name}={value}" for name, value in _SESSION.items())
    arguments: dict[str, Any] = {
        "application_name": "publisher",
        "client_encoding": "utf8",
        **_CONNECT,
    }
    arguments |= {"prepare_threshold": None} if pooled else {"options": options}
    try:
        engine = create_engine(
            url, hide_parameters=True, pool_pre_ping=True, connect_args=arguments,
            poolclass=Connections, pool_size=Connections.MOST, max_overflow=0,
            pool_timeout=Connections.WAIT_SECONDS, pool_use_lifo=True,
        )  # fmt: skip
    except ModuleNotFoundError as error:
        raise InvalidInput(
            "the database's URL names PostgreSQL, and its driver is not installed: "
            + to_install("'psycopg[binary]'")
        ) from error
    if pooled:
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(_SET))
    event.listen(engine, "begin", _set_up_transaction)
    event.listen(engine, "before_cursor_execute", _without_nul, retval=True)
    return engine


def check_server(connection: Connection, pooled: bool = False) -> None:
    """InvalidInput for a server that is too old, an encoding other than UTF-8, or a pooler although
    `pooled` is false.

    StorageUnavailable for a replica.
    """
    if not pooled and connection.exec_driver_sql("SHOW lock_timeout").scalar_one() == "0":
        raise InvalidInput(_POOLER)
    version = int(connection.exec_driver_sql("SHOW server_version_num").scalar_one())
    if version < OLDEST:
        raise InvalidInput(
            f"the database server is PostgreSQL {version // 10_000}; 13 or newer is needed"
        )
    encoding = connection.exec_driver_sql("SHOW server_encoding").scalar_one()
    if encoding != "UTF8":
        raise InvalidInput(
            f"the database's encoding is {encoding}: make one with "
            "createdb --encoding UTF8 --locale C.UTF-8 --template template0"
        )
    if connection.exec_driver_sql("SELECT pg_is_in_recovery()").scalar_one():
        raise StorageUnavailable(
            "the database server is a replica, which takes no writes: name the primary"
        )


def takes_writes(connection: Connection) -> bool:
    """Whether it is a primary server with default_transaction_read_only off."""
    replica = connection.exec_driver_sql("SELECT pg_is_in_recovery()").scalar_one()
    closed = connection.exec_driver_sql("SHOW default_transaction_read_only").scalar_one()
    return not replica and closed == "off"


def time_of(connection: Connection) -> datetime:
    """The time of the server's clock."""
    moment: datetime = connection.exec_driver_sql("SELECT clock_timestamp()").scalar_one()
    return moment.astimezone(UTC)


def on_server(session: Session) -> bool:
    """Whether a session is on PostgreSQL, for the few statements that differ."""
    return session.get_bind().dialect.name == "postgresql"


def tell(connection: Connection) -> None:
    """Notify all listeners when this transaction commits, if it has written anything."""
    connection.exec_driver_sql(_TELL)


def in_words(error: BaseException | None) -> str | None:
    """The message for a driver's error that people can act on; None for a bug of ours."""
    if error is None or not type(error).__module__.startswith("psycopg"):
        return None
    state = getattr(error, "sqlstate", None)
    if state is None:  # the driver's own: refused, not answered, or broken off
        refused = (words for symptom, words in _REFUSALS.items() if symptom in str(error))
        lost = type(error).__name__ in ("OperationalError", "ConnectionTimeout")
        return next(refused, _GONE if lost else None)
    fitting = (words for start, words in _TROUBLES.items() if state.startswith(start))
    return next(fitting, None)


class ServerListener(CommitListener):
    """Notices from the server: LISTEN on a connection of its own, reopened when it breaks."""

    def __init__(self, url: str) -> None:
        super().__init__(None)
        self._url = make_url(url).set(drivername="postgresql")
        self._connection: Any = None

    def wait(self, seconds: float) -> bool:
        """As `CommitListener.wait`; a broken connection counts as a notice, as some may be lost."""
        if self._connection is None and not self._open():
            return super().wait(seconds)
        number = self._connection.fileno()
        ready, _, _ = select.select([self._read, number], [], [], max(0.0, seconds))
        if number in ready:
            self._take_notices()
        return super().wait(0.0) or bool(ready)

    def close(self) -> None:
        """Close connection and pipe; no thread may be in `wait`."""
        self._forget()
        super().close()

    def _open(self) -> bool:
        import psycopg

        try:
            dsn = self._url.render_as_string(hide_password=False)
            self._connection = psycopg.connect(dsn, autocommit=True, **_CONNECT)
            self._connection.execute(f"LISTEN {CHANNEL}")
        except psycopg.Error:
            self._forget()
            return False
        return True

    def _take_notices(self) -> None:
        """Take the notices off the connection."""
        import psycopg

        from publisher.base.system.logs import get_logger  # late: most commands start without it

        try:
            for _ in self._connection.notifies(timeout=0):
                pass
        except psycopg.Error:
            get_logger("storage").warning("the connection to the database server was lost")
            self._forget()

    def _forget(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):
                connection.close()


def _set_up_transaction(connection: Connection) -> None:
    """At BEGIN: `write` waits for the lock, `write_rows` does not, `read` gets a fixed snapshot."""
    options = connection.get_execution_options()
    if options.get("isolation_level") == "AUTOCOMMIT":
        return
    if options.get("immediate", False):
        connection.exec_driver_sql(_LOCK)
    elif not options.get("rows", False):
        connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")


def _without_nul(_: Any, _cursor: Any, statement: str, values: Any, *_more: Any) -> tuple[str, Any]:
    """PostgreSQL's text cannot hold NUL, which strangers send: it becomes the replacement sign."""
    return statement, _cleaned(values)


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\0", "\N{REPLACEMENT CHARACTER}") if "\0" in value else value
    if isinstance(value, dict):
        return {name: _cleaned(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)([_cleaned(part) for part in value])
    return value
