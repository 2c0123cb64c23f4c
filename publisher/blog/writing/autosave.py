"""Unsaved texts: what authors have typed and not saved, kept as typed and unchecked.

Each tab (`origin`) has one text of each post, in one of three states.
`current`: the editor shows it by itself, as long as the post is not saved.
`replaced`: another text was typed on it (that tab had `seen` its `stamp`), and is current now.
`apart`: it was typed without knowing the current one, and conflicts with it.
What is not current is only offered, for `KEPT_DAYS`.
"""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Select, and_, delete, or_, select
from sqlalchemy.orm import Session

from publisher.base.dates import format_rfc3339
from publisher.base.errors import NotFound, TooLarge
from publisher.base.text import clean
from publisher.blog.writing.content import MAX_SOURCE
from publisher.storage.tables.blog import Post, UnsavedText

BOX = 0  # in place of a post's number: the box on the studio's first page
KEPT_DAYS = 30
MAX_DEVICE = 300
APART = "apart"  # in place of `seen`: older than what is unsaved now


@dataclass(frozen=True)
class Sent:
    """The fields of a form that a tab (`origin`) sent; `seen` is the stamp of the unsaved text that
    they were typed on, `device` the browser's User-Agent."""

    fields: Mapping[str, str]
    origin: str = ""
    seen: str = ""
    device: str = ""


def keep(
    session: Session,
    author_id: int,
    post_id: int,
    base_version: int,
    sent: Sent,
    now: datetime,
    *,
    version: int | None = None,
) -> UnsavedText:
    """Keep what was typed on `base_version` of a post that has `version` now (None: the same).

    Raises TooLarge beyond the length that a post may have.
    """
    fields = {name: clean(text) for name, text in sent.fields.items()}
    if sum(len(text) for text in fields.values()) > 2 * MAX_SOURCE:
        raise TooLarge("this text is too long to be kept")
    newest = base_version if version is None else version
    top = current(session, author_id, post_id, newest)
    own = session.scalar(
        _of_post(author_id, post_id).where(UnsavedText.origin == sent.origin).limit(1)
    )
    if base_version != newest or sent.seen == APART:
        typed_on_current = False
    elif top is None:  # was there one, which is saved or discarded by now?
        typed_on_current = own.state != "replaced" if own else not sent.seen
    else:
        typed_on_current = top is own or sent.seen == stamp(top)
    if own is not None and sent.seen != stamp(own) and not _within(own.fields, fields):
        own.origin, own = f"{sent.origin}-{secrets.token_hex(4)}", None  # a text of its own
    if typed_on_current and top is not None and top is not own:
        top.state = "replaced"
    if not typed_on_current and own is None:  # the same text from a tab whose answer was lost
        rows = session.scalars(_of_post(author_id, post_id))
        if same := next((row for row in rows if row.fields == fields), None):
            return same
    row = own or UnsavedText(author_id=author_id, post_id=post_id, origin=sent.origin)
    session.add(row)
    row.state = "current" if typed_on_current else "apart"
    row.base_version, row.fields, row.saved_at = base_version, fields, now
    row.device = clean(sent.device)[:MAX_DEVICE]
    session.flush()
    return row


def current(session: Session, author_id: int, post_id: int, version: int) -> UnsavedText | None:
    """The text that the editor shows by itself: nothing newer exists, saved or unsaved."""
    return session.scalar(
        _of_post(author_id, post_id)
        .where(UnsavedText.state == "current", UnsavedText.base_version == version)
        .limit(1)
    )


def other_texts(
    session: Session, author_id: int, post_id: int, shown: Mapping[str, str]
) -> list[UnsavedText]:
    """The author's unsaved texts of a post that are not within what the editor shows, newest
    first."""
    rows = session.scalars(_of_post(author_id, post_id))
    return [row for row in rows if not _within(row.fields, shown)]


def everything(session: Session, author_id: int) -> Sequence[UnsavedText]:
    """All unsaved texts of an author, newest first."""
    return session.scalars(
        select(UnsavedText)
        .where(UnsavedText.author_id == author_id)
        .order_by(UnsavedText.saved_at.desc(), UnsavedText.id.desc())
    ).all()


def unsaved(session: Session, author_id: int, post_ids: Iterable[int]) -> dict[int, UnsavedText]:
    """The author's current unsaved texts of these posts, by post."""
    rows = session.scalars(
        select(UnsavedText)
        .join(Post, and_(Post.id == UnsavedText.post_id, Post.version == UnsavedText.base_version))
        .where(
            UnsavedText.author_id == author_id,
            UnsavedText.post_id.in_(post_ids),
            UnsavedText.state == "current",
        )
        .order_by(UnsavedText.saved_at, UnsavedText.id)
    )
    return {row.post_id: row for row in rows}


def saved(session: Session, author_id: int, post_id: int, sent: Sent) -> None:
    """Delete the unsaved texts that a save made superfluous: the tab's own, those of the same text,
    those that were replaced and are within it. What another tab has kept stays."""
    fields = {name: clean(text) for name, text in sent.fields.items()}
    for row in session.scalars(_of_post(author_id, post_id)):
        typed_on = stamp(row) == sent.seen
        within = _within(row.fields, fields)
        same = within and _within(fields, row.fields)
        part = within and (typed_on or row.state == "replaced")
        if same or part or (typed_on and row.origin == sent.origin):
            session.delete(row)
        elif typed_on:
            row.state = "replaced"
    session.flush()


def get(session: Session, author_id: int, number: int) -> UnsavedText:
    """One of the author's unsaved texts; NotFound when there is none of this number."""
    row = session.get(UnsavedText, number)
    if row is None or row.author_id != author_id:
        raise NotFound("this unsaved text is not there any more")
    return row


def choose(session: Session, row: UnsavedText, version: int, now: datetime) -> None:
    """Make a text the current one; the one before stays, as a replaced one."""
    if (top := current(session, row.author_id, row.post_id, version)) is not None:
        top.state = "replaced"
    row.state, row.base_version, row.saved_at = "current", version, now


def forget(session: Session, author_id: int, post_id: int, seen: str) -> None:
    """Delete the unsaved text with this stamp, because somebody discarded it."""
    for row in session.scalars(_of_post(author_id, post_id)):
        if stamp(row) == seen:
            session.delete(row)


def prune(session: Session, now: datetime) -> None:
    """Delete texts that were only offered, after `KEPT_DAYS`."""
    outdated = (
        select(Post.id)
        .where(Post.id == UnsavedText.post_id, Post.version != UnsavedText.base_version)
        .exists()
    )
    session.execute(
        delete(UnsavedText).where(
            UnsavedText.saved_at < now - timedelta(days=KEPT_DAYS),
            or_(UnsavedText.state != "current", outdated),
        )
    )


def stamp(row: UnsavedText | None) -> str:
    """The version of an unsaved text, for `seen`; "" for none."""
    return f"{row.id} {format_rfc3339(row.saved_at)}" if row else ""


def _of_post(author_id: int, post_id: int) -> Select[UnsavedText]:
    return (
        select(UnsavedText)
        .where(UnsavedText.author_id == author_id, UnsavedText.post_id == post_id)
        .order_by(UnsavedText.saved_at.desc(), UnsavedText.id.desc())
    )


def _within(fields: Mapping[str, str], form: Mapping[str, str]) -> bool:
    """Whether each field is part of the other form's, so that nothing is lost without it."""
    return all(text in form.get(name, text) for name, text in fields.items())
