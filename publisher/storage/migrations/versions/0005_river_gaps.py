"""Items of followed feeds that were missed: between which moments, and about how many."""

import sqlalchemy as sa
from alembic import op

from publisher.storage.columns import UtcDateTime

revision = "0005_river_gaps"
down_revision = "0004_public_feeds"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this step."""
    op.create_table(
        "river_gaps",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("feed_id", sa.Integer(), nullable=False),
        sa.Column("begins_at", UtcDateTime(), nullable=False),
        sa.Column("ends_at", UtcDateTime(), nullable=False),
        sa.Column("items", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["feed_id"],
            ["river_feeds.id"],
            name=op.f("fk_river_gaps_feed_id_river_feeds"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_river_gaps")),
    )
    op.create_index(op.f("ix_river_gaps_feed_id"), "river_gaps", ["feed_id"], unique=False)
