"""The schema of the database: made anew, or upgraded from what version 1.0.0 left."""

import secrets
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, inspect, select, text

from publisher.base.environment import Environment
from publisher.base.errors import Forbidden, InvalidData, StorageUnavailable
from publisher.blog import published
from publisher.blog.members import authors
from publisher.blog.writing import autosave, posts, revisions
from publisher.installation import Site, open_site
from publisher.installation.settings import Settings, load_settings
from publisher.parts.readers import poll_batches
from publisher.parts.readers.fold import fold
from publisher.parts.readers.reporting.reach import Reached, reached
from publisher.parts.readers.tables import PollHour, Reach
from publisher.parts.river.following import subscriptions
from publisher.publishing.rebuild import rebuild
from publisher.storage import schema
from publisher.storage.database import Database
from publisher.storage.schema import newest_revision, upgrade
from tests.postgres import Server
from tests.storage import released

NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
ON_SERVER = pytest.param("postgresql", marks=pytest.mark.system)

# What 1.0.0 has and a new database has not, until a release after 1.1.0 drops it.
AWAITS_CONTRACTION = {"post_reach", "poll_batches"}
# Defaults of the server that 1.0.0 has and does not need: the program gives every value itself.
LEFT_DEFAULTS = {
    "api_tokens": {"label"}, "reader_clients": {"mirror"}, "reader_days": {"heads", "unsure"},
    "reader_feeds": {
        "foreign", "given", "max_age", "origin", "returned", "rhythm", "tag", "tag_before",
    },
    "revisions": {"content"},
}  # fmt: skip
# SQLAlchemy does not read indexes on expressions; `INDEXES` does.
pytestmark = pytest.mark.filterwarnings("ignore:Skipped unsupported reflection")
INDEXES = {
    "sqlite": "SELECT tbl_name, name, sql FROM sqlite_master WHERE type = 'index' AND sql <> ''",
    "postgresql": "SELECT tablename, indexname, indexdef FROM pg_indexes "
    "WHERE schemaname = 'public'",
}


