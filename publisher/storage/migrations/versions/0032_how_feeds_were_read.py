"""Remarks on how a followed feed was read."""

import sqlalchemy as sa
from alembic import op

revision = "0032_how_feeds_were_read"
down_revision = "0031_taken_back"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """One column."""
    remarks = sa.Column("remarks", sa.JSON(), nullable=False, server_default="[]")
    op.add_column("river_feeds", remarks)


def downgrade() -> None:
    """Take the column away."""
    op.drop_column("river_feeds", "remarks")
