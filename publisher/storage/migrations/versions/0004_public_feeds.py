"""Subscriptions are private unless their owner shows them; existing sites are told once."""

import sqlalchemy as sa
from alembic import op

revision = "0004_public_feeds"
down_revision = "0003_readers"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this step."""
    op.add_column(
        "river_feeds",
        sa.Column("public", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
    meta = sa.table("meta", sa.column("name", sa.String), sa.column("value", sa.Text))
    feeds = op.get_bind().execute(sa.text("SELECT count(*) FROM river_feeds")).scalar()
    if feeds:
        op.execute(meta.insert().values(name="river_made_private", value=str(feeds)))
