"""Tags: which post has which, and when a tag's list of published posts last changed."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import Row, and_, delete, func, insert, select, update
from sqlalchemy.orm import Session

from publisher.base.errors import FieldErrors, must_exist
from publisher.base.text import clean
from publisher.blog.published import is_listed
from publisher.blog.slug_words import tag_slug
from publisher.blog.writing.content_fields import MAX_TAG
from publisher.storage import database
from publisher.storage.tables.blog import Post, PostTag, Tag, TagRedirect


def assign(session: Session, post: Post, names: Iterable[str], now: datetime) -> None:
    """Make `names` the tags of `post`; the lists of its old and new tags count as changed."""
    _stamp(session, post, now)
    session.execute(delete(PostTag).where(PostTag.post_id == post.id))
    assign_all(session, [(post.id, names, post.published_at if is_listed(post) else None)], now)


def assign_all(
    session: Session, rows: Iterable[tuple[int, Iterable[str], datetime | None]], now: datetime
) -> None:
    """Give tags to many posts without tags. A row: the post's number, names of tags, and the date
    if readers see the post."""
    links = [
        (post_id, tag_slug(n), n, shown_at) for post_id, names, shown_at in rows for n in names
    ]
    if not links:
        return
    named = select(Tag.slug, Tag.id).where(Tag.slug.in_({slug for _, slug, _, _ in links}))
    ids = dict(session.execute(named).all())
    missing = {slug: name for _, slug, name, _ in reversed(links) if slug not in ids}
    for slug, name in missing.items():
        session.add(Tag(slug=slug, name=name, changed_at=now))
        _forget_redirect(session, slug)
    session.flush()
    ids = dict(session.execute(named).all())
    pairs = {(post_id, ids[slug]): shown_at for post_id, slug, _, shown_at in links}
    session.execute(
        insert(PostTag),
        [
            {"post_id": post_id, "tag_id": tag_id, "published_at": shown_at}
            for (post_id, tag_id), shown_at in pairs.items()
        ],
    )
    shown = {tag_id for (_, tag_id), shown_at in pairs.items() if shown_at is not None}
    session.execute(
        update(Tag).where(Tag.id.in_(shown), Tag.changed_at < now).values(changed_at=now)
    )


def touch(session: Session, post: Post, now: datetime) -> None:
    """Update the tags' lists after `post` was published, changed or withdrawn."""
    listed = is_listed(post)
    if not listed:
        _stamp(session, post, now)  # the lists that it was in
    session.execute(
        update(PostTag)
        .where(PostTag.post_id == post.id)
        .values(published_at=post.published_at if listed else None)
    )
    if listed:
        _stamp(session, post, now)


def _stamp(session: Session, post: Post, now: datetime) -> None:
    """Note that the lists in which readers see the post have changed; drafts are in none."""
    shown_in = select(PostTag.tag_id).where(
        PostTag.post_id == post.id, PostTag.published_at.is_not(None)
    )
    session.execute(
        update(Tag).where(Tag.id.in_(shown_in), Tag.changed_at < now).values(changed_at=now)
    )


def names_of(session: Session, post_id: int) -> tuple[str, ...]:
    """The names of a post's tags, by slug."""
    query = select(Tag.name).join(PostTag, PostTag.tag_id == Tag.id)
    return tuple(session.scalars(query.where(PostTag.post_id == post_id).order_by(Tag.slug)))


def used(session: Session) -> Sequence[Row[int, str, str, int, int]]:
    """All tags, by name, with how much each is used: `shown` posts that readers see, `posts` with
    drafts; deleted posts do not count."""
    shown, alive = func.count(PostTag.published_at).label("shown"), func.count(Post.id)
    query = (
        select(Tag.id, Tag.name, Tag.slug, shown, alive.label("posts"))
        .outerjoin(PostTag, PostTag.tag_id == Tag.id)
        .outerjoin(Post, and_(Post.id == PostTag.post_id, Post.status != "deleted"))
        .group_by(Tag.id, Tag.name, Tag.slug)
        .order_by(Tag.slug)
    )
    return session.execute(query).all()


def get(session: Session, tag_id: int) -> Tag:
    """The tag with this number; NotFound when there is none."""
    return must_exist(session.get(Tag, tag_id), "there is no such tag")


def rename(session: Session, tag: Tag, name: str, now: datetime) -> Tag | None:
    """Give a tag another name; its old address leads to the new one.

    If another tag has the name, that tag is returned and nothing is changed (see `merge`).
    Raises FieldErrors for an invalid name.
    """
    line = " ".join(clean(name).replace(",", " ").split())
    slug = tag_slug(line)
    if not slug or len(line) > MAX_TAG:
        raise FieldErrors(
            {"name": f"a tag has letters or digits, and at most {MAX_TAG} characters"}
        )
    namesake = session.scalar(select(Tag).where(Tag.slug == slug, Tag.id != tag.id))
    if namesake is not None:
        return namesake
    if slug != tag.slug:
        _lead(session, tag.slug, tag)
        _forget_redirect(session, slug)
    tag.slug, tag.name = slug, line
    _changed(session, tag, now)
    return None


def merge(session: Session, tag: Tag, into: Tag, now: datetime) -> None:
    """Give all posts of `tag` the tag `into` instead; the address of `tag` leads there."""
    both = select(PostTag.post_id).where(PostTag.tag_id == into.id)
    session.execute(delete(PostTag).where(PostTag.tag_id == tag.id, PostTag.post_id.in_(both)))
    session.execute(update(PostTag).where(PostTag.tag_id == tag.id).values(tag_id=into.id))
    session.execute(update(TagRedirect).where(TagRedirect.tag_id == tag.id).values(tag_id=into.id))
    slug = tag.slug
    session.delete(tag)
    session.flush()
    _lead(session, slug, into)
    _changed(session, into, now)


def remove(session: Session, tag: Tag, now: datetime) -> None:
    """Take a tag off all posts that have it."""
    session.execute(delete(PostTag).where(PostTag.tag_id == tag.id))
    session.execute(delete(TagRedirect).where(TagRedirect.tag_id == tag.id))
    session.delete(tag)
    database.content_changed(session)
    session.flush()


def _changed(session: Session, tag: Tag, now: datetime) -> None:
    """Have the feeds rebuilt, because they name tags; this is not an update of any post."""
    tag.changed_at = max(now, tag.changed_at)
    database.content_changed(session)
    session.flush()


def _lead(session: Session, slug: str, tag: Tag) -> None:
    session.merge(TagRedirect(slug=slug, tag_id=tag.id))


def _forget_redirect(session: Session, slug: str) -> None:
    session.execute(delete(TagRedirect).where(TagRedirect.slug == slug))
