"""Mirrors: feeds of other sites, served from here."""

import sqlalchemy as sa
from alembic import op

from publisher.storage.columns import UtcDateTime

revision = "0013_mirrors"
down_revision = "0012_access_logs"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this step."""
    moments = (
        "asked_at", "next_poll_at", "last_polled_at", "last_good_at", "last_new_at",
        "content_changed_at", "hub_asked_at", "hub_until",
    )  # fmt: skip
    texts = (
        "asked_by", "problem", "title", "content_type", "content_hash", "history", "hub_url",
        "hub_topic", "hub_key", "hub_secret",
    )  # fmt: skip
    long = ("problem", "title", "history", "hub_url", "hub_topic")
    op.create_table(
        "mirrors",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("timezone", sa.String(), nullable=False),
        sa.Column("token_hash", sa.String(), nullable=False),
        sa.Column("added_at", UtcDateTime(), nullable=False),
        *(sa.Column(name, UtcDateTime(), nullable=True) for name in moments),
        *(
            sa.Column(name, sa.Text() if name in long else sa.String(), nullable=False)
            for name in texts
        ),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("undated", sa.Boolean(), nullable=False),
        sa.Column("etag", sa.String(), nullable=True),
        sa.Column("last_modified", sa.String(), nullable=True),
        sa.Column("validators_url", sa.String(), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_mirrors")),
    )
