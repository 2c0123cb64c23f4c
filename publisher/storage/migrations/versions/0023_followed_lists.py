"""Lists of feeds that are followed, and which feed came with which."""

import sqlalchemy as sa
from alembic import op

revision = "0023_followed_lists"
down_revision = "0022_newer_items"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this step."""
    op.add_column(
        "river_feeds", sa.Column("is_list", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.add_column("river_feeds", sa.Column("list_id", sa.Integer(), nullable=True))
    op.create_index(op.f("ix_river_feeds_list_id"), "river_feeds", ["list_id"], unique=False)
    op.create_table(
        "river_lists",
        sa.Column("feed_id", sa.Integer(), nullable=False),
        sa.Column("folders", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["feed_id"],
            ["river_feeds.id"],
            name=op.f("fk_river_lists_feed_id_river_feeds"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("feed_id", name=op.f("pk_river_lists")),
    )
    # JSON feeds could give an item any address; only those of the web are taken over now.
    op.execute("UPDATE river_items SET url = '' WHERE url NOT LIKE 'http%'")


def downgrade() -> None:
    """Take this step back."""
    op.drop_table("river_lists")
    op.drop_index(op.f("ix_river_feeds_list_id"), table_name="river_feeds")
    op.drop_column("river_feeds", "list_id")
    op.drop_column("river_feeds", "is_list")
