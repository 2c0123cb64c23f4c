"""What programs do to posts, through Micropub and XML-RPC alike: create once, publish, move."""

from datetime import datetime

from sqlalchemy.orm import Session

from publisher.base.errors import Conflict, InvalidInput
from publisher.blog.published import is_public
from publisher.blog.writing import editing, posts, revisions
from publisher.blog.writing.content import Content, from_plain, same
from publisher.storage.tables.blog import Post
from publisher.storage.tables.credentials import ApiToken
from publisher.web.context import now

STAYS = "a published post stays published and has a date; it can be deleted"


def created(
    db: Session, token: ApiToken, value: Content, name: str, publish: bool, moment: datetime | None
) -> Post:
    """A new post, published (at `moment`) or a draft; or what an earlier request `name` made.

    Raises Conflict when that one had another content, which would be dropped without a word.
    """
    if made := editing.earlier_attempt(db, token.author_id, name, now()):
        post = posts.get(db, made.post_id)
        first = Content(**from_plain(revisions.get(db, post, made.version).content))
        if not same(value, first, but=("slug",)):
            raise Conflict("Idempotency-Key: a request of this name made a post of another content")
        return post
    post = posts.create(db, value, token.author_id, now())
    if publish:
        posts.publish(db, post, moment or now(), now())
    editing.note_attempt(db, token.author_id, name, post, now())
    return post


def set_state(db: Session, post: Post, publish: bool, moment: datetime | None, saved: bool) -> None:
    """Publish a post, make it a draft, or give it another date; None keeps that of a public one.

    `saved`: its content was changed too, which is counted as an update already.
    """
    if is_public(post):
        if not publish:
            raise InvalidInput(STAYS)
        if moment is not None:
            posts.redate(db, post, moment, now(), counted=not saved)
        return
    if post.status == "scheduled":
        posts.unschedule(db, post)
    if publish:
        posts.publish(db, post, moment or now(), now())
