"""The date that a post had before it became a draft again: its address answers 410."""

import sqlalchemy as sa
from alembic import op

from publisher.storage.columns import UtcDateTime

revision = "0031_taken_back"
down_revision = "0030_settings_that_went"


def upgrade() -> None:
    """One column."""
    op.add_column("posts", sa.Column("former_date", UtcDateTime(), nullable=True))
