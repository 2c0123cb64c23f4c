"""The river: where redirects lead, how many requests a poll made, what else items say."""

import sqlalchemy as sa
from alembic import op

revision = "0009_river_requests"
down_revision = "0008_indieauth"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this step."""
    op.add_column("river_feeds", sa.Column("leads_to", sa.String(), nullable=True))
    op.add_column(
        "river_visits", sa.Column("requests", sa.Integer(), nullable=False, server_default="1")
    )
    op.add_column(
        "river_items", sa.Column("details", sa.JSON(), nullable=False, server_default="{}")
    )
