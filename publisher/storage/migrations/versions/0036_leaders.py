"""Which machine schedules: a lease that the leader renews while its jobs work."""

import sqlalchemy as sa
from alembic import op

revision = "0036_leaders"
down_revision = "0035_markdown_in_the_feed"


def upgrade() -> None:
    """One row for each kind of work that one machine does for all."""
    op.create_table(
        "leaders",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("renewed_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_leaders")),
    )