@pytest.fixture(params=["sqlite", ON_SERVER])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Makes the place of one more database."""

    def make() -> str:
        name = f"schema_{secrets.token_hex(6)}"
        if request.param == "sqlite":
            return f"sqlite:///{tmp_path / name}.db"
        server: Server = request.getfixturevalue("server")
        return server.make_database(name)

    return make


@pytest.fixture
def old_url(empty: Callable[[], str]) -> str:
    """A database as version 1.0.0 left it."""
    url = empty()
    if url.startswith("sqlite"):
        return released.put_file(Path(url.removeprefix("sqlite:///")))
    return released.load_dump(url)


@pytest.fixture
def old(old_url: str) -> Iterator[Database]:
    """The same, opened."""
    database = Database(old_url)
    yield database
    database.close()


@pytest.fixture
def site(environment: Environment, old_url: str) -> Iterator[Site]:
    """The site of version 1.0.0, opened by this one."""
    opened = open_site(
        replace(environment, database_url=old_url, secret_key=released.KEY), lambda: NOW
    )
    yield opened
    opened.database.close()


def described(connection: Connection) -> dict[str, dict[str, Any]]:
    """Each table: columns (type, may it be NULL, default of the server), keys, indexes."""
    seen = inspect(connection)
    tables_found: dict[str, dict[str, Any]] = {}
    for name in seen.get_table_names():
        if name == "alembic_version" or "_search_" in name:  # FTS5's own
            continue
        parts: dict[str, Any] = {
            f"column {column['name']}": (
                _kind(str(column["type"])), column["nullable"], column["default"],
            )
            for column in seen.get_columns(name)
        }  # fmt: skip
        parts["key"] = tuple(seen.get_pk_constraint(name)["constrained_columns"])
        for key in seen.get_foreign_keys(name):
            parts[f"reference {key['name']}"] = (
                key["constrained_columns"], key["referred_table"], key["options"],
            )  # fmt: skip
        for unique in seen.get_unique_constraints(name):
            parts[f"unique {unique['name']}"] = unique["column_names"]
        tables_found[name] = parts
    for table, name, definition in connection.execute(text(INDEXES[connection.dialect.name])):
        if table in tables_found:
            tables_found[table][f"index {name}"] = definition.replace('"', "")
    return tables_found


def _kind(written: str) -> str:
    """Types that a database stores alike are one."""
    same = {"TEXT": "VARCHAR", "DOUBLE": "FLOAT", "DOUBLE PRECISION": "FLOAT"}
    return same.get(written.replace("_", " "), written)


def schema_of(url: str, make: bool = True) -> dict[str, dict[str, Any]]:
    """The described schema of a database, which is made or upgraded first."""
    if make:
        database = Database(url)
        upgrade(database)
        database.close()
    engine = create_engine(url)
    with engine.connect() as connection:
        tables_found = described(connection)
    engine.dispose()
    return tables_found


def test_an_upgraded_database_is_as_a_new_one(empty: Callable[[], str], old_url: str) -> None:
    """Table by table, but for what awaits its contraction and defaults that do no harm."""
    new, upgraded = schema_of(empty()), schema_of(old_url)
    assert upgraded.keys() - new.keys() == AWAITS_CONTRACTION
    assert new.keys() <= upgraded.keys()
    for name, parts in new.items():
        for column in LEFT_DEFAULTS.get(name, ()):
            kind, may_be_null, _ = upgraded[name][f"column {column}"]
            upgraded[name][f"column {column}"] = (kind, may_be_null, None)
        assert upgraded[name] == parts, name


def narrowed(before: dict[str, dict[str, Any]], after: dict[str, dict[str, Any]]) -> Iterator[str]:
    """What a program that knows the schema of before would stumble over."""
    for name, parts in before.items():
        if name not in after:
            yield f"{name} is gone"
            continue
        for part, value in parts.items():
            if after[name].get(part) != value:
                yield f"{name}: {part} is gone or another"
        for part, value in after[name].items():
            if part in parts or part.startswith(("index ix_", "reference")):
                continue
            if part.startswith("column") and (value[1] or value[2] is not None):
                continue
            yield f"{name}: {part} must be given or narrows what may be written"


def test_migrations_only_add(old_url: str) -> None:
    """So the released version goes on working on the database of a newer one."""
    before = schema_of(old_url, make=False)
    assert list(narrowed(before, schema_of(old_url))) == []


def test_what_narrows_is_noticed(empty: Callable[[], str]) -> None:
    """The test above fails for each step that the version before would not survive."""
    url = empty()
    before = schema_of(url)
    engine = create_engine(url)
    for statement, words in (
        ("ALTER TABLE link_cards ADD COLUMN made INTEGER", ""),
        ("ALTER TABLE link_cards ADD COLUMN more INTEGER NOT NULL DEFAULT 0", ""),
        ("CREATE TABLE new_ones (id INTEGER NOT NULL)", ""),
        ("CREATE INDEX ix_new ON link_cards (site)", ""),
        ("CREATE UNIQUE INDEX only_one ON link_cards (site)", "narrows what may be written"),
        ("ALTER TABLE tags DROP COLUMN changed_at", "changed_at is gone"),
        ("ALTER TABLE tags RENAME COLUMN name TO title", "name is gone"),
        ("ALTER TABLE tags RENAME TO labels", "tags is gone"),
        ("DROP TABLE link_cards", "link_cards is gone"),
    ):
        with engine.begin() as connection:
            connection.execute(text(statement))
        after = schema_of(url, make=False)
        noticed = "; ".join(narrowed(before, after))
        assert words in noticed if words else not noticed, statement
        before = after
    engine.dispose()


def test_the_newest_migration_is_the_head() -> None:
    """The quick look at the file names agrees with Alembic's reading of the whole chain."""
    assert ScriptDirectory.from_config(schema._config()).get_heads() == [newest_revision()]


def test_people_of_1_0_0_log_in(site: Site) -> None:
    """Their passwords are hashes by Argon2."""
    for name, password in released.PASSWORDS.items():
        with site.database.read() as session:
            stored = session.scalar(
                text("SELECT password_hash FROM authors WHERE name = :name"), {"name": name}
            )
        assert str(stored).startswith("$argon2id$")
        with site.database.read() as session:
            assert authors.authenticate(session, name, password).name == name
            with pytest.raises(Forbidden):
                authors.authenticate(session, name, f"{password}!")


def test_what_1_0_0_wrote_is_there(site: Site) -> None:
    """Posts, revisions, unsaved texts, search, the feed's login; the feed is built."""
    rebuild(site)
    with site.database.read() as session:
        assert [hit.number for hit in published.search(session, "animals")] == [1]
        assert [hit.number for hit in published.search(session, "海")] == [2]
        first = posts.get(session, 1)
        assert (first.status, first.source) == ("published", "New sea.")
        assert revisions.get(session, first, 1).content["tags"] == ["sea", "Two words"]
        assert [row.fields["source"] for row in autosave.everything(session, 1)] == [
            "A draft, longer."
        ]
        followed = subscriptions.named(session, "https://a.example/feed")
        assert (followed.password, followed.rules) == ("feed key", 0)  # its items are read anew


def test_settings_that_are_gone_are_converted(site: Site) -> None:
    """A look of before became another; the learned skipHours and look-ahead are no more."""
    with site.database.read() as session:
        settings = load_settings(session)
        assert (settings.title, settings.timezone) == ("Released", "Europe/Berlin")
        assert (settings.look, settings.planner) == ("plain", Settings().planner)
        gone = text("SELECT 1 FROM preferences WHERE name = 'skip_hours'")
        assert not session.execute(gone).all()


