"""Names of requests that make a post: the same request sent twice makes one post.

A form carries one (`attempt`), a program sends it as the header `Idempotency-Key`. It is claimed in
the transaction that makes the post, and known for a day.
"""

import hashlib
from datetime import datetime, timedelta

from sqlalchemy import delete
from sqlalchemy.orm import Session

from publisher.storage.tables.blog import Attempt, Post

KNOWN = timedelta(days=1)


def find(session: Session, author_id: int, name: str, now: datetime) -> Attempt | None:
    """What an earlier request of this name made, unless it is deleted; None for no name.

    The caller holds the writers' lock, so of two requests at once the second finds the first.
    """
    row = session.get(Attempt, (author_id, _hashed(name))) if name else None
    if row is None or row.made_at <= now - KNOWN:
        return None
    return None if session.get_one(Post, row.post_id).status == "deleted" else row


def note(session: Session, author_id: int, name: str, post: Post, now: datetime) -> None:
    """Remember that the request of this name made `post`."""
    session.execute(delete(Attempt).where(Attempt.made_at <= now - KNOWN))
    if name:
        session.merge(
            Attempt(
                author_id=author_id, name=_hashed(name),
                post_id=post.id, version=post.version, made_at=now,
            )
        )  # fmt: skip


def _hashed(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()
