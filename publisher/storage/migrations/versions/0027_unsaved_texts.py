"""Unsaved texts: one of each tab, not one of each post; the names of requests that made a post."""

import sqlalchemy as sa
from alembic import op

from publisher.storage.columns import UtcDateTime

revision = "0027_unsaved_texts"
down_revision = "0026_feature_picture"


def upgrade() -> None:
    """Apply this step; what is autosaved moves over."""
    op.create_table(
        "unsaved_texts",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column(
            "author_id",
            sa.Integer(),
            sa.ForeignKey("authors.id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("post_id", sa.Integer(), nullable=False),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("base_version", sa.Integer(), nullable=False),
        sa.Column("device", sa.String(), nullable=False),
        sa.Column("saved_at", UtcDateTime(), nullable=False),
        sa.Column("fields", sa.JSON(), nullable=False),
    )
    op.create_index(op.f("ix_unsaved_texts_post"), "unsaved_texts", ["author_id", "post_id"])
    op.create_index(op.f("ix_unsaved_texts_saved_at"), "unsaved_texts", ["saved_at"])
    op.execute(
        "INSERT INTO unsaved_texts"
        " (author_id, post_id, origin, state, base_version, device, saved_at, fields)"
        " SELECT author_id, post_id, '', 'current', base_version, '', saved_at, fields"
        " FROM autosaves"
    )
    op.drop_table("autosaves")
    op.create_table(
        "attempts",
        sa.Column(
            "author_id",
            sa.Integer(),
            sa.ForeignKey("authors.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("name", sa.String(), primary_key=True),
        sa.Column(
            "post_id", sa.Integer(), sa.ForeignKey("posts.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("made_at", UtcDateTime(), nullable=False),
    )
    op.create_index(op.f("ix_attempts_post_id"), "attempts", ["post_id"])
    op.create_index(op.f("ix_attempts_made_at"), "attempts", ["made_at"])
