"""What a reader that obeys came by last: the ttl element or the headers."""

import sqlalchemy as sa
from alembic import op

revision = "0039_reader_follows"
down_revision = "0038_read_anew"


def upgrade() -> None:
    """One column: 0 until it is known."""
    op.add_column(
        "reader_feeds", sa.Column("follows", sa.Integer(), nullable=False, server_default="0")
    )
