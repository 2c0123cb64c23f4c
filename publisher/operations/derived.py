"""Data that is made of other data, or that a blog can do without: checked, and made anew.

Search indexes are made of posts and items, histogram and feeds of the update log and the posts. The
readers' counts are of themselves; where they are damaged they begin anew, which costs no post.
"""

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path

from sqlalchemy import create_engine, inspect, text
from sqlalchemy.exc import DBAPIError

from publisher.base.errors import StorageUnavailable
from publisher.blog import published, update_log
from publisher.dynamic_ttl.core.ttl.activity import Activity
from publisher.installation import Site
from publisher.operations.database_copy import index_all, index_posts
from publisher.part import all_parts
from publisher.publishing.rebuild import rebuild as rebuild_feeds
from publisher.storage.database import connect
from publisher.storage.full_text import INDEXES, POSTS
from publisher.storage.postgresql import on_server
from publisher.storage.tables import all_rooms

_SEARCH = tuple(index.table for index in INDEXES)
_NO_WRITE = {
    sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
}  # fmt: skip
_LOOKED_AT = 100  # posts whose search is compared
_MADE_ANEW = {*_SEARCH, "histogram_slots", "histogram_state", "snapshots"}


def damaged(path: Path) -> list[str]:
    """The tables of an SQLite file that are damaged; a full-text index is one table."""
    with closing(connect(path)) as connection:
        return _damaged(connection)


def expendable(names: Iterable[str]) -> bool:
    """Whether no post is lost with these tables."""
    counts = {name for part in all_parts().values() for name in part.expendable}
    return (_MADE_ANEW | counts).issuperset(names)


def _damaged(connection: sqlite3.Connection) -> list[str]:
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
    tables: dict[str, None] = {}
    for (name,) in connection.execute(query).fetchall():
        try:
            verdict = connection.execute(f"PRAGMA quick_check('{name}')").fetchone()[0]
        except sqlite3.DatabaseError as error:
            verdict = str(error)
        if verdict != "ok":
            whole = (index for index in _SEARCH if name.startswith(f"{index}_"))
            tables[next(whole, name)] = None
    for index in _SEARCH:
        try:
            connection.execute(f"INSERT INTO {index}({index}) VALUES ('integrity-check')")  # noqa: S608  # nosec B608 - our names
        except sqlite3.DatabaseError as error:
            # The check is a write: where none is possible now, it says nothing of the index.
            if error.sqlite_errorcode & 0xFF not in _NO_WRITE:
                tables[index] = None
        finally:
            connection.rollback()
    return list(tables)


def mend_file(path: Path) -> list[str]:
    """Make the damaged tables of an SQLite file anew, empty, if all of them are expendable.

    Returns their names; none, and changes nothing, where another table is damaged.
    """
    with closing(connect(path)) as connection:
        connection.isolation_level = None
        names = _damaged(connection)
        if not names or not expendable(names):
            return []
        for name in names:
            _drop(connection, name)
    with closing(connect(path)) as connection:  # which reads the schema as it is now
        connection.execute("VACUUM")
    _make_missing(path)
    return names


def _drop(connection: sqlite3.Connection, name: str) -> None:
    """Drop a table, from the schema alone where SQLite cannot read it; VACUUM frees its pages."""
    with suppress(sqlite3.DatabaseError):
        connection.execute(f"DROP TABLE {name}")
        return
    connection.execute("PRAGMA writable_schema = ON")
    parts = f"{name}\\_%" if name in _SEARCH else name
    connection.execute(
        "DELETE FROM sqlite_master WHERE tbl_name = ? OR tbl_name LIKE ? ESCAPE '\\'", (name, parts)
    )
    connection.execute("PRAGMA writable_schema = RESET")


def _make_missing(path: Path) -> None:
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        all_rooms().create_all(connection)
        there = inspect(connection).get_table_names()
        for index in INDEXES:
            if index.table not in there:
                index.create(connection)
    engine.dispose()


class _UndoneError(Exception):
    """Ends a transaction that only looks."""


def differing(site: Site) -> list[str]:
    """What is not as a rebuild makes it: the search of the newest posts, the histogram. Nothing is
    said where the database cannot be written now."""
    differences: list[str] = []
    with suppress(_UndoneError, StorageUnavailable), site.database.write(quiet=True) as session:
        newest = published.newest(session, _LOOKED_AT)
        numbers = [post.id for post in newest]
        texts, activity = POSTS.stored(session, numbers), update_log.load(session)
        POSTS.remove(session, numbers)
        index_posts(session, newest)
        update_log.fold_again(session)
        if texts != POSTS.stored(session, numbers):
            differences.append("the search")
        if _rounded(activity) != _rounded(update_log.load(session)):
            differences.append("the histogram")
        raise _UndoneError
    return differences


def _rounded(activity: Activity) -> object:
    """Its values without the last digits, which depend on how many updates were added at once."""
    return json.loads(json.dumps(activity.to_dict()), parse_float=lambda text: f"{float(text):.6g}")


_CHECK = "bt_index_check(regclass)"
_TREES = text(
    "SELECT c.oid, c.relname FROM pg_class c JOIN pg_am ON pg_am.oid = c.relam "
    "WHERE c.relkind = 'i' AND amname = 'btree' AND c.relnamespace = 'public'::regnamespace"
)


def damaged_on_server(site: Site) -> list[str] | None:
    """The indexes whose entries are not in order; None where amcheck, which looks at them, is not
    there for this user."""
    indexes = []
    with site.database.engine.connect() as connection:
        if not connection.scalar(text(f"SELECT to_regprocedure('{_CHECK}') IS NOT NULL")):
            return None
        if not connection.scalar(text(f"SELECT has_function_privilege('{_CHECK}', 'execute')")):
            return None
        for number, name in connection.execute(_TREES).all():
            try:
                with connection.begin_nested():
                    connection.execute(text(f"SELECT bt_index_check({int(number)}::regclass)"))
            except DBAPIError as error:
                if getattr(error.orig, "sqlstate", None) not in ("XX001", "XX002"):
                    raise
                indexes.append(str(name))
    return indexes


def rebuild(site: Site) -> None:
    """Make search indexes, histogram and feeds anew, in one transaction and the feeds' own."""
    with site.database.write() as session:
        for index in INDEXES:
            if on_server(session):
                session.execute(text(f"DELETE FROM {index.table}"))  # noqa: S608  # nosec B608 - our names
            else:
                session.execute(text(f"DROP TABLE {index.table}"))
                index.create(session.connection())
        index_all(session)
        update_log.fold_again(session)
    rebuild_feeds(site)
