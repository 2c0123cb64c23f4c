"""Which database an instance folder of a test has: a file in it, or one on the tested server."""

import hashlib
import os
import secrets
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from publisher.storage.database import Database
from publisher.storage.schema import upgrade

SERVER = os.environ.get("TEST_POSTGRES_URL", "")
"""A PostgreSQL server (its database `postgres`, a user who may make others) to test on instead."""

_made: set[str] = set()


def database_url(instance: Path, template: bool = True) -> str:
    """The database of an instance folder, on the engine that is tested.

    On the server it is made when first asked for: of the newest schema, or without `template` of
    none; nothing is in it.
    """
    if not SERVER:
        return f"sqlite:///{instance}/publisher.db"
    name = _name(instance)
    if name not in _made:
        _make(name, f"TEMPLATE {_ready()}" if template else "")
    return _url(name)


def make_ready(instance: Path) -> None:
    """Give an instance folder without a database an empty one of the newest schema."""
    if not SERVER and not (file := instance / "publisher.db").exists():
        file.write_bytes(_ready_file())


@cache
def _ready_file() -> bytes:
    """What the migrations make of nothing: they run once, tests copy it."""
    with TemporaryDirectory() as folder:
        database = Database(f"sqlite:///{folder}/publisher.db")
        upgrade(database)
        database.close()
        return Path(folder, "publisher.db").read_bytes()


def settings_of(instance: Path) -> dict[str, str]:
    """The variables with which a command works on an instance folder and its database."""
    return {"PUBLISHER_INSTANCE": str(instance), "PUBLISHER_DATABASE_URL": database_url(instance)}


def work_on(instance: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the commands that this process runs work on an instance folder and its database."""
    for name, value in settings_of(instance).items():
        monkeypatch.setenv(name, value)


def rows_of(instance: Path, statement: str, **values: Any) -> list[Any]:
    """What a query finds in the database of an instance folder, past the product."""
    engine = create_engine(database_url(instance))
    with engine.connect() as connection:
        rows = [tuple(row) for row in connection.execute(text(statement), values)]
    engine.dispose()
    return rows


def check_whole(instance: Path) -> None:
    """A file says by itself whether it is whole; a server has nothing to ask for that."""
    if not SERVER:
        assert rows_of(instance, "PRAGMA integrity_check") == [("ok",)]
        assert rows_of(instance, "PRAGMA foreign_key_check") == []


def drop_database(instance: Path) -> None:
    """Drop what `database_url` made for a folder; what nobody drops goes with the server."""
    name = _name(instance)
    if name in _made:
        on_server(SERVER, f"DROP DATABASE {name} WITH (FORCE)")
        _made.remove(name)


def on_server(url: str, statement: str) -> None:
    """Run a statement that makes or drops a database."""
    import psycopg  # of an extra; without it nothing comes here

    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(statement)


@cache
def _ready() -> str:
    """The migrations run once; all other databases are copies of this one."""
    name = f"ready_{secrets.token_hex(6)}"
    _make(name)
    database = Database(_url(name))
    upgrade(database)
    database.close()
    return name


def _name(instance: Path) -> str:
    return f"test_{hashlib.sha256(str(instance).encode()).hexdigest()[:16]}"


def _url(name: str) -> str:
    return SERVER.rpartition("/")[0] + f"/{name}"


def _make(name: str, template: str = "") -> None:
    on_server(SERVER, f"CREATE DATABASE {name} {template}")
    _made.add(name)
