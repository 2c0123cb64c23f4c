"""The Markdown source is in the feed of blogs that have begun, and not in that of a new one."""

import sqlalchemy as sa
from alembic import op

revision = "0035_markdown_in_the_feed"
down_revision = "0034_pictures"


def upgrade() -> None:
    """The former default, by name, where somebody has begun and chosen nothing."""
    preferences = sa.table("preferences", sa.column("name"), sa.column("value"))
    authors = sa.table("authors", sa.column("id"))
    database = op.get_bind()
    chosen = sa.select(preferences.c.name).where(preferences.c.name == "source_markdown")
    begun = database.execute(sa.select(authors.c.id).limit(1)).first()
    if begun and not database.execute(chosen).first():
        database.execute(sa.insert(preferences).values(name="source_markdown", value="on"))
