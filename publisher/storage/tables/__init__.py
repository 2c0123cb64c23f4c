"""The tables: columns only, no behaviour, no defaults that read a clock.

One module for each room that owns tables, and one for those who may log in; each imports the
modules whose tables its foreign keys refer to.
"""

from sqlalchemy import MetaData

from publisher import part
from publisher.storage.columns import Base


def all_rooms() -> MetaData:
    """All tables, loaded; most commands load only those of a room or two."""
    # Importing a module registers its tables; that of the blog imports `credentials`.
    from publisher.storage.tables import blog, publishing  # noqa: F401

    part.load_tables()
    return Base.metadata
