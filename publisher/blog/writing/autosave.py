"""Autosave: text that an author has typed and not saved yet, kept as typed and unchecked.

A tab sends which autosave it saw last (`seen`): two tabs cannot overwrite each other's text.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from publisher.base.dates import format_rfc3339
from publisher.base.errors import Conflict, TooLarge
from publisher.base.text import clean
from publisher.blog.writing.content import MAX_SOURCE
from publisher.storage.tables.blog import Autosave

BOX = 0  # in place of a post's number: the box on the studio's first page


def keep(
    session: Session,
    author_id: int,
    post_id: int,
    base_version: int,
    fields: Mapping[str, str],
    seen: str,
    now: datetime,
) -> Autosave:
    """Keep what was typed on top of `base_version`; `seen` is the `stamp` this tab last got.

    Raises Conflict when another tab has kept something else meanwhile, TooLarge beyond the
    length that a post may have.
    """
    cleaned = {name: clean(text) for name, text in fields.items()}
    if sum(len(text) for text in cleaned.values()) > 2 * MAX_SOURCE:
        raise TooLarge("this text is too long to be kept")
    row = session.get(Autosave, (author_id, post_id), with_for_update=True)
    if row is None:
        row = Autosave(author_id=author_id, post_id=post_id)
        session.add(row)
    elif seen != stamp(row) and row.fields != cleaned:
        raise Conflict("another tab is open; the text of this one is kept in the browser only")
    row.base_version, row.fields, row.saved_at = base_version, cleaned, now
    session.flush()
    return row


def load(session: Session, author_id: int, post_id: int) -> Autosave | None:
    """The author's autosave of this post, if any."""
    return session.get(Autosave, (author_id, post_id))


def unsaved(session: Session, author_id: int, post_ids: Iterable[int]) -> dict[int, Autosave]:
    """The author's autosaves for these posts, by post."""
    rows = session.scalars(
        select(Autosave).where(Autosave.author_id == author_id, Autosave.post_id.in_(post_ids))
    )
    return {row.post_id: row for row in rows}


def saved(session: Session, author_id: int, post_id: int, source: str, seen: str) -> None:
    """Delete the autosave whose text a form has saved: the one it was typed on, or of the same
    text. What another tab has kept stays."""
    row = load(session, author_id, post_id)
    if row is not None and (seen == stamp(row) or row.fields.get("source") == source):
        forget(session, author_id, post_id)


def forget(session: Session, author_id: int, post_id: int) -> None:
    """Delete the autosave, because its text was discarded."""
    session.execute(
        delete(Autosave).where(Autosave.author_id == author_id, Autosave.post_id == post_id)
    )


def stamp(row: Autosave | None) -> str:
    """The version of an autosave, for `seen`: the time when it was saved, "" for none."""
    return format_rfc3339(row.saved_at) if row else ""
