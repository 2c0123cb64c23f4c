"""What pages elsewhere are called: the cards of links that stand alone in a post."""

import sqlalchemy as sa
from alembic import op

revision = "0028_link_cards"
down_revision = "0027_unsaved_texts"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """One row an address."""
    texts = [sa.Column(name, sa.String(), nullable=False, server_default="")
             for name in ("title", "description", "site", "picture")]  # fmt: skip
    op.create_table(
        "link_cards",
        sa.Column("url", sa.String(), nullable=False),
        *texts,
        sa.Column("wanted", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("url", name=op.f("pk_link_cards")),
    )
    op.create_index("ix_link_cards_wanted", "link_cards", ["wanted"])


def downgrade() -> None:
    """Without cards the links stand as they were typed."""
    op.drop_table("link_cards")
