"""Which slug a post gets: one that no other post has or had."""

import re
import secrets
from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.blog.slug_words import slug_from
from publisher.part import all_parts
from publisher.storage.tables.blog import Post, Redirect

_COUNTED = 20

# First path segments that the site itself and its parts use: no page may have one as its slug.
RESERVED = frozenset(
    """
    archive archives authors cards favicon feed healthz media metrics
    posts preview robots rss search setup sitemap static studio style subscribe tags
    """.split()  # noqa: SIM905 - a list of thirty quoted words is harder to read
).union(*(part.reserved for part in all_parts().values()))


def made_slug(post: Post) -> bool:
    """Whether the post's slug was made from its words, and so may change with them."""
    if post.published_at is not None or post.former_date is not None:
        return False
    made = re.escape(slug_from(post.title, post.source))
    return re.fullmatch(rf"{made}(-[0-9a-f]+)?|note-[0-9a-f]{{8}}", post.slug) is not None


def free_slug(session: Session, wanted: str, post_id: int | None = None) -> str:
    """`wanted`, or `wanted-2`, ... : the first that no other post has or had.

    After a few tries a random suffix is used: many posts called "Untitled" must not slow saving.
    """
    slug, number = wanted, 1
    while slug in RESERVED or _taken(session, slug, post_id):
        number += 1
        slug = f"{wanted}-{number if number <= _COUNTED else secrets.token_hex(4)}"
    return slug


def _taken(session: Session, slug: str, post_id: int | None) -> bool:
    owner = session.scalar(select(Post.id).where(Post.slug == slug))
    if owner is None:
        owner = session.scalar(
            select(Redirect.post_id).where(Redirect.path.in_([f"/posts/{slug}", f"/{slug}"]))
        )
    return owner is not None and owner != post_id


class SlugPool:
    """Slugs for many new posts; reads the used ones from the database once."""

    def __init__(self, session: Session) -> None:
        former = session.scalars(select(Redirect.path)).all()
        self._taken = set(session.scalars(select(Post.slug))) | RESERVED
        self._taken |= {path.removeprefix("/posts").removeprefix("/") for path in former}
        self._numbers: dict[str, int] = {}

    def take(self, wanted: str) -> str:
        """`wanted`, or `wanted-2`, ... : the first that is free; it is never given out again."""
        slug = wanted
        while slug in self._taken:
            self._numbers[wanted] = self._numbers.get(wanted, 1) + 1
            slug = f"{wanted}-{self._numbers[wanted]}"
        self._taken.add(slug)
        return slug

    def take_all(self, session: Session, wanted: Sequence[str]) -> list[str]:
        """`take` each, after checking again in the database, as others may have saved meanwhile."""
        slugs = [self.take(name) for name in wanted]
        while taken := set(session.scalars(select(Post.slug).where(Post.slug.in_(slugs)))):
            self._taken |= taken
            pairs = zip(wanted, slugs, strict=True)
            slugs = [self.take(name) if slug in taken else slug for name, slug in pairs]
        return slugs
