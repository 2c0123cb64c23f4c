"""Copy a whole site's database into another, empty one, between SQLite and PostgreSQL.

It is one transaction on the target, which stays empty if it is killed. Every row is read again on
both sides and compared before the commit.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from itertools import islice, zip_longest
from typing import Any, TypeVar

from sqlalchemy import Column, Integer, Table, bindparam, delete, func, insert, select, text, update
from sqlalchemy.orm import Session

from publisher.base.environment import Environment, prepare_instance
from publisher.base.errors import Conflict, InvalidData, InvalidInput, PublisherError
from publisher.base.text import plain_text
from publisher.blog import published
from publisher.blog.published import is_public
from publisher.blog.writing.content import searchable_text
from publisher.installation import serving_lock
from publisher.part import every_hooked
from publisher.storage import sqlite_file
from publisher.storage.database import Database
from publisher.storage.postgresql import on_server
from publisher.storage.schema import check_known, upgrade
from publisher.storage.tables import all_rooms
from publisher.storage.tables.blog import Post

ROWS = 1_000

Tell = Callable[[str], None]
Row = dict[str, Any]
T = TypeVar("T")


def copy_site(environment: Environment, url: str, tell: Tell) -> int:
    """Copy the site's database into the one at `url`; returns the number of rows.

    Raises InvalidInput for an invalid URL, Conflict while the site is served or if the target is
    not empty. The media stay where they are.
    """
    target_file = sqlite_file.path_of(url, "URL")
    own_file = sqlite_file.path_of(environment.database_url)
    prepare_instance(environment)
    if own_file is not None and not own_file.exists():
        raise InvalidData(f"there is no database {own_file} to copy")
    if url == environment.database_url:
        raise InvalidInput("this is the site's own database")
    with serving_lock(environment, "being copied"):
        if target_file is not None:
            sqlite_file.prepare(target_file)
        source = Database(environment.database_url, listen_url=environment.listen_url)
        target = Database(url)
        try:
            check_known(source)
            upgrade(source)
            upgrade(target)
            with source.read() as old, target.write() as new:
                _no_timeouts(old)
                _no_timeouts(new)
                return _copy(old, new, tell)
        finally:
            source.close()
            target.close()


def _copy(old: Session, new: Session, tell: Tell) -> int:
    tables = all_rooms().sorted_tables
    for table in tables:
        if table.name == "meta":  # a new database has a row there, by which it is known
            new.execute(delete(table))
        elif new.execute(select(table).limit(1)).first():
            raise Conflict(f"the other database is not empty, {table.name} has rows")
    total = 0
    for table in tables:
        count = _copy_table(old, new, table)
        _compare(old, new, table)
        total += count
        if count:
            tell(f"{table.name}: {count:,} rows")
    _count_on(new)
    tell("search indexes")
    index_all(new)
    return total


def _copy_table(old: Session, new: Session, table: Table) -> int:
    """Copy the rows; references to rows of the same table are set after all rows are inserted."""
    own = [column for column in table.columns if _refers_to(column, table)]
    later: list[Row] = []
    count = 0
    for rows in _parts(_rows(old, table)):
        count += len(rows)
        for row in rows:
            if any(row[column.name] is not None for column in own):
                keys = {f"key_{key.name}": row[key.name] for key in table.primary_key}
                later.append(keys | {column.name: row[column.name] for column in own})
                row.update(dict.fromkeys((column.name for column in own), None))
        new.execute(insert(table), rows)
    if later:
        change = update(table).values({column.name: bindparam(column.name) for column in own})
        for key in table.primary_key:
            change = change.where(key == bindparam(f"key_{key.name}"))
        new.connection().execute(change, later)
    return count


def _refers_to(column: Column[Any], table: Table) -> bool:
    return any(key.column.table is table for key in column.foreign_keys)


def _compare(old: Session, new: Session, table: Table) -> None:
    """PublisherError, which undoes the copy, unless both sides hold the same rows."""
    with closing(_rows(old, table)) as old_rows, closing(_rows(new, table)) as new_rows:
        missing: Row = {}
        for number, pair in enumerate(zip_longest(old_rows, new_rows, fillvalue=missing), 1):
            if _comparable(pair[0]) != _comparable(pair[1]):
                raise PublisherError(
                    f"row {number} of {table.name} came out different; nothing was copied"
                )


def _comparable(row: Row) -> Row:
    """A row with NUL replaced as `storage.postgresql` does, which cannot store it."""
    return {
        name: value.replace("\0", "\N{REPLACEMENT CHARACTER}") if isinstance(value, str) else value
        for name, value in row.items()
    }


def _rows(session: Session, table: Table) -> Generator[Row, None, None]:
    """All rows in the order of their primary key, ROWS at a time in memory.

    Text keys are ordered by their bytes, whatever the database's collation.
    """
    order = [
        column.collate("C" if on_server(session) else "BINARY")
        if column.type.python_type is str
        else column
        for column in table.primary_key
    ]
    query = select(table).order_by(*order)
    with session.execute(query, execution_options={"yield_per": ROWS}) as rows:
        for row in rows.mappings():
            yield dict(row)


def _count_on(new: Session) -> None:
    """Set PostgreSQL's sequences, so that the next row gets the id after the highest."""
    if not on_server(new):
        return
    for table in all_rooms().sorted_tables:
        key = table.autoincrement_column
        if key is None or not isinstance(key.type, Integer):
            continue
        highest = new.scalar(select(func.max(key)))
        sequence = new.scalar(select(func.pg_get_serial_sequence(table.name, key.name)))
        if highest is not None and sequence is not None:
            new.execute(select(func.setval(sequence, highest)))


def index_all(new: Session) -> None:
    """Fill the search indexes, which are empty."""
    posts = new.scalars(select(Post), execution_options={"yield_per": ROWS})
    for some in _parts(post for post in posts if is_public(post)):
        index_posts(new, some)
    for index_all in every_hooked("index_all"):
        index_all(new)


def index_posts(session: Session, some: Iterable[Post]) -> None:
    """Add posts to the search, in which they are not."""
    rows = ((post.id, post.title, searchable_text(post, plain_text(post.html))) for post in some)
    published.index_all(session, rows)


def _parts(values: Iterable[T]) -> Iterator[list[T]]:
    """Lists of ROWS values, the last one shorter."""
    left = iter(values)
    while part := list(islice(left, ROWS)):
        yield part


def _no_timeouts(session: Session) -> None:
    """Switch off the server's time limits: a copy may take long."""
    if on_server(session):
        for name in ("statement_timeout", "idle_in_transaction_session_timeout"):
            session.execute(text(f"SET LOCAL {name} = 0"))
