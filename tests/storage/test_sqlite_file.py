"""The file of an SQLite database: what is one, what is none, and what is whole."""

import errno
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from publisher.base.errors import InvalidData, InvalidInput, StorageUnavailable
from publisher.storage import sqlite_file
from publisher.storage.database import Database
from publisher.storage.sqlite_file import LOGS, check, fold_log, path_of, prepare

pytestmark = pytest.mark.any_database


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "publisher.db"


def fill(path: Path) -> None:
    """Make a small database of several pages, that any program could have made."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE words (word)")
        connection.executemany("INSERT INTO words VALUES (?)", [("word" * 200,)] * 50)


def test_a_databases_url_names_a_file_or_a_server() -> None:
    assert path_of("sqlite:////srv/blog/publisher.db") == Path("/srv/blog/publisher.db")
    assert path_of("sqlite:///publisher.db") == Path.cwd() / "publisher.db"
    assert path_of("postgresql+psycopg://blog@host/blog") is None


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("a file", "THERE cannot be read as a database's URL"),
        ("postgresql+psycopg://host:port/blog", "THERE cannot be read as a database's URL"),
        ("postgresql://host/blog", "THERE: postgresql:// is not known here"),
        ("sqlite://", "THERE: the name of a file is missing"),
        ("sqlite:///:memory:", "THERE: the name of a file is missing"),
    ],
)
def test_other_urls_are_refused(url: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        path_of(url, "THERE")


def test_a_new_file_appears_when_it_is_complete(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And it is left alone when it is there."""

    def add_tables(database: Database) -> None:
        assert not path.exists()
        with database.write() as session:
            session.execute(text("CREATE TABLE words (word)"))

    monkeypatch.setattr(sqlite_file, "upgrade", add_tables)
    prepare(path)
    assert [file.name for file in path.parent.iterdir()] == ["publisher.db"]
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("words",)]
    whole = path.read_bytes()
    prepare(path)
    assert path.read_bytes() == whole


def test_of_a_new_file_that_fails_nothing_is_left(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(database: Database) -> None:
        with database.write() as session:
            session.execute(text("CREATE TABLE words (word)"))
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sqlite_file, "upgrade", fail)
    with pytest.raises(StorageUnavailable, match="cannot be made: No space left"):
        prepare(path)
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("left", "named"),
    [
        ("publisher.db-wal", "publisher.db-wal is there"),
        ("secret_key", "secret_key is there"),
        ("publisher.db.before-1.1.0", "publisher.db.before-1.1.0 is there"),
        ("media/picture.png", "a file in media/ is there"),
    ],
)
def test_no_new_site_where_one_has_been(path: Path, left: str, named: str) -> None:
    """What a lost database left is said: a new one beside it would hide that it is lost."""
    trace = path.parent / left
    trace.parent.mkdir(exist_ok=True)
    trace.touch()
    with pytest.raises(InvalidData, match=f"{path} is missing, but {named}"):
        prepare(path)
    assert not path.exists()


def test_an_empty_folder_of_media_is_no_trace(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Path] = []
    monkeypatch.setattr(sqlite_file, "_create", made.append)
    path.with_name("media").mkdir()
    prepare(path)
    path.with_name("media").joinpath(".gitkeep").touch()
    prepare(path)
    assert made == [path, path]


def test_where_no_file_can_be(path: Path) -> None:
    path.touch()
    with pytest.raises(StorageUnavailable, match="cannot be made: Not a directory"):
        prepare(path / "publisher.db")


def test_a_file_that_is_no_database_stays_as_it_is(path: Path) -> None:
    path.touch()
    with pytest.raises(InvalidData, match=r"is empty \(0 bytes\)"):
        prepare(path)
    path.write_text("Dear diary, this is no database. " * 100)
    with pytest.raises(InvalidData, match="is damaged or no database"):
        prepare(path)
    assert path.read_text().startswith("Dear diary")
    with pytest.raises(InvalidData, match=r"is damaged \(file is not a database\)"):
        check(path)


def test_a_folder_in_its_place_cannot_be_opened(path: Path) -> None:
    path.mkdir()
    with pytest.raises(StorageUnavailable, match="cannot be opened: it has to be a file"):
        prepare(path)


def test_damage_inside_is_found(path: Path) -> None:
    """`prepare` looks at the beginning only, `check` at every page."""
    fill(path)
    assert check(path)
    with path.open("r+b") as file:
        file.seek(2 * 4096)
        file.write(b"\xee" * 4096)
    prepare(path)
    with pytest.raises(InvalidData, match=rf"{path} is damaged \(.+\)\. Nothing was changed"):
        check(path)


def test_a_check_ends_in_time(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_file, "_STEPS", 1)
    fill(path)
    assert check(path, seconds=60)
    assert not check(path, seconds=0)


def test_the_log_is_folded_into_the_file(path: Path) -> None:
    """As soon as nobody else has the file open; then the file alone is the database."""
    fill(path)
    database = Database(f"sqlite:///{path}")
    with database.read() as session:
        session.execute(text("SELECT word FROM words"))
        assert path.with_name("publisher.db-wal").exists()
        assert not fold_log(path)
    database.close()
    assert fold_log(path)
    assert not any(path.with_name(path.name + log).exists() for log in LOGS)


def test_a_file_that_cannot_be_folded_says_why(path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError, match="unable to open"):
        fold_log(path / "publisher.db")
