"""A post's own picture; sites that never chose a look keep the one they have."""

import sqlalchemy as sa
from alembic import op

revision = "0026_feature_picture"
down_revision = "0025_files_of_the_web"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Two columns; and the former default look, by its former name, where somebody has begun."""
    for name in ("image", "image_alt"):
        op.add_column("posts", sa.Column(name, sa.String(), nullable=False, server_default=""))
    preferences = sa.table("preferences", sa.column("name"), sa.column("value"))
    authors = sa.table("authors", sa.column("id"))
    database = op.get_bind()
    chosen = sa.select(preferences.c.name).where(preferences.c.name == "look")
    begun = database.execute(sa.select(authors.c.id).limit(1)).first()
    if begun and not database.execute(chosen).first():
        database.execute(sa.insert(preferences).values(name="look", value="calm"))


def downgrade() -> None:
    """Take the columns away."""
    op.drop_column("posts", "image_alt")
    op.drop_column("posts", "image")
