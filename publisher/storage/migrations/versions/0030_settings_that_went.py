"""Settings that went: `skip_hours`, and the planner `look-ahead`, which a menu of any minute has
anyway."""

import sqlalchemy as sa
from alembic import op

revision = "0030_settings_that_went"
down_revision = "0029_reach_of_updates"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """A stored `look-ahead` becomes the default, `auto`."""
    preferences = sa.table("preferences", sa.column("name"), sa.column("value"))
    op.execute(preferences.delete().where(preferences.c.name == "skip_hours"))
    op.execute(
        preferences.update()
        .where(preferences.c.name == "planner", preferences.c.value == "look-ahead")
        .values(value="auto")
    )
