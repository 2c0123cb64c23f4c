"""The river's readers: starred items, titles of one's own, and "mark all as read" taken back."""

import sqlalchemy as sa
from alembic import op

from publisher.storage.columns import UtcDateTime

revision = "0016_river_reading"
down_revision = "0015_jobs"


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
        sa.Column(
            "author_id",
            sa.Integer(),
            sa.ForeignKey("authors.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column(
            "item_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            sa.ForeignKey("river_items.id", ondelete="CASCADE"),
            primary_key=True,
            index=True,
        ),
        sa.Column("starred_at", UtcDateTime(), nullable=False),
    )
