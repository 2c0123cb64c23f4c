"""Who reads: polls, readers, served versions, deliveries."""

import sqlalchemy as sa
from alembic import op

from publisher.storage.columns import UtcDateTime

revision = "0003_readers"
down_revision = "0002_river"


def upgrade() -> None:
    """Apply this step."""
    op.create_table(
        "deliveries",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("protocol", sa.String(), nullable=False),
        sa.Column("target", sa.String(), nullable=False),
        sa.Column("topic", sa.String(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("next_at", UtcDateTime(), nullable=True, index=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("delivered_at", UtcDateTime(), nullable=True),
        sa.Column("given_up_at", UtcDateTime(), nullable=True),
        sa.Column("answer", sa.String(), nullable=False),
    )
    op.create_table(
        "document_versions",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("built_at", UtcDateTime(), nullable=False),
        sa.Column("etag", sa.String(), nullable=False),
        sa.Column("last_modified", UtcDateTime(), nullable=False),
        sa.Column("content_hash", sa.String(), nullable=False),
        sa.Column("ttl_minutes", sa.Integer(), nullable=False),
        sa.Column("bytes", sa.Integer(), nullable=False),
        sa.Column("gzip_bytes", sa.Integer(), nullable=False),
    )
    op.create_index("ix_document_versions_time", "document_versions", ["name", "built_at"])
    op.create_table(
        "poll_batches",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
    )
    op.create_table(
        "poll_hours",
        sa.Column("hour", sa.Integer(), autoincrement=False, primary_key=True),
        sa.Column("requests", sa.Integer(), nullable=False),
        sa.Column("not_modified", sa.Integer(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "reader_clients",
        sa.Column("client", sa.BigInteger(), autoincrement=False, primary_key=True),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("subscribers", sa.Integer(), nullable=False),
        sa.Column("subscribers_capped", sa.Boolean(), nullable=False),
        sa.Column("first_at", sa.Double(), nullable=False, index=True),
        sa.Column("last_at", sa.Double(), nullable=False),
    )
    op.create_table(
        "reader_days",
        sa.Column("client", sa.BigInteger(), autoincrement=False, primary_key=True),
        sa.Column("day", sa.Integer(), autoincrement=False, primary_key=True),
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
        sqlite_with_rowid=False,
    )
    op.create_table(
        "reader_feeds",
        sa.Column("client", sa.BigInteger(), autoincrement=False, primary_key=True),
        sa.Column("document", sa.String(), primary_key=True),
        sa.Column("last_at", sa.Double(), nullable=False),
        sa.Column("told_minutes", sa.Integer(), nullable=False),
        sa.Column("seen_at", sa.Double(), nullable=False),
        sa.Column("full_at", sa.Double(), nullable=False),
        sa.Column("asked_back_at", sa.Double(), nullable=True),
    )
    op.create_table(
        "reader_keys",
        sa.Column("week", sa.Integer(), autoincrement=False, primary_key=True),
        sa.Column("key", sa.LargeBinary(), nullable=False),
    )
    op.create_table(
        "post_reach",
        sa.Column(
            "post_id",
            sa.Integer(),
            sa.ForeignKey("posts.id", ondelete="CASCADE"),
            autoincrement=False,
            primary_key=True,
        ),
        sa.Column("published_at", UtcDateTime(), nullable=False, index=True),
        sa.Column("readers", sa.Integer(), nullable=False),
        sa.Column("delays", sa.JSON(), nullable=False),
    )
