"""By which rules a followed feed was read: those of 1.0.0 read some texts, links and dates wrongly."""

import sqlalchemy as sa
from alembic import op

revision = "0038_read_anew"
down_revision = "0037_moved_lists"


def upgrade() -> None:
    """One column: 0 for what 1.0.0 has read, which is read anew at the feed's next change."""
    op.add_column(
        "river_feeds", sa.Column("rules", sa.Integer(), nullable=False, server_default="0")
    )
