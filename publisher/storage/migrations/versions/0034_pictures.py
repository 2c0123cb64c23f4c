"""What stays of a post's picture where it is cut, and whether neighbouring pictures become rows."""

import sqlalchemy as sa
from alembic import op

revision = "0034_pictures"
down_revision = "0033_search_spellings"


def upgrade() -> None:
    """Posts that are there keep their look: their pictures stand one below the other."""
    for name, value in (("image_focus", "center"), ("gallery", "off")):
        column = sa.Column(name, sa.String(), nullable=False, server_default=value)
        op.add_column("posts", column)
