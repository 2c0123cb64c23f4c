"""A database whose settings name what is gone opens, with the default in its place."""

from pathlib import Path

from alembic import command
from sqlalchemy import text

from publisher.installation.settings import load_settings
from publisher.storage.database import Database
from publisher.storage.schema import upgrade
from tests.storage.test_schema import alembic_config


def test_settings_that_went_become_the_default(tmp_path: Path) -> None:
    """`planner=look-ahead` is `auto` now, and `skip_hours` is forgotten; others stay."""
    database = Database(f"sqlite:///{tmp_path / 'old.db'}")
    stored = {"skip_hours": "learned", "planner": "look-ahead", "menu": "30/60", "unheard_of": "1"}
    with database.engine.begin() as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        command.upgrade(config, "0029_reach_of_updates")
        for name, value in stored.items():
            row = {"name": name, "value": value}
            connection.execute(text("INSERT INTO preferences VALUES (:name, :value)"), row)
    upgrade(database)
    with database.read() as session:
        settings = load_settings(session)
        assert (settings.planner, settings.menu) == ("auto", "30/60")
        names = session.scalars(text("SELECT name FROM preferences WHERE name = 'skip_hours'"))
        assert names.all() == []
    database.close()
