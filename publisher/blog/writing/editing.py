"""One submission of the editor: save the content, then draft, schedule or publish the post.

A request that makes a post may have a name, so that one sent twice makes one post: a form carries
it (`attempt`), a program sends it as the header `Idempotency-Key`. It is claimed in the transaction
that makes the post, and known for a day.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, get_args

from sqlalchemy import delete
from sqlalchemy.orm import Session

from publisher.base.errors import FieldErrors, InvalidInput
from publisher.blog.published import is_deleted, is_public
from publisher.blog.writing import autosave, posts
from publisher.blog.writing.content import Content
from publisher.storage.tables.blog import Attempt, Post
from publisher.storage.tables.credentials import Author

PublishAction = Literal["keep", "draft", "now", "later", "back"]
ACTIONS: tuple[PublishAction, ...] = get_args(PublishAction)


@dataclass(frozen=True)
class Intent:
    """The wanted state: `keep` the present one, `draft`, published `now`, or `later` (at `at`); or
    `back`: a published post becomes a draft again.

    A published post gets the date `at` if there is one; `later` with a past date backdates.
    """

    action: PublishAction = "keep"
    at: datetime | None = None
    minor: bool = False


def submit(
    session: Session,
    author: Author,
    post_id: int,
    value: Content,
    base_version: int,
    intent: Intent,
    now: datetime,
    undo_seconds: int,
    sent: autosave.Sent | None = None,
    attempt: str = "",
) -> Post:
    """Save `value` as a new post (`post_id` 0) or over an old one, and carry out `intent`.

    `sent` is the form, whose unsaved text is not needed any more; `attempt` names the request: a
    second one of that name changes what the first one made or saved. A post published "now" enters
    the feed after `undo_seconds`. Raises what saving and publishing raise, and FieldErrors for an
    impossible date.
    """
    _check_schedule(intent)
    made = earlier_attempt(session, author.id, attempt, now)
    if made and sent and not sent.origin:  # without our script: perhaps Back has brought the form
        earlier = posts.get(session, made.post_id)
        made = made if earlier.status == "draft" or earlier.source == value.source else None
    number, version = post_id, base_version
    if made and post_id in (0, made.post_id):
        number, version = made.post_id, max(base_version, made.version)
    if number == 0:
        post = posts.create(session, value, author.id, now)
    else:
        before = posts.editable(session, author, number)
        if intent.action == "back" and is_public(before):
            posts.unpublish(session, before, now)  # first: what is saved now is a draft's
        post = posts.save(session, number, value, version, author.id, now, intent.minor)
        _redate(session, post, intent, post.version != version, now)
    _apply(session, post, intent, now, undo_seconds)
    note_attempt(session, author.id, attempt, post, now)
    if sent is not None:
        for saved_id in {post_id, number}:
            autosave.saved(session, author.id, saved_id, sent)
    return post


def in_undo_window(
    session: Session, author: Author, now: datetime, undo_seconds: int
) -> list[Post]:
    """The author's posts in their undo window: they can still be held back from the feed."""
    soon = posts.due_until(session, now + timedelta(seconds=max(undo_seconds, 1)))
    return [post for post in soon if post.author_id == author.id]


def _check_schedule(intent: Intent) -> None:
    if intent.action != "later":
        return
    if intent.at is None:
        raise FieldErrors({"at": "a date and a time are needed"})
    if intent.at > posts.LATEST_SCHEDULE:
        raise FieldErrors({"at": f"the year must lie before {posts.LATEST_SCHEDULE.year}"})


def _redate(session: Session, post: Post, intent: Intent, saved: bool, now: datetime) -> None:
    """Give a published post the date that was typed; one save counts as one update."""
    if not is_public(post) or intent.at is None or intent.at == post.published_at:
        return
    try:
        posts.redate(session, post, intent.at, now, counted=not (saved or intent.minor))
    except InvalidInput as error:
        raise FieldErrors({"at": str(error)}) from error


def _apply(session: Session, post: Post, intent: Intent, now: datetime, undo_seconds: int) -> None:
    if is_public(post) and intent.action == "draft":  # it went out since the page came
        raise InvalidInput("it is published by now, so readers would see this at once")
    if post.status not in ("draft", "scheduled"):
        return
    soon = now + timedelta(seconds=undo_seconds)
    if intent.action == "now" and (post.scheduled_at is None or post.scheduled_at > soon):
        posts.publish_or_schedule(session, post, soon, now)
    elif intent.action == "later" and intent.at is not None:
        posts.publish_or_schedule(session, post, intent.at, now)
    elif intent.action in ("draft", "back") and post.status == "scheduled":
        posts.unschedule(session, post)


_KNOWN = timedelta(days=1)


def earlier_attempt(session: Session, author_id: int, name: str, now: datetime) -> Attempt | None:
    """What an earlier request of this name made, unless it is deleted; None for no name.

    The caller holds the writers' lock, so of two requests at once the second finds the first.
    """
    row = session.get(Attempt, (author_id, _hashed(name))) if name else None
    if row is None or row.made_at <= now - _KNOWN:
        return None
    return None if is_deleted(session.get_one(Post, row.post_id)) else row


def note_attempt(session: Session, author_id: int, name: str, post: Post, now: datetime) -> None:
    """Remember that the request of this name made `post`."""
    session.execute(delete(Attempt).where(Attempt.made_at <= now - _KNOWN))
    if name:
        session.merge(
            Attempt(
                author_id=author_id, name=_hashed(name),
                post_id=post.id, version=post.version, made_at=now,
            )
        )  # fmt: skip


def _hashed(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()
