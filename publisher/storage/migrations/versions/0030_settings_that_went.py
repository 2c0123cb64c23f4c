"""Settings that went: `skip_hours`, the planner `look-ahead`, which a menu of any minute has
anyway, and looks of before 1.0.0, which 1.0.0 still understood."""

import sqlalchemy as sa
from alembic import op

revision = "0030_settings_that_went"
down_revision = "0029_reach_of_updates"

_BECAME = {
    ("planner", "look-ahead"): "auto",
    ("look", "calm"): "plain",
    ("look", "bold"): "photo",
}


def upgrade() -> None:
    """Give each its present value; version 1.0.0 knows all of them."""
    preferences = sa.table("preferences", sa.column("name"), sa.column("value"))
    op.execute(preferences.delete().where(preferences.c.name == "skip_hours"))
    for (name, former), value in _BECAME.items():
        same = preferences.c.name == name, preferences.c.value == former
        op.execute(preferences.update().where(*same).values(value=value))
