"""The schema of the database, and the program's idea of it."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import select, text

from publisher.base.errors import InvalidData, StorageUnavailable
from publisher.blog import published
from publisher.blog.writing import posts, revisions
from publisher.readers.reporting.reach import Reached, reached
from publisher.river.following import feed_list
from publisher.storage import schema
from publisher.storage.database import Database
from publisher.storage.schema import MIGRATIONS, newest_revision, upgrade
from publisher.storage.tables.readers import PostReach
from publisher.storage.tables.river import RiverItem

OLD_FEED = """
INSERT INTO river_feeds (url, added_url, host, title, site_url, folder, policy, state, added_at,
    status, problem, detail, failures, limited, content_hash, "window", reasons, offers, username,
    password, auth_scheme)
VALUES ('http://a.example/', 'http://a.example/', 'a.example', '', '', '', '', 'active',
    '2024-03-04 09:00:00', 0, '', '', 0, 0, '', '', '[]', 0, '', '', '')
"""

OLD_ITEM = """
INSERT INTO river_items (feed_id, "key", fingerprint, url, title, html, author, enclosures, seen_at,
    shown_at, pruned)
VALUES (1, '1', '1', 'javascript:alert(1)', '', '', '', :files, '2024-03-04 09:00:00',
    '2024-03-04 09:00:00', 0)
"""

OLD_POST = """
INSERT INTO posts (id, kind, status, version, guid, guid_is_permalink, slug, title, source,
    source_format, html, summary, enclosure_url, enclosure_type, enclosure_bytes,
    enclosure_seconds, preview_token, created_at, changed_at, published_at, deleted_status)
VALUES (1, 'page', 'published', 2, 'urn:1', 0, 'here', 'Now', 'New.', 'markdown', '<p>New.</p>',
    'Aardvarks', 'https://a.example/1.mp3', 'audio/mpeg', 5, 0, 'secret', '2024-03-04 09:00:00',
    '2024-03-04 09:00:00', '2024-03-04 09:00:00', '')
"""
OLD_REVISION = """
INSERT INTO revisions (post_id, version, saved_at, minor, title, source, summary, tags)
VALUES (1, 1, '2024-03-04 09:00:00', 0, 'Then “é”', 'Old.', '', 'sea, Two words')
"""
OLD_SEARCH = "INSERT INTO post_search (rowid, title, body) VALUES (1, 'Now', 'New.')"


def alembic_config() -> Config:
    """Alembic as it sees our migrations."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("path_separator", "os")
    return config


@pytest.fixture
def released(tmp_path: Path) -> Iterator[Database]:
    """An empty database of the first release."""
    database = Database(f"sqlite:///{tmp_path / 'old.db'}")
    with database.engine.begin() as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        command.upgrade(config, "0003_readers")
    yield database
    database.close()


def test_the_newest_migration_is_the_head() -> None:
    """The quick look at the file names agrees with Alembic's reading of the whole chain."""
    assert ScriptDirectory.from_config(alembic_config()).get_heads() == [newest_revision()]


def test_the_file_is_copied_before_an_upgrade(
    released: Database, capfd: pytest.CaptureFixture[str]
) -> None:
    """The copy is what there was, whole; a database that is up to date is not copied again."""
    with released.engine.begin() as connection:
        connection.execute(text(OLD_FEED))
    file = Path(str(released.engine.url.database))
    copy = file.with_name(f"{file.name}.before-upgrade")
    upgrade(released)
    assert copy.name in "".join(capfd.readouterr())
    with closing(sqlite3.connect(copy)) as before:
        assert before.execute("SELECT version_num FROM alembic_version").fetchone() == (
            "0003_readers",
        )
        assert before.execute("SELECT url FROM river_feeds").fetchall() == [("http://a.example/",)]
    copy.unlink()
    upgrade(released)
    assert not copy.exists()


