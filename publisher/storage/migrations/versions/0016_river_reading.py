"""The river's readers: starred items, titles of one's own, and "mark all as read" taken back."""

import sqlalchemy as sa
from alembic import op

from publisher.storage.columns import UtcDateTime

revision = "0016_river_reading"
down_revision = "0015_jobs"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this step."""
    op.add_column(
        "river_feeds", sa.Column("feed_title", sa.String(), nullable=False, server_default="")
    )
    op.add_column(
        "river_feeds", sa.Column("renamed", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.execute("UPDATE river_feeds SET feed_title = title")
    op.add_column("river_readers", sa.Column("undo", sa.JSON(), nullable=True))
    op.create_table(
        "river_stars",
        sa.Column("author_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("starred_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["author_id"],
            ["authors.id"],
            name=op.f("fk_river_stars_author_id_authors"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["item_id"],
            ["river_items.id"],
            name=op.f("fk_river_stars_item_id_river_items"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("author_id", "item_id", name=op.f("pk_river_stars")),
    )
    op.create_index(op.f("ix_river_stars_item_id"), "river_stars", ["item_id"], unique=False)
