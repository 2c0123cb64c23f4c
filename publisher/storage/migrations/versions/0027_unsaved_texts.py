"""Unsaved texts: one of each tab, not one of each post; the names of requests that made a post."""

import sqlalchemy as sa
from alembic import op

from publisher.storage.columns import UtcDateTime

revision = "0027_unsaved_texts"
down_revision = "0026_feature_picture"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this step; what is autosaved moves over."""
    op.create_table(
        "unsaved_texts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("author_id", sa.Integer(), nullable=False),
        sa.Column("post_id", sa.Integer(), nullable=False),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("base_version", sa.Integer(), nullable=False),
        sa.Column("device", sa.String(), nullable=False),
        sa.Column("saved_at", UtcDateTime(), nullable=False),
        sa.Column("fields", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["author_id"], ["authors.id"], name=op.f("fk_unsaved_texts_author_id_authors"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_unsaved_texts")),
    )  # fmt: skip
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
        sa.Column("author_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("post_id", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("made_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["author_id"], ["authors.id"], name=op.f("fk_attempts_author_id_authors"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["post_id"], ["posts.id"], name=op.f("fk_attempts_post_id_posts"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("author_id", "name", name=op.f("pk_attempts")),
    )  # fmt: skip
    op.create_index(op.f("ix_attempts_post_id"), "attempts", ["post_id"])
    op.create_index(op.f("ix_attempts_made_at"), "attempts", ["made_at"])


def downgrade() -> None:
    """Take this step back; of the texts of one post, the current one moves back."""
    op.drop_table("attempts")
    op.create_table(
        "autosaves",
        sa.Column("author_id", sa.Integer(), nullable=False),
        sa.Column("post_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("base_version", sa.Integer(), nullable=False),
        sa.Column("saved_at", UtcDateTime(), nullable=False),
        sa.Column("fields", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["author_id"], ["authors.id"], name=op.f("fk_autosaves_author_id_authors"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("author_id", "post_id", name=op.f("pk_autosaves")),
    )  # fmt: skip
    op.execute(
        "INSERT INTO autosaves (author_id, post_id, base_version, saved_at, fields)"
        " SELECT author_id, post_id, base_version, saved_at, fields FROM unsaved_texts"
        " WHERE id IN (SELECT MAX(id) FROM unsaved_texts WHERE state = 'current'"
        " GROUP BY author_id, post_id)"
    )
    op.drop_table("unsaved_texts")
