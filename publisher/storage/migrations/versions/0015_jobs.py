"""Long works that are asked for in the studio and done by the scheduler."""

import sqlalchemy as sa
from alembic import op

from publisher.storage.columns import UtcDateTime

revision = "0015_jobs"
down_revision = "0014_dense_scripts"


def upgrade() -> None:
    """One table."""
    op.create_table(
        "jobs",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False, index=True),
        sa.Column(
            "author_id",
            sa.Integer(),
            sa.ForeignKey("authors.id", ondelete="SET NULL"),
            nullable=True,
        ),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("report", sa.JSON(), nullable=False),
        sa.Column("told", sa.String(), nullable=False),
        sa.Column("file", sa.String(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("finished_at", UtcDateTime(), nullable=True),
    )
