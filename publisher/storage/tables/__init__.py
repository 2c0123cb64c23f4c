"""The tables: columns only, no behaviour, no defaults that read a clock.

One module a room that owns them, and one for those who may log in; each imports those whose rows
its own refer to.
"""

from sqlalchemy import MetaData

from publisher.storage.columns import Base


def all_rooms() -> MetaData:
    """Every table there is; most commands need those of a room or two, and load no more."""
    from publisher.storage.tables import (  # noqa: F401 - a table is known once its module is
        blog,
        credentials,
        mirror,
        publishing,
        readers,
        river,
    )

    return Base.metadata
