"""Rows written over those with the same key (upserts), in SQLite and PostgreSQL alike."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy.orm import Session

from publisher.storage.columns import Base
from publisher.storage.postgresql import on_server


def insert_unless_there(session: Session, row: Base) -> bool:
    """Insert a row; returns False, and changes nothing, if it exists already."""
    from sqlalchemy.dialects import postgresql, sqlite  # late: most commands start without them

    dialect = postgresql if on_server(session) else sqlite
    values = {name: value for name, value in vars(row).items() if not name.startswith("_")}
    table = Base.metadata.tables[row.__tablename__]
    statement = dialect.insert(table).values(values).on_conflict_do_nothing()
    made = session.connection().execute(statement.returning(*table.primary_key))
    return made.first() is not None


def overwrite(session: Session, name: str, rows: Sequence[Sequence[Any]]) -> None:
    """Write rows of all columns into a table, over those with the same key."""
    _insert(session, name, "excluded.{0}", rows)


def add_to(session: Session, name: str, rows: Sequence[Sequence[Any]]) -> None:
    """Insert rows of all columns into a table, or add their numbers to those of the row with the
    same key."""
    _insert(session, name, f"{name}.{{0}} + excluded.{{0}}", rows)


def _insert(session: Session, name: str, value: str, rows: Sequence[Sequence[Any]]) -> None:
    """`value`: of a column on conflict."""
    table = Base.metadata.tables[name]
    names = [f'"{column.name}"' for column in table.columns]
    keys = [f'"{column.name}"' for column in table.primary_key]
    sets = ", ".join(f"{name} = {value.format(name)}" for name in names if name not in keys)
    marks = ", ".join("?" * len(names))
    run_rows(
        session,
        f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({marks}) "  # noqa: S608  # nosec B608 - no value is in it
        f"ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {sets}",
        rows,
    )


def run_rows(session: Session, statement: str, rows: Sequence[Sequence[Any]]) -> None:
    """Run a statement for many rows by the driver itself, which takes a third of the time.

    Each ? in the statement stands for a value of a row.
    """
    if rows:
        mark = "%s" if on_server(session) else "?"
        connection = session.connection()
        connection.exec_driver_sql(statement.replace("?", mark), [tuple(row) for row in rows])
