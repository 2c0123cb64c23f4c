"""What programs may do to posts, through Micropub and XML-RPC alike: create once, publish, move;
the token of a request, its scope, its rate limit.
"""

from datetime import datetime, timedelta

from flask import current_app, request
from sqlalchemy.orm import Session

from publisher.base.errors import Conflict, InvalidInput, PublisherError
from publisher.blog.members import tokens
from publisher.blog.published import is_public
from publisher.blog.writing import editing, posts, revisions
from publisher.blog.writing.content import Content, from_plain, same
from publisher.storage.tables.blog import Post
from publisher.storage.tables.credentials import ApiToken
from publisher.web.context import bearer_of, now, sent_token
from publisher.web.request_checks import FORM_BYTES, Pace

STAYS = "a published post has a date; send post-status draft to take it back"


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
        posts.publish_or_schedule(db, post, moment or now(), now())
    editing.note_attempt(db, token.author_id, name, post, now())
    return post


def take_back(db: Session, post: Post, publish: bool) -> None:
    """Make a published post a draft again unless `publish`; called before its new text is saved,
    which is then no update."""
    if is_public(post) and not publish:
        posts.unpublish(db, post, now())


def set_state(db: Session, post: Post, publish: bool, moment: datetime | None, saved: bool) -> None:
    """Publish a post, make it a draft, or give it another date; None keeps that of a public one,
    which `take_back` has made a draft if it was to be one.

    `saved`: its content was changed too, which is counted as an update already.
    """
    if is_public(post):
        if moment is not None:
            posts.redate(db, post, moment, now(), counted=not saved)
        return
    if post.status == "scheduled":
        posts.unschedule(db, post)
    if publish:
        posts.publish_or_schedule(db, post, moment or now(), now())


WRITES_PER_MINUTE = 60


class Unauthorized(PublisherError):
    """No usable token: `code` says whether it is missing (or wrong) or lacks a scope."""

    http_status = 401

    def __init__(self, message: str, code: str = "unauthorized") -> None:
        super().__init__(message)
        self.code = code


def authorised() -> ApiToken:
    """The token of this request, from the header or the form (RFC 6750: not from both).

    A large body is read only if a valid token is in the header.
    """
    in_header = sent_token()
    token = bearer_of(in_header) if in_header else None
    if in_header and token is None:
        raise Unauthorized("this access token is not valid")
    if token is None and (request.content_length or 0) > FORM_BYTES:
        raise Unauthorized("a request this large needs its access token in the header")
    is_form = request.method == "POST" and not request.is_json
    in_form = request.form.get("access_token", "") if is_form else ""
    if token is not None and in_form:
        raise InvalidInput("the token is sent twice, in the header and in the form")
    if token is None and not in_form:
        raise Unauthorized("an access token is needed")
    token = token or bearer_of(in_form)
    if token is None:
        raise Unauthorized("this access token is not valid")
    return token


def may_write(scope: str) -> ApiToken:
    """The token of this request; raises without `scope`, and if it writes too often."""
    token = authorised()
    check_scope(token, scope)
    count(token)
    return token


def count(token: ApiToken) -> None:
    """Count one change of a token; TooMany beyond `WRITES_PER_MINUTE`."""
    pace: Pace = current_app.extensions.setdefault(
        "micropub_pace", Pace(WRITES_PER_MINUTE, timedelta(minutes=1))
    )
    pace.check(token.id, now())


def check_scope(token: ApiToken, *scopes: str) -> None:
    """Unauthorized unless the token has one of `scopes`."""
    if not any(tokens.allows(token, scope) for scope in scopes):
        wanted = " or ".join(scopes)
        raise Unauthorized(f"this token does not have the scope {wanted}", "insufficient_scope")
