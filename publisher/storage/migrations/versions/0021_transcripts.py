"""Transcripts of episodes."""

import sqlalchemy as sa
from alembic import op

revision = "0021_transcripts"
down_revision = "0020_mentions"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this step."""
    op.add_column("posts", sa.Column("transcript", sa.String(), nullable=False, server_default=""))
