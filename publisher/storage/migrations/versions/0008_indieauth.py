"""IndieAuth: the codes that programs exchange for a token."""

import sqlalchemy as sa
from alembic import op

from publisher.storage.columns import UtcDateTime

revision = "0008_indieauth"
down_revision = "0007_accounts"


def upgrade() -> None:
    """One table; a code lives ten minutes."""
    op.create_table(
        "authorization_codes",
        sa.Column("code_hash", sa.String(), primary_key=True),
        sa.Column(
            "author_id",
            sa.Integer(),
            sa.ForeignKey("authors.id", ondelete="CASCADE"),
            nullable=False,
            index=True,
        ),
        sa.Column("client_id", sa.String(), nullable=False),
        sa.Column("redirect_uri", sa.String(), nullable=False),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("challenge", sa.String(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
    )
