"""Files of river items are of the web: an address of another kind could run a script."""

import sqlalchemy as sa
from alembic import op

revision = "0025_files_of_the_web"
down_revision = "0024_river_machines"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Take away what JSON feeds could give before their addresses were looked at."""
    items = sa.table(
        "river_items", sa.column("id", sa.Integer()), sa.column("enclosures", sa.JSON())
    )
    as_text = sa.cast(items.c.enclosures, sa.Text)
    suspects = sa.select(items).where(
        as_text.not_like('[["http://%') & as_text.not_like('[["https://%') & (as_text != "[]")
        | as_text.like("%script:%")
        | as_text.like("%data:%")
    )
    for row in op.get_bind().execute(suspects).all():
        files = [file for file in row.enclosures if file[0].startswith(("http://", "https://"))]
        op.get_bind().execute(sa.update(items).where(items.c.id == row.id).values(enclosures=files))


def downgrade() -> None:
    """Nothing to take back: what was taken away is not missed."""
