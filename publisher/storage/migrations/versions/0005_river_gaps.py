"""Items of followed feeds that were missed: between which moments, and about how many."""

import sqlalchemy as sa
from alembic import op

from publisher.storage.columns import UtcDateTime

revision = "0005_river_gaps"
down_revision = "0004_public_feeds"


def upgrade() -> None:
    """Apply this step."""
    op.create_table(
        "river_gaps",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column(
            "feed_id",
            sa.Integer(),
            sa.ForeignKey("river_feeds.id", ondelete="CASCADE"),
            nullable=False,
            index=True,
        ),
        sa.Column("begins_at", UtcDateTime(), nullable=False),
        sa.Column("ends_at", UtcDateTime(), nullable=False),
        sa.Column("items", sa.Integer(), nullable=True),
    )