def test_without_room_for_the_copy_nothing_is_upgraded(
    released: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says what to do, and no half of a copy is left."""

    def full(_source: Path, copy: Path) -> None:
        copy.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(schema, "copy_database", full)
    with pytest.raises(StorageUnavailable, match=r"No space left.*Nothing was changed"):
        upgrade(released)
    folder = Path(str(released.engine.url.database)).parent
    assert not list(folder.glob("*before-upgrade*"))
    assert not list(folder.glob(".*before-upgrade*"))
    with released.engine.connect() as connection:
        version = connection.scalar(text("SELECT version_num FROM alembic_version"))
    assert version == "0003_readers"


def test_subscriptions_become_private_and_their_owner_is_told(released: Database) -> None:
    """A site of the first release, whose list everybody could read."""
    with released.engine.begin() as connection:
        connection.execute(text(OLD_FEED))
    upgrade(released)
    with released.read() as session:
        assert feed_list.made_private(session) == 1
        assert not feed_list.shown(session)


@pytest.mark.parametrize(
    ("files", "kept"),
    [
        ([["https://a.example/1.mp3", "audio/mpeg", 5]], 1),
        ([["https://a.example/1.mp3", "audio/mpeg", 5], ["JavaScript:alert(1)", "", 0]], 1),
        ([["data:text/html,x", "", 0]], 0),
        ([], 0),
    ],
)
def test_links_of_items_that_were_stored_become_of_the_web(
    released: Database, files: list[list[object]], kept: int
) -> None:
    """A JSON feed could give an address that is a script."""
    with released.engine.begin() as connection:
        connection.execute(text(OLD_FEED))
        connection.execute(text(OLD_ITEM), {"files": json.dumps(files)})
    upgrade(released)
    with released.read() as session:
        item = session.scalars(select(RiverItem)).one()
        assert (item.url, item.enclosures) == ("", files[:kept])


def test_old_revisions_keep_their_meaning(released: Database) -> None:
    """What a version kept comes back; what it did not keep stays as it is now. Summaries are found.

    Released versions kept four fields, with the tags as one text.
    """
    with released.engine.begin() as connection:
        for statement in (OLD_POST, OLD_REVISION, OLD_SEARCH):
            connection.execute(text(statement))
    upgrade(released)
    with released.write() as session:
        assert [hit.number for hit in published.search(session, "aardvarks")] == [1]
        post = posts.get(session, 1)
        revision = revisions.get(session, post, 1)
        (changed,) = [c for c in revisions.changes(None, revision) if c.name == "tags"]
        assert [piece.text for piece in changed.pieces] == ["sea, Two words"]
        revisions.restore(session, post, revision, None, datetime(2024, 3, 5, tzinfo=UTC))
        now = posts.content(session, post)
    assert (now.title, now.source, now.tags) == ("Then “é”", "Old.", ("sea", "Two words"))
    assert (now.slug, now.kind, now.enclosure and now.enclosure.bytes) == ("here", "page", 5)


def test_what_old_posts_reached_is_kept(released: Database) -> None:
    """The first reader of each program keeps its name, the others are one program without."""
    with released.engine.begin() as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        command.upgrade(config, "0028_link_cards")
        connection.execute(text(OLD_POST))
        connection.execute(
            text("INSERT INTO post_reach (post_id, published_at, readers, delays, programs) "
                 "VALUES (1, '2024-03-04 09:00:00', 3, :delays, :programs)"),
            {"delays": '{"60": 2, "600": 1}',
             "programs": '{"Feedly": [1, 61.2], "newsboat": [2, 600.0]}'},
        )  # fmt: skip
    upgrade(released)
    with released.read() as session:
        row = session.scalars(select(PostReach)).one()
        assert (row.kind, row.at) == ("publish", datetime(2024, 3, 4, 9, tzinfo=UTC))
        assert row.programs == {"Feedly": {"60": 1}, "newsboat": {"600": 1}, "": {"60": 1}}
        assert reached(session, [1]) == {1: Reached(3, 1.0)}


def test_a_migration_is_undone_where_rows_refer_to_missing_ones(
    released: Database, tmp_path: Path
) -> None:
    """References are checked after the last step; the database stays as it was."""
    with closing(sqlite3.connect(tmp_path / "old.db")) as unchecked, unchecked:
        unchecked.execute("INSERT INTO post_tags (post_id, tag_id) VALUES (77, 88)")
    with pytest.raises(InvalidData, match=r"2 rows refer to rows that are missing \(in post_tags"):
        upgrade(released)
    with released.engine.connect() as connection:
        found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
    assert found == "0003_readers"


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
