"""The first schema."""

import sqlalchemy as sa
from alembic import op

from publisher.storage.columns import UtcDateTime

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Apply this step."""
    op.create_table(
        "authors",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("name", sa.String(), nullable=False, unique=True),
        sa.Column("display_name", sa.String(), nullable=False),
        sa.Column("bio", sa.Text(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("password_hash", sa.String(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("disabled_at", UtcDateTime(), nullable=True),
    )
    op.create_table(
        "histogram_slots",
        sa.Column("profile", sa.String(), primary_key=True),
        sa.Column("slot", sa.Integer(), autoincrement=False, primary_key=True),
        sa.Column("weight", sa.Double(), nullable=False),
    )
    op.create_table(
        "histogram_state",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("values", sa.JSON(), nullable=False),
    )
    op.create_table(
        "login_failures",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("failed_at", UtcDateTime(), nullable=False),
    )
    op.create_index("ix_login_failures_subject", "login_failures", ["subject", "failed_at"])
    op.create_table(
        "meta",
        sa.Column("name", sa.String(), primary_key=True),
        sa.Column("value", sa.Text(), nullable=False),
    )
    op.create_table(
        "preferences",
        sa.Column("name", sa.String(), primary_key=True),
        sa.Column("value", sa.Text(), nullable=False),
    )
    op.create_table(
        "snapshots",
        sa.Column("name", sa.String(), primary_key=True),
        sa.Column("serial", sa.Integer(), nullable=False),
        sa.Column("content_type", sa.String(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("body_gzip", sa.LargeBinary(), nullable=False),
        sa.Column("etag", sa.String(), nullable=False),
        sa.Column("last_modified", UtcDateTime(), nullable=False),
        sa.Column("second_shared", sa.Boolean(), nullable=False),
        sa.Column("content_hash", sa.String(), nullable=False),
        sa.Column("content_changed_at", UtcDateTime(), nullable=False),
        sa.Column("ttl_minutes", sa.Integer(), nullable=False),
        sa.Column("decision", sa.JSON(), nullable=False),
        sa.Column("decided_at", UtcDateTime(), nullable=False),
        sa.Column("built_at", UtcDateTime(), nullable=False),
    )
    op.create_table(
        "tags",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("slug", sa.String(), nullable=False, unique=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("changed_at", UtcDateTime(), nullable=False),
    )
    op.create_table(
        "api_tokens",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("token_hash", sa.String(), nullable=False, unique=True),
        sa.Column(
            "author_id",
            sa.Integer(),
            sa.ForeignKey("authors.id", ondelete="CASCADE"),
            nullable=False,
            index=True,
        ),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
    )
    op.create_table(
        "autosaves",
        sa.Column(
            "author_id",
            sa.Integer(),
            sa.ForeignKey("authors.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("post_id", sa.Integer(), autoincrement=False, primary_key=True),
        sa.Column("base_version", sa.Integer(), nullable=False),
        sa.Column("saved_at", UtcDateTime(), nullable=False),
        sa.Column("fields", sa.JSON(), nullable=False),
    )
    op.create_table(
        "login_sessions",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("token_hash", sa.String(), nullable=False, unique=True),
        sa.Column(
            "author_id",
            sa.Integer(),
            sa.ForeignKey("authors.id", ondelete="CASCADE"),
            nullable=False,
            index=True,
        ),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("agent", sa.String(), nullable=False),
    )
    op.create_table(
        "media",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("digest", sa.String(), nullable=False, unique=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("content_type", sa.String(), nullable=False),
        sa.Column("extension", sa.String(), nullable=False),
        sa.Column("bytes", sa.Integer(), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.Column("widths", sa.JSON(), nullable=False),
        sa.Column("alt", sa.String(), nullable=False),
        sa.Column("author_id", sa.Integer(), sa.ForeignKey("authors.id"), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
    )
    op.create_table(
        "posts",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("guid", sa.String(), nullable=False, unique=True),
        sa.Column("guid_is_permalink", sa.Boolean(), nullable=False),
        sa.Column("slug", sa.String(), nullable=False, unique=True),
        sa.Column("author_id", sa.Integer(), sa.ForeignKey("authors.id"), nullable=True),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("source_format", sa.String(), nullable=False),
        sa.Column("html", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("enclosure_url", sa.String(), nullable=False),
        sa.Column("enclosure_type", sa.String(), nullable=False),
        sa.Column("enclosure_bytes", sa.Integer(), nullable=False),
        sa.Column("enclosure_seconds", sa.Integer(), nullable=False),
        sa.Column("preview_token", sa.String(), nullable=False, unique=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("changed_at", UtcDateTime(), nullable=False),
        sa.Column("scheduled_at", UtcDateTime(), nullable=True),
        sa.Column("published_at", UtcDateTime(), nullable=True),
        sa.Column("deleted_at", UtcDateTime(), nullable=True),
        sa.Column("deleted_status", sa.String(), nullable=False),
    )
    op.create_index("ix_posts_author", "posts", ["author_id", "status", "published_at"])
    op.create_index("ix_posts_changed", "posts", ["status", "changed_at"])
    op.create_index("ix_posts_listing", "posts", ["kind", "status", "published_at", "id"])
    op.create_index("ix_posts_schedule", "posts", ["status", "scheduled_at"])
    when = sa.text("coalesce(published_at, scheduled_at, changed_at)")
    op.create_index("ix_posts_desk", "posts", [when, "id"])
    op.create_index("ix_posts_desk_status", "posts", ["status", when, "id"])
    op.create_index("ix_posts_desk_author", "posts", ["author_id", when, "id"])

    op.create_table(
        "post_tags",
        sa.Column(
            "post_id", sa.Integer(), sa.ForeignKey("posts.id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("tag_id", sa.Integer(), sa.ForeignKey("tags.id"), primary_key=True),
        sa.Column("published_at", UtcDateTime(), nullable=True),
    )
    op.create_index("ix_post_tags_listing", "post_tags", ["tag_id", "published_at", "post_id"])
    op.create_table(
        "redirects",
        sa.Column("path", sa.String(), primary_key=True),
        sa.Column(
            "post_id",
            sa.Integer(),
            sa.ForeignKey("posts.id", ondelete="CASCADE"),
            nullable=False,
            index=True,
        ),
    )
    op.create_table(
        "revisions",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column(
            "post_id", sa.Integer(), sa.ForeignKey("posts.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("author_id", sa.Integer(), sa.ForeignKey("authors.id"), nullable=True),
        sa.Column("saved_at", UtcDateTime(), nullable=False),
        sa.Column("minor", sa.Boolean(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("tags", sa.String(), nullable=False),
        sa.UniqueConstraint("post_id", "version", name=op.f("uq_revisions_post_id")),
    )
    op.create_table(
        "updates",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column(
            "post_id", sa.Integer(), sa.ForeignKey("posts.id", ondelete="SET NULL"), nullable=True
        ),
    )
    op.create_index(op.f("ix_updates_at"), "updates", ["at"])
    op.create_index(op.f("ix_updates_post_id"), "updates", ["post_id"])
    # SQLite's full-text index; another database brings its own (see blog/search.py).
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            "CREATE VIRTUAL TABLE post_search USING fts5"
            "(title, body, tokenize = 'unicode61 remove_diacritics 2')"
        )
