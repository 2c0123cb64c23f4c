"""The schema of the database, and the program's idea of it."""

from alembic.config import Config
from alembic.script import ScriptDirectory

from publisher.storage.schema import MIGRATIONS, newest_revision


def test_the_newest_migration_is_the_head() -> None:
    """The quick look at the file names agrees with Alembic's reading of the whole chain."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("path_separator", "os")
    assert ScriptDirectory.from_config(config).get_heads() == [newest_revision()]
