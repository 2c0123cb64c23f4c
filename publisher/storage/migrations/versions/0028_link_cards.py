"""What pages elsewhere are called: the cards of links that stand alone in a post."""

import sqlalchemy as sa
from alembic import op

revision = "0028_link_cards"
down_revision = "0027_unsaved_texts"


def upgrade() -> None:
    """One row an address."""
    texts = [sa.Column(name, sa.String(), nullable=False, server_default="")
             for name in ("title", "description", "site", "picture")]  # fmt: skip
    op.create_table(
        "link_cards",
        sa.Column("url", sa.String(), primary_key=True),
        *texts,
        sa.Column("wanted", sa.Boolean(), nullable=False, index=True),
    )
