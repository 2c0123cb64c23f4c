"""The schema of the database, and the program's idea of it."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import text

from publisher.river import blogroll
from publisher.storage.database import Database
from publisher.storage.schema import MIGRATIONS, newest_revision, upgrade

OLD_FEED = """
INSERT INTO river_feeds (url, added_url, host, title, site_url, folder, policy, state, added_at,
    status, problem, detail, failures, limited, content_hash, "window", reasons, offers, username,
    password, auth_scheme)
VALUES ('http://a.example/', 'http://a.example/', 'a.example', '', '', '', '', 'active',
    '2024-03-04 09:00:00', 0, '', '', 0, 0, '', '', '[]', 0, '', '', '')
"""


def test_the_newest_migration_is_the_head() -> None:
    """The quick look at the file names agrees with Alembic's reading of the whole chain."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("path_separator", "os")
    assert ScriptDirectory.from_config(config).get_heads() == [newest_revision()]


def test_subscriptions_become_private_and_their_owner_is_told(tmp_path: Path) -> None:
    """A site of the third schema, whose list everybody could read."""
    database = Database(f"sqlite:///{tmp_path / 'old.db'}")
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("path_separator", "os")
    with database.engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0003_readers")
        connection.execute(text(OLD_FEED))
    upgrade(database)
    with database.read() as session:
        assert blogroll.made_private(session) == 1
        assert not blogroll.shown(session)
    database.close()
