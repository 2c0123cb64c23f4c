"""Readers are told apart by what they send back; polls by program and day; who came after a ping."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0010_readers_told_apart"
down_revision = "0009_river_requests"
branch_labels = None
depends_on = None

_FEED_COLUMNS: tuple[tuple[str, Any, Any], ...] = (
    ("max_age", sa.Integer(), "0"),
    ("tag", sa.Text(), ""),
    ("tag_before", sa.Text(), ""),
    ("returned", sa.Boolean(), sa.false()),
    ("foreign", sa.Boolean(), sa.true()),
    ("rhythm", sa.Double(), "0"),
    ("given", sa.JSON(), "[]"),
    ("origin", sa.BigInteger(), "0"),
)


def upgrade() -> None:
    """Readers of before keep their numbers, which were the hashes of where they were seen."""
    op.create_table(
        "reader_origins",
        sa.Column("origin", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("client", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("last_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("origin", "client", name=op.f("pk_reader_origins")),
    )
    op.create_index("ix_reader_origins_client", "reader_origins", ["client"])
    op.create_index("ix_reader_origins_last_at", "reader_origins", ["last_at"])
    op.execute(
        "INSERT INTO reader_origins (origin, client, last_at)"
        " SELECT client, client, last_at FROM reader_clients WHERE client <> 0"
    )
    for name, kind, default in _FEED_COLUMNS:
        op.add_column("reader_feeds", sa.Column(name, kind, nullable=False, server_default=default))
    op.execute("UPDATE reader_feeds SET max_age = told_minutes * 60")
    op.create_index("ix_reader_feeds_tag", "reader_feeds", ["tag"])
    for name in ("heads", "unsure"):
        op.add_column(
            "reader_days", sa.Column(name, sa.Integer(), nullable=False, server_default="0")
        )
    op.add_column(
        "post_reach", sa.Column("programs", sa.JSON(), nullable=False, server_default="{}")
    )
    op.create_table(
        "program_days",
        sa.Column("day", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("requests", sa.Integer(), nullable=False),
        sa.Column("not_modified", sa.Integer(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("day", "name", name=op.f("pk_program_days")),
    )
    op.create_table(
        "push_arrivals",
        sa.Column("delivery_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("hub", sa.Integer(), nullable=False),
        sa.Column("delays", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["delivery_id"],
            ["deliveries.id"],
            name=op.f("fk_push_arrivals_delivery_id_deliveries"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("delivery_id", name=op.f("pk_push_arrivals")),
    )
