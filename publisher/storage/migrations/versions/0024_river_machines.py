"""IP addresses that are asked now; what autovacuum and the queue of hosts need on a server."""

import sqlalchemy as sa
from alembic import op

from publisher.storage.columns import UtcDateTime

revision = "0024_river_machines"
down_revision = "0023_followed_lists"


def upgrade() -> None:
    """Apply this step."""
    op.create_table(
        "river_machines",
        sa.Column("address", sa.String(), primary_key=True),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("leased_until", UtcDateTime(), nullable=False),
    )
    if op.get_bind().dialect.name == "postgresql":
        # Rows that change at every poll: room beside them, and dead ones swept away early.
        for name in ("river_hosts", "river_machines"):
            op.execute(
                f"ALTER TABLE {name} SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01)"
            )
