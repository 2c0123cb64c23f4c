"""Tags: which post has which, and when a tag's list of published posts last changed."""

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import delete, insert, select, update
from sqlalchemy.orm import Session

from publisher.blog.published import is_listed
from publisher.blog.slugs import slugify
from publisher.storage.tables.blog import Post, PostTag, Tag


def assign(session: Session, post: Post, names: Iterable[str], now: datetime) -> None:
    """Make `names` the tags of `post`; the lists of all tags concerned count as changed."""
    touch(session, post, now)
    session.execute(delete(PostTag).where(PostTag.post_id == post.id))
    tag_ids = [_find_or_add(session, name, now).id for name in names]
    if tag_ids:
        session.execute(insert(PostTag), [{"post_id": post.id, "tag_id": id_} for id_ in tag_ids])
    touch(session, post, now)


def assign_all(
    session: Session, rows: Iterable[tuple[int, Iterable[str], datetime | None]], now: datetime
) -> None:
    """Give many posts that have none their tags: number, names, date of those readers can see."""
    links = [(post_id, slugify(n), n, shown_at) for post_id, names, shown_at in rows for n in names]
    ids = {slug: id_ for id_, slug in session.execute(select(Tag.id, Tag.slug))}
    missing = {slug: name for _, slug, name, _ in reversed(links) if slug not in ids}
    for slug, name in missing.items():
        session.add(Tag(slug=slug, name=name, changed_at=now))
    session.flush()
    ids = {slug: id_ for id_, slug in session.execute(select(Tag.id, Tag.slug))}
    pairs = {(post_id, ids[slug]): shown_at for post_id, slug, _, shown_at in links}
    if pairs:
        session.execute(
            insert(PostTag),
            [
                {"post_id": post_id, "tag_id": tag_id, "published_at": shown_at}
                for (post_id, tag_id), shown_at in pairs.items()
            ],
        )
    session.execute(
        update(Tag)
        .where(Tag.id.in_({tag_id for _, tag_id in pairs}), Tag.changed_at < now)
        .values(changed_at=now)
    )


def touch(session: Session, post: Post, now: datetime) -> None:
    """Bring the tags' lists up to date after `post` was published, changed or withdrawn."""
    _stamp(session, post, now)
    session.execute(
        update(PostTag)
        .where(PostTag.post_id == post.id)
        .values(published_at=post.published_at if is_listed(post) else None)
    )
    _stamp(session, post, now)


def _stamp(session: Session, post: Post, now: datetime) -> None:
    """The lists in which readers see the post have changed; drafts change nothing."""
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


def _find_or_add(session: Session, name: str, now: datetime) -> Tag:
    slug = slugify(name)
    tag = session.scalar(select(Tag).where(Tag.slug == slug))
    if tag is None:
        tag = Tag(slug=slug, name=name, changed_at=now)
        session.add(tag)
        session.flush()
    return tag
