"""IP addresses that are asked now; what autovacuum and the queue of hosts need on a server."""

import sqlalchemy as sa
from alembic import op

from publisher.storage.columns import UtcDateTime

revision = "0024_river_machines"
down_revision = "0023_followed_lists"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this step."""
    op.create_table(
        "river_machines",
        sa.Column("address", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("leased_until", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("address", name=op.f("pk_river_machines")),
    )
    if op.get_bind().dialect.name == "postgresql":
        # Rows that change at every poll: room beside them, and dead ones swept away early.
        for name in ("river_hosts", "river_machines"):
            op.execute(
                f"ALTER TABLE {name} SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01)"
            )


def downgrade() -> None:
    """Take this step back."""
    op.drop_table("river_machines")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER TABLE river_hosts RESET (fillfactor, autovacuum_vacuum_scale_factor)")
