"""The river's tables."""

import sqlalchemy as sa
from alembic import op

from publisher.storage.columns import UtcDateTime

revision = "0002_river"
down_revision = "0001"


def upgrade() -> None:
    """Apply this step."""
    op.create_table(
        "river_crawl_visits",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("group", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Float(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("extra", sa.Text(), nullable=True),
    )
    op.create_index("ix_river_crawl_visits_digest", "river_crawl_visits", ["digest", "epoch"])
    op.create_table(
        "river_crawls",
        sa.Column("digest", sa.LargeBinary(), primary_key=True),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("visits", sa.Integer(), nullable=False),
        sa.Column("last_visit_epoch", sa.Float(), nullable=False),
        sa.Column("last_hash", sa.Text(), nullable=False),
        sa.Column("estimated_frequency_seconds", sa.Integer(), nullable=True),
        sa.Column("state", sa.LargeBinary(), nullable=False),
    )
    op.create_table(
        "river_feeds",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("url", sa.String(), nullable=False, unique=True),
        sa.Column("added_url", sa.String(), nullable=False),
        sa.Column("host", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("site_url", sa.String(), nullable=False),
        sa.Column("folder", sa.String(), nullable=False),
        sa.Column("policy", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("merged_into", sa.Integer(), sa.ForeignKey("river_feeds.id"), nullable=True),
        sa.Column("added_at", UtcDateTime(), nullable=False),
        sa.Column("next_poll_at", UtcDateTime(), nullable=True),
        sa.Column("last_polled_at", UtcDateTime(), nullable=True),
        sa.Column("last_success_at", UtcDateTime(), nullable=True),
        sa.Column("last_new_at", UtcDateTime(), nullable=True),
        sa.Column("asked_at", UtcDateTime(), nullable=True),
        sa.Column("gone_at", UtcDateTime(), nullable=True),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("problem", sa.String(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("limited", sa.Integer(), nullable=False),
        sa.Column("etag", sa.String(), nullable=True),
        sa.Column("last_modified", sa.String(), nullable=True),
        sa.Column("validators_url", sa.String(), nullable=True),
        sa.Column("content_hash", sa.LargeBinary(), nullable=False),
        sa.Column("window", sa.LargeBinary(), nullable=False),
        sa.Column("memory", sa.JSON(), nullable=True),
        sa.Column("reasons", sa.JSON(), nullable=False),
        sa.Column("offered_url", sa.String(), nullable=True),
        sa.Column("offered_at", UtcDateTime(), nullable=True),
        sa.Column("offers", sa.Integer(), nullable=False),
        sa.Column("username", sa.String(), nullable=False),
        sa.Column("password", sa.String(), nullable=False),
        sa.Column("auth_scheme", sa.String(), nullable=False),
    )
    op.create_index("ix_river_feeds_due", "river_feeds", ["host", "state", "next_poll_at"])
    op.create_table(
        "river_hosts",
        sa.Column("name", sa.String(), primary_key=True),
        sa.Column("free_at", UtcDateTime(), nullable=True, index=True),
        sa.Column("owner", sa.String(), nullable=True),
        sa.Column("rested_at", UtcDateTime(), nullable=True),
        sa.Column("not_before", UtcDateTime(), nullable=True),
        sa.Column("delay_seconds", sa.Double(), nullable=False),
        sa.Column("strikes", sa.Integer(), nullable=False),
    )
    op.create_table(
        "river_items",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True),
        sa.Column(
            "feed_id",
            sa.Integer(),
            sa.ForeignKey("river_feeds.id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("fingerprint", sa.LargeBinary(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("html", sa.Text(), nullable=False),
        sa.Column("author", sa.String(), nullable=False),
        sa.Column("enclosures", sa.JSON(), nullable=False),
        sa.Column("published_at", UtcDateTime(), nullable=True),
        sa.Column("seen_at", UtcDateTime(), nullable=False),
        sa.Column("changed_at", UtcDateTime(), nullable=True),
        sa.Column("shown_at", UtcDateTime(), nullable=False),
        sa.Column("pruned", sa.Boolean(), nullable=False),
    )
    op.create_index("ix_river_items_feed", "river_items", ["feed_id", "pruned", "shown_at", "id"])
    op.create_index("ix_river_items_fingerprint", "river_items", ["feed_id", "fingerprint"])
    op.create_index("ix_river_items_key", "river_items", ["feed_id", "key"], unique=True)
    op.create_index("ix_river_items_listing", "river_items", ["pruned", "shown_at", "id"])
    op.create_table(
        "river_moves",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column(
            "feed_id",
            sa.Integer(),
            sa.ForeignKey("river_feeds.id", ondelete="CASCADE"),
            nullable=False,
            index=True,
        ),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("from_url", sa.String(), nullable=False),
        sa.Column("to_url", sa.String(), nullable=False),
        sa.Column("undone_at", UtcDateTime(), nullable=True),
    )
    op.create_table(
        "river_readers",
        sa.Column(
            "author_id",
            sa.Integer(),
            sa.ForeignKey("authors.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("read_until", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "river_visits",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True),
        sa.Column(
            "feed_id",
            sa.Integer(),
            sa.ForeignKey("river_feeds.id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("conditional", sa.Boolean(), nullable=False),
        sa.Column("size_bytes", sa.Integer(), nullable=False),
        sa.Column("new_items", sa.Integer(), nullable=False),
        sa.Column("content_hash", sa.LargeBinary(), nullable=False),
        sa.Column("told_seconds", sa.Integer(), nullable=True),
        sa.Column("problem", sa.String(), nullable=False),
    )
    op.create_index("ix_river_visits_at", "river_visits", ["at"])
    op.create_index("ix_river_visits_feed", "river_visits", ["feed_id", "at"])
    op.create_table(
        "river_reads",
        sa.Column(
            "author_id",
            sa.Integer(),
            sa.ForeignKey("authors.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column(
            "item_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            sa.ForeignKey("river_items.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("read", sa.Boolean(), nullable=False),
    )
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            "CREATE VIRTUAL TABLE river_search USING fts5(title, body, tokenize = 'unicode61 remove_diacritics 2')"
        )
