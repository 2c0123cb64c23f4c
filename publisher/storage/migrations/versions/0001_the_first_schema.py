"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from publisher.storage.columns import UtcDateTime

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this step."""
    op.create_table(
        "authors",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("display_name", sa.String(), nullable=False),
        sa.Column("bio", sa.Text(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("password_hash", sa.String(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("disabled_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_authors")),
        sa.UniqueConstraint("name", name=op.f("uq_authors_name")),
    )
    op.create_table(
        "histogram_slots",
        sa.Column("profile", sa.String(), nullable=False),
        sa.Column("slot", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("weight", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("profile", "slot", name=op.f("pk_histogram_slots")),
    )
    op.create_table(
        "histogram_state",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("values", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_histogram_state")),
    )
    op.create_table(
        "login_failures",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("failed_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_login_failures")),
    )
    with op.batch_alter_table("login_failures", schema=None) as batch_op:
        batch_op.create_index("ix_login_failures_subject", ["subject", "failed_at"], unique=False)

    op.create_table(
        "meta",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_meta")),
    )
    op.create_table(
        "preferences",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_preferences")),
    )
    op.create_table(
        "snapshots",
        sa.Column("name", sa.String(), nullable=False),
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
        sa.PrimaryKeyConstraint("name", name=op.f("pk_snapshots")),
    )
    op.create_table(
        "tags",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("slug", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("changed_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tags")),
        sa.UniqueConstraint("slug", name=op.f("uq_tags_slug")),
    )
    op.create_table(
        "api_tokens",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("token_hash", sa.String(), nullable=False),
        sa.Column("author_id", sa.Integer(), nullable=False),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["author_id"],
            ["authors.id"],
            name=op.f("fk_api_tokens_author_id_authors"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_tokens")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_api_tokens_token_hash")),
    )
    with op.batch_alter_table("api_tokens", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_api_tokens_author_id"), ["author_id"], unique=False)

    op.create_table(
        "autosaves",
        sa.Column("author_id", sa.Integer(), nullable=False),
        sa.Column("post_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("base_version", sa.Integer(), nullable=False),
        sa.Column("saved_at", UtcDateTime(), nullable=False),
        sa.Column("fields", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["author_id"],
            ["authors.id"],
            name=op.f("fk_autosaves_author_id_authors"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("author_id", "post_id", name=op.f("pk_autosaves")),
    )
    op.create_table(
        "login_sessions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("token_hash", sa.String(), nullable=False),
        sa.Column("author_id", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("agent", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["author_id"],
            ["authors.id"],
            name=op.f("fk_login_sessions_author_id_authors"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_login_sessions")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_login_sessions_token_hash")),
    )
    with op.batch_alter_table("login_sessions", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_login_sessions_author_id"), ["author_id"], unique=False
        )

    op.create_table(
        "media",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("content_type", sa.String(), nullable=False),
        sa.Column("extension", sa.String(), nullable=False),
        sa.Column("bytes", sa.Integer(), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.Column("widths", sa.JSON(), nullable=False),
        sa.Column("alt", sa.String(), nullable=False),
        sa.Column("author_id", sa.Integer(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["author_id"], ["authors.id"], name=op.f("fk_media_author_id_authors")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_media")),
        sa.UniqueConstraint("digest", name=op.f("uq_media_digest")),
    )
    op.create_table(
        "posts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("guid", sa.String(), nullable=False),
        sa.Column("guid_is_permalink", sa.Boolean(), nullable=False),
        sa.Column("slug", sa.String(), nullable=False),
        sa.Column("author_id", sa.Integer(), nullable=True),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("source_format", sa.String(), nullable=False),
        sa.Column("html", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("enclosure_url", sa.String(), nullable=False),
        sa.Column("enclosure_type", sa.String(), nullable=False),
        sa.Column("enclosure_bytes", sa.Integer(), nullable=False),
        sa.Column("enclosure_seconds", sa.Integer(), nullable=False),
        sa.Column("preview_token", sa.String(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("changed_at", UtcDateTime(), nullable=False),
        sa.Column("scheduled_at", UtcDateTime(), nullable=True),
        sa.Column("published_at", UtcDateTime(), nullable=True),
        sa.Column("deleted_at", UtcDateTime(), nullable=True),
        sa.Column("deleted_status", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["author_id"], ["authors.id"], name=op.f("fk_posts_author_id_authors")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_posts")),
        sa.UniqueConstraint("guid", name=op.f("uq_posts_guid")),
        sa.UniqueConstraint("preview_token", name=op.f("uq_posts_preview_token")),
        sa.UniqueConstraint("slug", name=op.f("uq_posts_slug")),
    )
    with op.batch_alter_table("posts", schema=None) as batch_op:
        batch_op.create_index(
            "ix_posts_author", ["author_id", "status", "published_at"], unique=False
        )
        batch_op.create_index("ix_posts_changed", ["status", "changed_at"], unique=False)
        batch_op.create_index(
            "ix_posts_listing", ["kind", "status", "published_at", "id"], unique=False
        )
        batch_op.create_index("ix_posts_schedule", ["status", "scheduled_at"], unique=False)
    when = sa.text("coalesce(published_at, scheduled_at, changed_at)")
    op.create_index("ix_posts_desk", "posts", [when, "id"])
    op.create_index("ix_posts_desk_status", "posts", ["status", when, "id"])
    op.create_index("ix_posts_desk_author", "posts", ["author_id", when, "id"])

    op.create_table(
        "post_tags",
        sa.Column("post_id", sa.Integer(), nullable=False),
        sa.Column("tag_id", sa.Integer(), nullable=False),
        sa.Column("published_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["post_id"], ["posts.id"], name=op.f("fk_post_tags_post_id_posts"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["tag_id"], ["tags.id"], name=op.f("fk_post_tags_tag_id_tags")),
        sa.PrimaryKeyConstraint("post_id", "tag_id", name=op.f("pk_post_tags")),
    )
    with op.batch_alter_table("post_tags", schema=None) as batch_op:
        batch_op.create_index(
            "ix_post_tags_listing", ["tag_id", "published_at", "post_id"], unique=False
        )

    op.create_table(
        "redirects",
        sa.Column("path", sa.String(), nullable=False),
        sa.Column("post_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["post_id"], ["posts.id"], name=op.f("fk_redirects_post_id_posts"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("path", name=op.f("pk_redirects")),
    )
    with op.batch_alter_table("redirects", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_redirects_post_id"), ["post_id"], unique=False)

    op.create_table(
        "revisions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("post_id", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("author_id", sa.Integer(), nullable=True),
        sa.Column("saved_at", UtcDateTime(), nullable=False),
        sa.Column("minor", sa.Boolean(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("tags", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["author_id"], ["authors.id"], name=op.f("fk_revisions_author_id_authors")
        ),
        sa.ForeignKeyConstraint(
            ["post_id"], ["posts.id"], name=op.f("fk_revisions_post_id_posts"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_revisions")),
        sa.UniqueConstraint("post_id", "version", name=op.f("uq_revisions_post_id")),
    )
    op.create_table(
        "updates",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("post_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["post_id"], ["posts.id"], name=op.f("fk_updates_post_id_posts"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_updates")),
    )
    with op.batch_alter_table("updates", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_updates_at"), ["at"], unique=False)
        batch_op.create_index(batch_op.f("ix_updates_post_id"), ["post_id"], unique=False)

    # SQLite's full-text index; another database brings its own (see blog/search.py).
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            "CREATE VIRTUAL TABLE post_search USING fts5"
            "(title, body, tokenize = 'unicode61 remove_diacritics 2')"
        )


def downgrade() -> None:
    """Take this step back."""
    op.execute("DROP TABLE IF EXISTS post_search")
    with op.batch_alter_table("updates", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_updates_post_id"))
        batch_op.drop_index(batch_op.f("ix_updates_at"))

    op.drop_table("updates")
    op.drop_table("revisions")
    with op.batch_alter_table("redirects", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_redirects_post_id"))

    op.drop_table("redirects")
    with op.batch_alter_table("post_tags", schema=None) as batch_op:
        batch_op.drop_index("ix_post_tags_listing")

    op.drop_table("post_tags")
    with op.batch_alter_table("posts", schema=None) as batch_op:
        batch_op.drop_index("ix_posts_schedule")
        batch_op.drop_index("ix_posts_listing")
        batch_op.drop_index("ix_posts_changed")
        batch_op.drop_index("ix_posts_author")

    op.drop_table("posts")
    op.drop_table("media")
    with op.batch_alter_table("login_sessions", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_login_sessions_author_id"))

    op.drop_table("login_sessions")
    op.drop_table("autosaves")
    with op.batch_alter_table("api_tokens", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_api_tokens_author_id"))

    op.drop_table("api_tokens")
    op.drop_table("tags")
    op.drop_table("snapshots")
    op.drop_table("preferences")
    op.drop_table("meta")
    with op.batch_alter_table("login_failures", schema=None) as batch_op:
        batch_op.drop_index("ix_login_failures_subject")

    op.drop_table("login_failures")
    op.drop_table("histogram_state")
    op.drop_table("histogram_slots")
    op.drop_table("authors")
