"""The life cycle of a post: saved, scheduled, published, revised, taken back, deleted, restored.

Only `_publish_now` puts a post into the feed. The button "Publish now" schedules it for the end of
the undo window. `publish_due` publishes the posts that are due, dated as scheduled even if the
program was down then. Every change that readers see records its update in the same transaction.
"""

import secrets
import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from publisher.base.dates import LATEST_YEAR
from publisher.base.errors import Conflict, InvalidInput, must_exist
from publisher.base.text import plain_text
from publisher.blog import published, update_log
from publisher.blog.members import permissions
from publisher.blog.published import is_deleted, is_listed, is_public, was_public
from publisher.blog.slug_words import slug_from
from publisher.blog.slugs import free_slug, made_slug
from publisher.blog.writing import tags
from publisher.blog.writing.content import (
    Content,
    of_post,
    same,
    searchable_text,
    to_columns,
    to_plain,
)
from publisher.installation.settings import load_settings
from publisher.part import hooked
from publisher.storage import database
from publisher.storage.full_text import POSTS
from publisher.storage.tables.blog import Post, Redirect, Revision, UpdateKind
from publisher.storage.tables.credentials import Author

LATEST_SCHEDULE = datetime(LATEST_YEAR, 1, 1, tzinfo=UTC)
BACKDATED = timedelta(minutes=1)  # a post is backdated if its date lies further back than this


def get(session: Session, post_id: int) -> Post:
    """The post with this number; NotFound when there is none."""
    return must_exist(session.get(Post, post_id), f"there is no post {post_id}")


def editable(session: Session, author: Author, post_id: int) -> Post:
    """The post with this number, if `author` may change it; NotFound or Forbidden otherwise."""
    return permissions.required(author, get(session, post_id))


def create(session: Session, value: Content, author_id: int | None, now: datetime) -> Post:
    """A new post, in the state of a draft."""
    post = Post(
        status="draft",
        version=0,
        guid=f"urn:uuid:{uuid.uuid4()}",
        slug=f"draft-{secrets.token_hex(8)}",
        author_id=author_id,
        preview_token=secrets.token_urlsafe(24),
        created_at=now,
        changed_at=now,
    )
    session.add(post)
    session.flush()
    _write(session, post, value, author_id, now)
    return post


def save(
    session: Session,
    post_id: int,
    value: Content,
    base_version: int,
    author_id: int | None,
    now: datetime,
    minor: bool = False,
) -> Post:
    """Replace a post's content by `value`, which was made from version `base_version`.

    For a published post this is an update of the feed unless it is `minor`. Saving an unchanged
    content does nothing. Raises Conflict when somebody else saved or deleted the post meanwhile.
    """
    post = session.get(Post, post_id, with_for_update=True) or get(session, post_id)
    if is_deleted(post):
        raise Conflict("this post has been deleted; restore it, then save again")
    if post.version != base_version:
        raise Conflict(
            f"this post was changed in another tab (version {post.version}, you started from "
            f"{base_version or 'another one'}); your text is still here"
        )
    if same(replace(value, slug=value.slug or post.slug), content(session, post)):
        return post
    _write(session, post, value, author_id, now, minor)
    if is_listed(post) and not minor:
        update_log.record(session, now, "edit", post.id)
    return post


def publish_or_schedule(session: Session, post: Post, at: datetime, now: datetime) -> Post:
    """Publish a draft, dated `at`: at once if `at` is not later than `now`, else when it comes.

    Raises InvalidInput for a time too far away, Conflict for a post that is published already.
    """
    if post.status in ("published", "deleted"):
        raise Conflict(f"this post is {post.status}")
    if at > LATEST_SCHEDULE:
        raise InvalidInput("that date is too far in the future")
    if at <= now:
        # A post that returns was counted at its former date.
        back: UpdateKind = "backdate" if post.former_date is None else "restore"
        _publish_now(session, post, at, now, "publish" if now - at < BACKDATED else back)
    else:
        post.status, post.scheduled_at = "scheduled", at
    return post


def redate(session: Session, post: Post, at: datetime, now: datetime, counted: bool = True) -> None:
    """Give a published post another date, which moves it in feeds, lists and archive.

    The update log keeps the time of the real publication; the change is recorded as another update
    if `counted`. Raises InvalidInput for a date in the future.
    """
    if at > now:
        raise InvalidInput("a published post cannot have a future date; choose an earlier one")
    post.published_at, post.changed_at = at, now
    _update_derived(session, post, now)
    if is_listed(post) and counted:
        update_log.record(session, now, "edit", post.id)


def publish_due(session: Session, now: datetime) -> list[Post]:
    """Publish what was scheduled for `now` or earlier, each at its own time."""
    due = due_until(session, now)
    for post in due:
        _publish_now(session, post, post.scheduled_at or now, now, "publish")
    return due


def due_until(session: Session, moment: datetime) -> list[Post]:
    """The scheduled posts that enter the feed at `moment` or earlier, soonest first."""
    return list(
        session.scalars(
            select(Post)
            .where(Post.status == "scheduled", Post.scheduled_at <= moment)
            .order_by(Post.scheduled_at, Post.id)
        )
    )


def next_due(session: Session) -> datetime | None:
    """When the next scheduled post enters the feed."""
    return session.scalar(select(func.min(Post.scheduled_at)).where(Post.status == "scheduled"))


def unschedule(session: Session, post: Post) -> Post:
    """Make a scheduled post (or one in its undo window) a draft again; records no update."""
    if post.status != "scheduled":
        raise Conflict("it is too late to undo: the post is out")
    post.status, post.scheduled_at = "draft", None
    return post


