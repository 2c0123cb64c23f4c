"""IndieAuth: the codes that programs exchange for a token."""

import sqlalchemy as sa
from alembic import op

from publisher.storage.columns import UtcDateTime

revision = "0008_indieauth"
down_revision = "0007_accounts"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """One table; a code lives ten minutes."""
    op.create_table(
        "authorization_codes",
        sa.Column("code_hash", sa.String(), primary_key=True),
        sa.Column("author_id", sa.Integer(), nullable=False),
        sa.Column("client_id", sa.String(), nullable=False),
        sa.Column("redirect_uri", sa.String(), nullable=False),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("challenge", sa.String(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["author_id"],
            ["authors.id"],
            name="fk_authorization_codes_author_id_authors",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("code_hash", name="pk_authorization_codes"),
    )
    op.create_index("ix_authorization_codes_author_id", "authorization_codes", ["author_id"])