def test_what_old_posts_reached_is_kept(site: Site) -> None:
    """The first reader of each program keeps its name, the others are one program without."""
    with site.database.read() as session:
        row = session.scalars(select(Reach)).one()
        assert (row.post_id, row.kind) == (1, "publish")
        assert row.programs == {"Feedly": {"60": 1}, "newsboat": {"600": 1}, "": {"60": 1}}
        assert reached(session, [1]) == {1: Reached(3, 1.0)}


def test_polls_that_1_0_0_counted_are_counted(site: Site) -> None:
    """Also those of machines that still have it: until they are gone their table is looked at."""
    with site.database.read() as session:
        before = sum(session.scalars(select(PollHour.requests)))
    with site.database.write() as session:
        poll_batches.move_polls_of_1_0(session)
        assert session.scalar(text("SELECT count(*) FROM poll_batches")) == 0
    assert fold(site.database, 15) == 2
    with site.database.read() as session:
        assert sum(session.scalars(select(PollHour.requests))) == before + 2


@pytest.fixture
def old_file(tmp_path: Path) -> Iterator[Database]:
    """The file that version 1.0.0 left."""
    database = Database(released.put_file(tmp_path / "old.db"))
    yield database
    database.close()


def version_of(path: Path) -> str:
    """The schema that a file has."""
    with closing(sqlite3.connect(path)) as connection:
        return str(connection.execute("SELECT version_num FROM alembic_version").fetchone()[0])


def test_the_file_is_copied_before_an_upgrade(
    old_file: Database, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The copy is what there was, whole; a database that is up to date is not copied again."""
    copy = tmp_path / "old.db.before-upgrade"
    upgrade(old_file)
    assert copy.name in "".join(capfd.readouterr())
    assert (version_of(tmp_path / "old.db"), version_of(copy)) == (
        newest_revision(), "0028_link_cards",
    )  # fmt: skip
    with closing(sqlite3.connect(copy)) as before:
        assert before.execute("SELECT name FROM authors").fetchall() == [("ada",), ("ben",)]
    copy.unlink()
    upgrade(old_file)
    assert not copy.exists()


def test_without_room_for_the_copy_nothing_is_upgraded(
    old_file: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says what to do, and no half of a copy is left."""

    def full(_source: Path, copy: Path) -> None:
        copy.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(schema, "copy_database", full)
    with pytest.raises(StorageUnavailable, match=r"No space left.*Nothing was changed"):
        upgrade(old_file)
    assert not [path for path in tmp_path.iterdir() if "before-upgrade" in path.name]
    assert version_of(tmp_path / "old.db") == "0028_link_cards"


def test_a_migration_is_undone_where_rows_refer_to_missing_ones(
    old_file: Database, tmp_path: Path
) -> None:
    """References are checked after the last step; the database stays as it was."""
    with closing(sqlite3.connect(tmp_path / "old.db")) as unchecked, unchecked:
        unchecked.execute("INSERT INTO post_tags (post_id, tag_id) VALUES (77, 88)")
    with pytest.raises(InvalidData, match=r"2 rows refer to rows that are missing \(in post_tags"):
        upgrade(old_file)
    assert version_of(tmp_path / "old.db") == "0028_link_cards"


@pytest.mark.parametrize(
    ("revision", "words"),
    [("0003_readers", "start version 1.0.0 with it once"), ("9999_later", "a newer Publisher")],
)
def test_what_cannot_be_upgraded_is_refused(old: Database, revision: str, words: str) -> None:
    """The sentence names the way, and nothing is changed."""
    with old.engine.execution_options(immediate=True).begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :it"), {"it": revision})
    for refuse in (upgrade, schema.check_known):
        with pytest.raises(InvalidData, match=words):
            refuse(old)
    with old.engine.connect() as connection:
        assert "update_reach" not in inspect(connection).get_table_names()


def test_the_first_write_configures_nothing_under_its_lock() -> None:
    """SQLAlchemy's mappers take some 30 ms: they are configured when the database is opened."""
    program = (
        "from publisher.storage.database import Database\n"
        "from publisher.storage.tables.blog import Meta\n"
        "before = Meta.__mapper__.configured\n"
        "Database('sqlite://').close()\n"
        "print(before, Meta.__mapper__.configured)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.split() == [b"False", b"True"]


@pytest.mark.sqlite("a server has these settings itself")
def test_what_is_committed_is_on_the_disk(tmp_path: Path) -> None:
    """A program flushes each commit, and checks what refers to what; tests' own process flushes
    nothing (conftest.py), so another one is asked."""
    asked = """
import sys
from publisher.storage.database import Database
connection = Database(sys.argv[1]).engine.connect()
for name in ("journal_mode", "synchronous", "foreign_keys"):
    print(connection.exec_driver_sql(f"PRAGMA {name}").scalar())
"""
    url = f"sqlite:///{tmp_path}/blog.db"
    done = subprocess.run(
        [sys.executable, "-c", asked, url], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["wal", "2", "1"]
