"""Readers of mirrored feeds are told from the blog's own."""

import sqlalchemy as sa
from alembic import op

revision = "0019_readers_of_mirrors"
down_revision = "0018_passkeys"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this step; who was counted until now stays with the blog."""
    op.add_column(
        "reader_clients", sa.Column("mirror", sa.String(), nullable=False, server_default="")
    )
