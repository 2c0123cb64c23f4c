"""Damaged data that is made of other data is found, and made anew; posts stay as they are."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from publisher.base.errors import InvalidData
from publisher.blog import published, update_log
from publisher.installation import Site
from publisher.operations import derived
from publisher.operations.doctor import examine_database
from publisher.publishing.rebuild import rebuild
from publisher.storage import sqlite_file
from tests.factories import make_post

pytestmark = pytest.mark.sqlite("only a file can be damaged from outside")


@pytest.fixture
def file(site: Site) -> Path:
    """The file of a site with two posts."""
    for title in ("Aardvarks", "Badgers"):
        make_post(site, "Words. " * 400, title=title)
    rebuild(site)
    site.database.close()
    path = Path(str(site.database.engine.url.database))
    assert sqlite_file.fold_log(path)
    return path


def spoil(path: Path, table: str) -> None:
    """Overwrite the first page of a table, as a failing disk does."""
    with closing(sqlite3.connect(path)) as connection:
        (page,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)
        ).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    with path.open("r+b") as out:
        out.seek((page - 1) * size)
        out.write(b"\xee" * size)


def spoil_index(path: Path) -> None:
    """Overwrite what the search index says, in rows that SQLite itself finds whole."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE post_search_data SET block = randomblob(60) WHERE id > 10")


@pytest.mark.parametrize(
    "table",
    ["post_search_data", "post_search_content", "histogram_slots", "poll_hours", "snapshots"],
)
def test_what_can_be_made_anew_is(site: Site, file: Path, table: str) -> None:
    """The file is whole afterwards, the search finds, the histogram and the feeds are there."""
    with site.database.read() as session:
        before = update_log.load(session)
    site.database.close()
    assert sqlite_file.fold_log(file)
    spoil(file, table)
    damaged_tables = derived.damaged(file)
    assert len(damaged_tables) == 1
    assert table.startswith(damaged_tables[0])
    assert derived.expendable(damaged_tables)
    assert derived.mend_file(file) == damaged_tables
    sqlite_file.check(file)
    derived.rebuild(site)
    assert derived.damaged(file) == []
    with site.database.read() as session:
        assert len(published.search(session, "badgers")) == 1
        assert update_log.load(session) == before
    assert all(finding.good for finding in examine_database(site))


def test_an_index_that_is_noise_is_found(site: Site, file: Path) -> None:
    """SQLite's own check calls it whole before 3.44, which looks into the index, too."""
    spoil_index(file)
    if sqlite3.sqlite_version_info < (3, 44):
        sqlite_file.check(file)
    else:
        with pytest.raises(InvalidData, match="post_search"):
            sqlite_file.check(file)
    findings = {finding.what: finding for finding in examine_database(site)}
    assert not findings["damaged tables"].good
    assert "doctor --rebuild" in findings["damaged tables"].mend
    derived.rebuild(site)
    assert derived.damaged(file) == []
    with site.database.read() as session:
        assert len(published.search(session, "aardvarks")) == 1


def test_where_posts_are_damaged_nothing_is_emptied(file: Path) -> None:
    """Then a backup is the way, and the file stays as it is."""
    for table in ("posts", "poll_hours"):
        spoil(file, table)
    before = file.read_bytes()
    assert "posts" in derived.damaged(file)
    assert derived.mend_file(file) == []
    assert file.read_bytes() == before
    with pytest.raises(InvalidData, match="restore"):
        sqlite_file.check(file)
