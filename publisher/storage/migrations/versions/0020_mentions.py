"""Mentions: pages elsewhere that link to posts here."""

import sqlalchemy as sa
from alembic import op

from publisher.storage.columns import UtcDateTime

revision = "0020_mentions"
down_revision = "0019_readers_of_mirrors"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this step."""
    op.create_table(
        "mentions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("post_id", sa.Integer(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("target", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("said", sa.String(), nullable=False),
        sa.Column("author", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.Column("received_at", UtcDateTime(), nullable=False),
        sa.Column("next_at", UtcDateTime(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["post_id"], ["posts.id"], name=op.f("fk_mentions_post_id_posts"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mentions")),
        sa.UniqueConstraint("source", "post_id", name=op.f("uq_mentions_source")),
    )
    op.create_index(op.f("ix_mentions_post_id"), "mentions", ["post_id"])
    op.create_index(op.f("ix_mentions_next_at"), "mentions", ["next_at"])
