"""Parts of a fold that are to be written have a table; they were flushes with numbers below 0."""

import sqlalchemy as sa
from alembic import op

revision = "0040_fold_parts"
down_revision = "0039_reader_follows"


def upgrade() -> None:
    """Make the table, and move the parts."""
    op.create_table(
        "fold_parts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_fold_parts")),
    )
    op.execute(
        "INSERT INTO fold_parts (payload) SELECT payload FROM poll_flushes WHERE id < 0 ORDER BY id"
    )
    op.execute("DELETE FROM poll_flushes WHERE id < 0")
