"""Old addresses of lists of posts, and where they lead."""

import sqlalchemy as sa
from alembic import op

revision = "0037_moved_lists"
down_revision = "0036_leaders"


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "moved_lists",
        sa.Column("path", sa.String(), nullable=False),
        sa.Column("target", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("path", name=op.f("pk_moved_lists")),
    )
