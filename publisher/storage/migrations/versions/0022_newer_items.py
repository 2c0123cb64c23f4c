"""Which items of a document are newer than which content, for readers that want those alone."""

import sqlalchemy as sa
from alembic import op

revision = "0022_newer_items"
down_revision = "0021_transcripts"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this step."""
    op.add_column("snapshots", sa.Column("item_history", sa.JSON(), nullable=True))