def unpublish(session: Session, post: Post, now: datetime, as_if_never: bool = False) -> None:
    """Make a published or scheduled post a draft again; records no update, like a minor edit.

    The address of one that was published answers 410, or 404 `as_if_never`. Published again, it has
    the same guid and mentions. Raises Conflict for a post that is not out.
    """
    if is_public(post):
        _take_back(post)
        post.status, post.changed_at = "draft", now
        _update_derived(session, post, now)
        published.tell_parts(session, post, path(post), now)
    elif post.status == "scheduled":
        unschedule(session, post)
    elif not (as_if_never and post.status == "draft" and post.former_date):
        raise Conflict(f"this post is {'a draft already' if post.status == 'draft' else 'deleted'}")
    if as_if_never:
        post.former_date = None


def _take_back(post: Post) -> None:
    post.former_date, post.published_at = post.published_at, None


def delete(session: Session, post: Post, now: datetime) -> None:
    """Delete a post; its address answers 410 if it was published. `restore` undoes this."""
    if is_deleted(post):
        return
    was_visible = is_listed(post)
    post.deleted_status, post.status = post.status, "deleted"
    post.deleted_at = post.changed_at = now
    post.scheduled_at = None
    _update_derived(session, post, now)
    if was_visible:
        update_log.record(session, now, "delete", post.id)
    if post.deleted_status == "published":
        published.tell_parts(session, post, path(post), now)


def restore(session: Session, post: Post, now: datetime, as_draft: bool = False) -> Post:
    """Undo a deletion: a post that was published is published again, unless `as_draft`; any other
    is a draft."""
    if not is_deleted(post):
        return post
    out = post.deleted_status == "published"
    post.status = "published" if out and not as_draft else "draft"
    if out and as_draft:
        _take_back(post)
    post.deleted_at, post.deleted_status, post.changed_at = None, "", now
    _update_derived(session, post, now)
    if is_listed(post):
        update_log.record(session, now, "restore", post.id)
    if is_public(post):
        published.tell_parts(session, post, path(post), now)
    return post


def content(session: Session, post: Post) -> Content:
    """The present content of `post`."""
    return of_post(post, tags.names_of(session, post.id))


def path(post: Post) -> str:
    """The address of a post on its site."""
    return path_of(post.kind, post.slug)


def path_of(kind: str, slug: str) -> str:
    """The address that a post or page with this slug has."""
    return f"/{slug}" if kind == "page" else f"/posts/{slug}"


def _publish_now(
    session: Session, post: Post, at: datetime, now: datetime, kind: UpdateKind
) -> None:
    """Publish a post into the feed, dated `at`, and record an update of that `kind`: at `at`, or of
    one that returns at `now`."""
    post.status, post.scheduled_at, post.published_at = "published", None, at
    post.former_date, post.changed_at = None, now
    _update_derived(session, post, now)
    if is_listed(post):
        update_log.record(session, now if kind == "restore" else at, kind, post.id)
    published.tell_parts(session, post, path(post), now)


def _update_derived(session: Session, post: Post, now: datetime) -> None:
    """Update what is derived from a post: the tags' lists and the search index."""
    database.content_changed(session)
    session.flush()
    tags.touch(session, post, now)
    _index(session, post)


def _write(
    session: Session,
    post: Post,
    value: Content,
    author_id: int | None,
    now: datetime,
    minor: bool = False,
) -> None:
    """Write `value` over the post and keep it as a revision."""
    # Imported here: listing posts or authors needs no Markdown renderer and no highlighter.
    from publisher.blog.markup import markdown

    new = post.version == 0  # without tags, and in no list or index yet
    before, slug_follows = path(post), new or made_slug(post)
    html_before = post.html or ""
    for name, part in to_columns(replace(value, slug=post.slug)).items():
        setattr(post, name, part)
    with session.no_autoflush:  # the post is written once, not before each question
        language = load_settings(session).language
        anchor, rows = f"p{post.id}-", value.gallery == "rows"
        post.html = markdown.html_of(value.source, value.source_format, anchor, language, rows)
        _set_slug(session, post, value, before, slug_follows)
    post.version += 1
    post.changed_at = now
    if is_public(post):
        database.content_changed(session)
    if is_public(post) and not minor and post.html != html_before:
        published.tell_parts(session, post, path(post), now, html_before)
    for tell in hooked(database.parts_of(session), "text_written"):
        tell(session, post)
    session.flush()
    if new:
        tags.assign_all(session, [(post.id, value.tags, None)], now)
    else:
        tags.assign(session, post, value.tags, now)
        _index(session, post)
    session.add(
        Revision(
            post_id=post.id,
            version=post.version,
            author_id=author_id,
            saved_at=now,
            minor=minor,
            content=to_plain(replace(value, slug=post.slug)),
        )
    )


def _set_slug(session: Session, post: Post, value: Content, before: str, follows: bool) -> None:
    """Set the post's slug; if its old address (`before`) was ever public, it redirects."""
    wanted = value.slug
    if not wanted and follows:
        wanted = slug_from(value.title, value.source)
        if not wanted and not post.slug.startswith("note-"):
            wanted = f"note-{secrets.token_hex(4)}"
    if wanted and wanted != post.slug:
        post.slug = free_slug(session, wanted, post.id)
    if path(post) == before:
        return
    if was_public(post):
        session.merge(Redirect(path=before, post_id=post.id))
    back = session.get(Redirect, path(post))
    if back is not None:
        session.delete(back)


def _index(session: Session, post: Post) -> None:
    """Update the index for one post; only published posts are in it."""
    POSTS.remove(session, [post.id])
    if is_public(post):
        POSTS.add(session, [(post.id, post.title, searchable_text(post, plain_text(post.html)))])
