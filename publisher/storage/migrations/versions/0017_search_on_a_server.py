"""Full-text indexes for PostgreSQL; SQLite has had its own since the first schema."""

from alembic import op

revision = "0017_search_on_a_server"
down_revision = "0016_river_reading"
branch_labels = None
depends_on = None

INDEXES = ("post_search", "river_search")


def upgrade() -> None:
    """Make the tables that `storage/full_text.py` speaks of."""
    if op.get_bind().dialect.name != "postgresql":
        return
    for name in INDEXES:
        op.execute(
            f"CREATE TABLE {name} (id bigint PRIMARY KEY, body text NOT NULL,"
            " words tsvector NOT NULL)"
        )
        op.execute(f"CREATE INDEX ix_{name}_words ON {name} USING gin (words)")


def downgrade() -> None:
    """Take this step back."""
    if op.get_bind().dialect.name == "postgresql":
        for name in INDEXES:
            op.execute(f"DROP TABLE {name}")
