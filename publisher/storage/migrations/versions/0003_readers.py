"""Who reads: polls, readers, served versions, deliveries."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from publisher.storage.columns import UtcDateTime

revision = "0003_readers"
down_revision = "0002_river"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this step."""
    op.create_table(
        "deliveries",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("protocol", sa.String(), nullable=False),
        sa.Column("target", sa.String(), nullable=False),
        sa.Column("topic", sa.String(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("next_at", UtcDateTime(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("delivered_at", UtcDateTime(), nullable=True),
        sa.Column("given_up_at", UtcDateTime(), nullable=True),
        sa.Column("answer", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deliveries")),
    )
    with op.batch_alter_table("deliveries", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_deliveries_next_at"), ["next_at"], unique=False)

    op.create_table(
        "document_versions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("built_at", UtcDateTime(), nullable=False),
        sa.Column("etag", sa.String(), nullable=False),
        sa.Column("last_modified", UtcDateTime(), nullable=False),
        sa.Column("content_hash", sa.String(), nullable=False),
        sa.Column("ttl_minutes", sa.Integer(), nullable=False),
        sa.Column("bytes", sa.Integer(), nullable=False),
        sa.Column("gzip_bytes", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_document_versions")),
    )
    with op.batch_alter_table("document_versions", schema=None) as batch_op:
        batch_op.create_index("ix_document_versions_time", ["name", "built_at"], unique=False)

    op.create_table(
        "poll_batches",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_poll_batches")),
    )
    op.create_table(
        "poll_hours",
        sa.Column("hour", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("requests", sa.Integer(), nullable=False),
        sa.Column("not_modified", sa.Integer(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("hour", name=op.f("pk_poll_hours")),
    )
    op.create_table(
        "reader_clients",
        sa.Column("client", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("subscribers", sa.Integer(), nullable=False),
        sa.Column("subscribers_capped", sa.Boolean(), nullable=False),
        sa.Column("first_at", sa.Double(), nullable=False),
        sa.Column("last_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("client", name=op.f("pk_reader_clients")),
    )
    with op.batch_alter_table("reader_clients", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_reader_clients_first_at"), ["first_at"], unique=False)

    op.create_table(
        "reader_days",
        sa.Column("client", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("day", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("requests", sa.Integer(), nullable=False),
        sa.Column("full", sa.Integer(), nullable=False),
        sa.Column("not_modified", sa.Integer(), nullable=False),
        sa.Column("refused", sa.Integer(), nullable=False),
        sa.Column("refused_obeyed", sa.Integer(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("first", sa.Integer(), nullable=False),
        sa.Column("conditional", sa.Integer(), nullable=False),
        sa.Column("stale", sa.Integer(), nullable=False),
        sa.Column("invented", sa.Integer(), nullable=False),
        sa.Column("gzip", sa.Integer(), nullable=False),
        sa.Column("ttl_only", sa.Integer(), nullable=False),
        sa.Column("ttl_only_bytes", sa.BigInteger(), nullable=False),
        sa.Column("saved_by_304_bytes", sa.BigInteger(), nullable=False),
        sa.Column("saved_by_gzip_bytes", sa.BigInteger(), nullable=False),
        sa.Column("intervals", sa.Integer(), nullable=False),
        sa.Column("interval_seconds", sa.BigInteger(), nullable=False),
        sa.Column("on_time", sa.Integer(), nullable=False),
        sa.Column("early", sa.Integer(), nullable=False),
        sa.Column("fast", sa.Integer(), nullable=False),
        sa.Column("told", sa.Text(), nullable=False),
        sa.Column("spans", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("client", "day", name=op.f("pk_reader_days")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "reader_feeds",
        sa.Column("client", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("document", sa.String(), nullable=False),
        sa.Column("last_at", sa.Double(), nullable=False),
        sa.Column("told_minutes", sa.Integer(), nullable=False),
        sa.Column("seen_at", sa.Double(), nullable=False),
        sa.Column("full_at", sa.Double(), nullable=False),
        sa.Column("asked_back_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("client", "document", name=op.f("pk_reader_feeds")),
    )
    op.create_table(
        "reader_keys",
        sa.Column("week", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("week", name=op.f("pk_reader_keys")),
    )
    op.create_table(
        "post_reach",
        sa.Column("post_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("published_at", UtcDateTime(), nullable=False),
        sa.Column("readers", sa.Integer(), nullable=False),
        sa.Column("delays", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["post_id"], ["posts.id"], name=op.f("fk_post_reach_post_id_posts"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("post_id", name=op.f("pk_post_reach")),
    )
    with op.batch_alter_table("post_reach", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_post_reach_published_at"), ["published_at"], unique=False
        )
