"""The content serial: a counter that grows with each change of what readers can be shown.

It is written in the transaction of the change itself, and each build of the feeds notes the serial
that it has seen. So a change that the feeds lack is noticed without comparing times: also one that
began before the build and was committed after it, or whose process was killed before its own build.
"""

from sqlalchemy.orm import Session

from publisher.storage.tables.blog import Meta

_NAME = "content_serial"


def current(session: Session) -> int:
    """The serial, with the changes of this transaction."""
    row = session.get(Meta, _NAME, populate_existing=True)
    return int(row.value) if row else 0


def grow(session: Session) -> None:
    """Count a change, in its own transaction (a writer holds the write lock, so none is lost)."""
    row = session.get(Meta, _NAME, with_for_update=True)
    if row is None:
        session.add(Meta(name=_NAME, value="1"))
    else:
        row.value = str(int(row.value) + 1)
