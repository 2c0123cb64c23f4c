"""The search finds Korean inside words, and one word however its letters are spelled."""

from alembic import op
from sqlalchemy.orm import Session

from publisher.storage.full_text import FullText

revision = "0033_search_spellings"
down_revision = "0032_how_feeds_were_read"


def upgrade() -> None:
    """Posts and items with such letters are indexed anew."""
    with Session(op.get_bind()) as session:
        FullText("post_search").renew(session, "posts")
        FullText("river_search").renew(session, "river_items")
