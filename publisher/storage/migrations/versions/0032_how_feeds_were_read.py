"""Remarks on how a followed feed was read."""

import sqlalchemy as sa
from alembic import op

revision = "0032_how_feeds_were_read"
down_revision = "0031_taken_back"


def upgrade() -> None:
    """One column."""
    remarks = sa.Column("remarks", sa.JSON(), nullable=False, server_default="[]")
    op.add_column("river_feeds", remarks)
