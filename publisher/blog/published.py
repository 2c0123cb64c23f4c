"""Published posts: which ones readers see, the queries of every list, full-text search, what parts
are told of them, and addresses that stand alone in a paragraph."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from sqlalchemy import ColumnElement, Select, and_, exists, or_, select
from sqlalchemy.orm import Session, joinedload, selectinload

from publisher.base.errors import Gone, NotFound, must_exist
from publisher.blog.slug_words import tag_slug
from publisher.part import hooked
from publisher.storage.database import parts_of
from publisher.storage.full_text import POSTS
from publisher.storage.tables.blog import (
    PUBLISHED,
    STATUSES,
    MovedList,
    Post,
    PostKind,
    PostStatus,
    PostTag,
    Redirect,
    Tag,
    TagRedirect,
    ever_public,
    listed,
)
from publisher.storage.tables.credentials import Author

AUTHOR_AND_TAGS = joinedload(Post.author), selectinload(Post.tags)  # what a page shows of a post


class HasState(Protocol):
    """A post, or the imported data of one."""

    @property
    def kind(self) -> PostKind:
        """Post or page."""

    @property
    def status(self) -> PostStatus:
        """Draft, scheduled, published or deleted."""


def public(by_status: bool = True) -> ColumnElement[bool]:
    """The condition for what anybody can open: published posts and pages.

    With `by_status` False it is written as "none of the other states". A query that walks posts in
    another order then does not choose the index of the status, which would make it sort all posts.
    """
    if by_status:
        return Post.status == PUBLISHED
    return Post.status.not_in([status for status in STATUSES if status != PUBLISHED])


def is_public(post: HasState) -> bool:
    """Whether anybody can open it; see `public`."""
    return post.status == PUBLISHED


def is_deleted(post: HasState) -> bool:
    """Whether it can only be restored."""
    return post.status == "deleted"


def was_public(post: Post) -> bool:
    """Whether readers may know its address; see `ever_public`."""
    return post.published_at is not None or post.former_date is not None


def is_listed(post: HasState) -> bool:
    """Whether it is in lists and feeds; see `listed`."""
    return post.kind == "post" and is_public(post)


def newest(session: Session, limit: int, before: Post | None = None) -> Sequence[Post]:
    """The newest published posts, with author and tags; only those older than `before` if given."""
    return session.scalars(_older(_published(), before).limit(limit)).all()


def newest_until(session: Session, moment: datetime, limit: int) -> Sequence[Post]:
    """The newest posts that were published at `moment`."""
    return session.scalars(_published().where(Post.published_at <= moment).limit(limit)).all()


def deleted_lately(session: Session, moment: datetime, limit: int) -> list[tuple[str, datetime]]:
    """The guids of published posts that were deleted not later than `moment`, each with the time of
    deletion, the latest first."""
    query = (
        select(Post.guid, Post.deleted_at)
        .where(Post.status == "deleted", Post.kind == "post", Post.published_at.is_not(None))
        .where(Post.deleted_at <= moment)
        .order_by(Post.deleted_at.desc(), Post.id.desc())
        .limit(limit)
    )
    return [(guid, at) for guid, at in session.execute(query) if at is not None]


def with_tag(session: Session, tag: Tag, limit: int, before: Post | None = None) -> Sequence[Post]:
    """The newest published posts of a tag; those older than `before` where given."""
    query = select(Post).join(PostTag, PostTag.post_id == Post.id)
    query = query.where(PostTag.tag_id == tag.id, PostTag.published_at.is_not(None))
    if before is not None:
        same_instant = and_(
            PostTag.published_at == before.published_at, PostTag.post_id < before.id
        )
        query = query.where(or_(PostTag.published_at < before.published_at, same_instant))
    return session.scalars(
        query.order_by(PostTag.published_at.desc(), PostTag.post_id.desc())
        .limit(limit)
        .options(*AUTHOR_AND_TAGS)
    ).all()


def has_sound(session: Session, newest: int) -> bool:
    """Whether one of the newest posts has an audio enclosure; the feed is then a podcast too."""
    rows = select(Post.enclosure_type).where(listed())
    rows = rows.order_by(Post.published_at.desc(), Post.id.desc()).limit(newest)
    return any(kind.startswith("audio/") for kind in session.scalars(rows))


def tag_called(session: Session, name: str) -> Tag:
    """The tag whose slug is or was `name`; NotFound when there is none."""
    slug = tag_slug(name)
    tag = session.scalar(select(Tag).where(Tag.slug == slug))
    if tag is None:
        former = select(Tag).join(TagRedirect, TagRedirect.tag_id == Tag.id)
        tag = session.scalar(former.where(TagRedirect.slug == slug))
    if tag is None:
        raise NotFound("there is no such tag")
    return tag


def authors(session: Session) -> Sequence[Author]:
    """The authors with published posts, oldest account first."""
    return session.scalars(select(Author).where(_has_posts()).order_by(Author.id)).all()


def author_called(session: Session, name: str) -> Author:
    """The author with this name; NotFound, with the same message, if there is none or they have no
    published post."""
    return must_exist(
        session.scalar(select(Author).where(Author.name == name, _has_posts())),
        "there is no such author",
    )


def _has_posts() -> ColumnElement[bool]:
    return exists().where(Post.author_id == Author.id, listed())


def by_author(
    session: Session, author: Author, limit: int, before: Post | None = None
) -> Sequence[Post]:
    """The newest published posts of one author; those older than `before` where given."""
    query = _older(_published(), before).where(Post.author_id == author.id)
    return session.scalars(query.limit(limit)).all()


def shown(session: Session, post_id: int) -> Post:
    """The post with this number that readers see or saw, after which a page of a list begins."""
    post = session.get(Post, post_id)
    if post is None or post.published_at is None:
        raise NotFound("there is no such page")
    return post


def pages(session: Session) -> Sequence[Post]:
    """The published pages, by title."""
    query = select(Post).where(Post.kind == "page", public()).order_by(Post.title, Post.id)
    return session.scalars(query.limit(200)).all()


def between(session: Session, start: datetime, end: datetime) -> Sequence[Post]:
    """Posts published in [start, end), newest first."""
    return session.scalars(
        _published().where(Post.published_at >= start, Post.published_at < end)
    ).all()


def at_path(session: Session, slug: str, kind: str) -> Post:
    """The published post or page with this slug.

    Raises Gone when it was published and is not any more, NotFound otherwise.
    """
    query = select(Post).where(Post.slug == slug, Post.kind == kind)
    post = session.scalar(query.options(*AUTHOR_AND_TAGS))
    if post is None or not (is_public(post) or was_public(post)):
        raise NotFound("there is no such page")
    return _still_public(post)


def moved(session: Session, *paths: str) -> Post | None:
    """The post that an old address redirects to; `paths` are its spellings, the best one first.

    Raises Gone when that post is not public any more.
    """
    rows = session.execute(
        select(Redirect.path, Post)
        .join(Post, Redirect.post_id == Post.id)
        .where(Redirect.path.in_(paths), ever_public())
    )
    posts: dict[str, Post] = {row.path: row.Post for row in rows}
    post = next((posts[path] for path in paths if path in posts), None)
    return None if post is None else _still_public(post)


def moved_list(session: Session, *paths: str) -> str | None:
    """The path of the list, or of its feed, whose old address is one of `paths`; None for none."""
    return session.scalar(select(MovedList.target).where(MovedList.path.in_(paths)).limit(1))


def _still_public(post: Post) -> Post:
    """A post that was published, if it still is; Gone otherwise."""
    if is_deleted(post):
        raise Gone("this post was deleted")
    if not is_public(post):
        raise Gone("this post was taken back by its author")
    return post


def at_address(session: Session, path: str) -> Post | None:
    """The post or page whose address is or was `path`, whatever its state (for its authors)."""
    prefix, _, slug = path.rpartition("/")
    kind = {"/posts": "post", "": "page"}.get(prefix)
    post = session.scalar(select(Post).where(Post.slug == slug, Post.kind == kind))
    if post is None:
        post = session.scalar(select(Post).join(Redirect).where(Redirect.path == path))
    return post


def neighbours(session: Session, post: Post) -> tuple[Post | None, Post | None]:
    """The published posts just before and just after this one."""
    plain = select(Post).where(listed()).limit(1)
    older = plain.where(older_than(post)).order_by(Post.published_at.desc(), Post.id.desc())
    newer = plain.where(
        Post.published_at >= post.published_at,
        or_(Post.published_at > post.published_at, Post.id > post.id),
    ).order_by(Post.published_at, Post.id)
    return session.scalar(older), session.scalar(newer)


def older_than(post: Post) -> ColumnElement[bool]:
    """The condition for posts after `post` in a list, newest first: by date, then by number.

    The first part compares the date alone, so that the index is searched and not scanned.
    """
    same_instant = or_(Post.published_at < post.published_at, Post.id < post.id)
    return and_(Post.published_at <= post.published_at, same_instant)


def _older(query: Select[Post], before: Post | None) -> Select[Post]:
    return query if before is None else query.where(older_than(before))


def _published() -> Select[Post]:
    return (
        select(Post)
        .where(listed())
        .order_by(Post.published_at.desc(), Post.id.desc())
        .options(*AUTHOR_AND_TAGS)
    )


def tell_parts(session: Session, post: Post, path: str, now: datetime, before: str = "") -> None:
    """Tell the parts of a post that has been published, changed, taken back, deleted or restored;
    its HTML was `before`."""
    for tell in hooked(parts_of(session), "public_change"):
        tell(session, post, path, now, before)


# A paragraph of sanitised HTML that is an address alone, of a page or a video; `markdown_extras`
# marks it.
ALONE = re.compile(r'<p class="(card|video)"><a href="(https?://[^"\s]{1,2000})">[^<]*</a></p>')


def with_links_shown(session: Session, html: str) -> str:
    """A post's HTML with the addresses that stand alone in it as parts show them."""
    if ALONE.search(html):
        for show in hooked(parts_of(session), "show_links"):
            html = show(session, html)
    return html


search, newest_matching, index_all = POSTS.best, POSTS.newest, POSTS.add
