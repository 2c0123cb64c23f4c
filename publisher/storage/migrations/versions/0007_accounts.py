"""Tokens have labels, a last use and an end; addresses that logged in keep their way in."""

import sqlalchemy as sa
from alembic import op

from publisher.storage.columns import UtcDateTime

revision = "0007_accounts"
down_revision = "0006_whole_revisions"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this step."""
    op.add_column("api_tokens", sa.Column("label", sa.String(), nullable=False, server_default=""))
    op.add_column("api_tokens", sa.Column("used_at", UtcDateTime(), nullable=True))
    op.add_column("api_tokens", sa.Column("expires_at", UtcDateTime(), nullable=True))
    op.create_table(
        "login_addresses",
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("author_id", sa.Integer(), nullable=False),
        sa.Column("used_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["author_id"],
            ["authors.id"],
            name=op.f("fk_login_addresses_author_id_authors"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("subject", name=op.f("pk_login_addresses")),
    )
    op.create_index(op.f("ix_login_addresses_author_id"), "login_addresses", ["author_id"])
