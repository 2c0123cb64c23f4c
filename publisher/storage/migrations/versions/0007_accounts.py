"""Tokens have labels, a last use and an end; addresses that logged in keep their way in."""

import sqlalchemy as sa
from alembic import op

from publisher.storage.columns import UtcDateTime

revision = "0007_accounts"
down_revision = "0006_whole_revisions"


def upgrade() -> None:
    """Apply this step."""
    op.add_column("api_tokens", sa.Column("label", sa.String(), nullable=False, server_default=""))
    op.add_column("api_tokens", sa.Column("used_at", UtcDateTime(), nullable=True))
    op.add_column("api_tokens", sa.Column("expires_at", UtcDateTime(), nullable=True))
    op.create_table(
        "login_addresses",
        sa.Column("subject", sa.String(), primary_key=True),
        sa.Column(
            "author_id",
            sa.Integer(),
            sa.ForeignKey("authors.id", ondelete="CASCADE"),
            nullable=False,
            index=True,
        ),
        sa.Column("used_at", UtcDateTime(), nullable=False),
    )
