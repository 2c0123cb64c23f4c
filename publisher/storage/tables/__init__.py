"""The tables: columns only, no behaviour, no defaults that read a clock.

One module a room that owns them, and one for those who may log in. All are loaded together, as
foreign keys go across rooms.
"""

from publisher.storage.columns import Base
from publisher.storage.tables import blog, credentials, mirror, publishing, readers, river

__all__ = ["blog", "credentials", "metadata", "mirror", "publishing", "readers", "river"]

metadata = Base.metadata
