"""The river's tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from publisher.storage.columns import UtcDateTime

revision = "0002_river"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this step."""
    op.create_table(
        "river_crawl_visits",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("group", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Float(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("extra", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_river_crawl_visits")),
    )
    op.create_index(
        "ix_river_crawl_visits_digest", "river_crawl_visits", ["digest", "epoch"], unique=False
    )
    op.create_table(
        "river_crawls",
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("visits", sa.Integer(), nullable=False),
        sa.Column("last_visit_epoch", sa.Float(), nullable=False),
        sa.Column("last_hash", sa.Text(), nullable=False),
        sa.Column("estimated_frequency_seconds", sa.Integer(), nullable=True),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_river_crawls")),
    )
    op.create_table(
        "river_feeds",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("url", sa.String(), nullable=False),
        sa.Column("added_url", sa.String(), nullable=False),
        sa.Column("host", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("site_url", sa.String(), nullable=False),
        sa.Column("folder", sa.String(), nullable=False),
        sa.Column("policy", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("merged_into", sa.Integer(), nullable=True),
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
        sa.ForeignKeyConstraint(
            ["merged_into"], ["river_feeds.id"], name=op.f("fk_river_feeds_merged_into_river_feeds")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_river_feeds")),
        sa.UniqueConstraint("url", name=op.f("uq_river_feeds_url")),
    )
    op.create_index(
        "ix_river_feeds_due", "river_feeds", ["host", "state", "next_poll_at"], unique=False
    )
    op.create_table(
        "river_hosts",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("free_at", UtcDateTime(), nullable=True),
        sa.Column("owner", sa.String(), nullable=True),
        sa.Column("rested_at", UtcDateTime(), nullable=True),
        sa.Column("not_before", UtcDateTime(), nullable=True),
        sa.Column("delay_seconds", sa.Double(), nullable=False),
        sa.Column("strikes", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_river_hosts")),
    )
    op.create_index(op.f("ix_river_hosts_free_at"), "river_hosts", ["free_at"], unique=False)
    op.create_table(
        "river_items",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("feed_id", sa.Integer(), nullable=False),
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
        sa.ForeignKeyConstraint(
            ["feed_id"],
            ["river_feeds.id"],
            name=op.f("fk_river_items_feed_id_river_feeds"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_river_items")),
    )
    op.create_index(
        "ix_river_items_feed", "river_items", ["feed_id", "pruned", "shown_at", "id"], unique=False
    )
    op.create_index(
        "ix_river_items_fingerprint", "river_items", ["feed_id", "fingerprint"], unique=False
    )
    op.create_index("ix_river_items_key", "river_items", ["feed_id", "key"], unique=True)
    op.create_index(
        "ix_river_items_listing", "river_items", ["pruned", "shown_at", "id"], unique=False
    )
    op.create_table(
        "river_moves",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("feed_id", sa.Integer(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("from_url", sa.String(), nullable=False),
        sa.Column("to_url", sa.String(), nullable=False),
        sa.Column("undone_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["feed_id"],
            ["river_feeds.id"],
            name=op.f("fk_river_moves_feed_id_river_feeds"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_river_moves")),
    )
    op.create_index(op.f("ix_river_moves_feed_id"), "river_moves", ["feed_id"], unique=False)
    op.create_table(
        "river_readers",
        sa.Column("author_id", sa.Integer(), nullable=False),
        sa.Column("read_until", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["author_id"],
            ["authors.id"],
            name=op.f("fk_river_readers_author_id_authors"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("author_id", name=op.f("pk_river_readers")),
    )
    op.create_table(
        "river_visits",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("feed_id", sa.Integer(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("conditional", sa.Boolean(), nullable=False),
        sa.Column("size_bytes", sa.Integer(), nullable=False),
        sa.Column("new_items", sa.Integer(), nullable=False),
        sa.Column("content_hash", sa.LargeBinary(), nullable=False),
        sa.Column("told_seconds", sa.Integer(), nullable=True),
        sa.Column("problem", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["feed_id"],
            ["river_feeds.id"],
            name=op.f("fk_river_visits_feed_id_river_feeds"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_river_visits")),
    )
    op.create_index("ix_river_visits_at", "river_visits", ["at"], unique=False)
    op.create_index("ix_river_visits_feed", "river_visits", ["feed_id", "at"], unique=False)
    op.create_table(
        "river_reads",
        sa.Column("author_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("read", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["author_id"],
            ["authors.id"],
            name=op.f("fk_river_reads_author_id_authors"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["item_id"],
            ["river_items.id"],
            name=op.f("fk_river_reads_item_id_river_items"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("author_id", "item_id", name=op.f("pk_river_reads")),
    )
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            "CREATE VIRTUAL TABLE river_search USING fts5(title, body, tokenize = 'unicode61 remove_diacritics 2')"
        )


def downgrade() -> None:
    """Take this step back."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TABLE river_search")

    op.drop_table("river_reads")
    op.drop_table("river_visits")
    op.drop_table("river_readers")
    op.drop_table("river_moves")
    op.drop_table("river_items")
    op.drop_table("river_hosts")
    op.drop_table("river_feeds")
    op.drop_table("river_crawls")
    op.drop_table("river_crawl_visits")
