"""Lists of feeds that are followed, and which feed came with which."""

import sqlalchemy as sa
from alembic import op

revision = "0023_followed_lists"
down_revision = "0022_newer_items"


def upgrade() -> None:
    """Apply this step."""
    op.add_column(
        "river_feeds", sa.Column("is_list", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.add_column("river_feeds", sa.Column("list_id", sa.Integer(), nullable=True))
    op.create_index(op.f("ix_river_feeds_list_id"), "river_feeds", ["list_id"])
    op.create_table(
        "river_lists",
        sa.Column(
            "feed_id",
            sa.Integer(),
            sa.ForeignKey("river_feeds.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("folders", sa.JSON(), nullable=False),
    )
    # JSON feeds could give an item any address; only those of the web are taken over now.
    op.execute("UPDATE river_items SET url = '' WHERE url NOT LIKE 'http%'")
