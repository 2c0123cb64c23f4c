"""The content serial: a number that grows with each change of what readers can be shown.

It is written in the transaction of the change itself, and each build notes which one it has seen.
So a build that misses a change knows it, whatever the clocks say: also a change that began before
the build and was committed after it, and one whose process was killed before its own build.
"""

from sqlalchemy.orm import Session

from publisher.storage.tables.blog import Meta

_NAME = "content_serial"


def current(session: Session) -> int:
    """How many changes are committed, those of this transaction included."""
    row = session.get(Meta, _NAME, populate_existing=True)
    return int(row.value) if row else 0


def grow(session: Session) -> None:
    """Note a change, in its own transaction (a writer holds the write lock, so none is lost)."""
    row = session.get(Meta, _NAME, with_for_update=True)
    if row is None:
        session.add(Meta(name=_NAME, value="1"))
    else:
        row.value = str(int(row.value) + 1)
