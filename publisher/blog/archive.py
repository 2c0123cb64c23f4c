"""The archive: the months with posts, and the titles of one month."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Any

from sqlalchemy import ScalarSelect, Select, func, select
from sqlalchemy.orm import Session

from publisher.base.errors import NotFound
from publisher.base.text import first_words
from publisher.blog.published import listed, older_than, public
from publisher.storage.tables.blog import Post

PAGE = 300
_AT_ONCE = 60  # months in one question


@dataclass(frozen=True)
class Month:
    """A month of the author's calendar: [start, end) as instants, and how many posts."""

    year: int
    month: int
    start: datetime
    end: datetime
    posts: int = 0


@dataclass(frozen=True)
class ListedPost:
    """A post in a list of titles; `slug` and `kind` make its address."""

    id: int
    kind: str
    slug: str
    title: str
    titled: bool
    published_at: datetime


def month_of(year: int, month: int, zone: tzinfo) -> Month:
    """A month of the author's calendar; NotFound for one that no calendar has."""
    if not (1970 <= year <= 2199 and 1 <= month <= 12):
        raise NotFound("there is no such month")
    start = datetime(year, month, 1, tzinfo=zone)
    end = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=zone)
    return Month(year, month, start, end)


def months(session: Session, zone: tzinfo) -> list[Month]:
    """The months with posts, newest first: each is counted in the index alone."""
    ends = select(func.min(Post.published_at), func.max(Post.published_at)).where(listed())
    first, last = session.execute(ends).one()
    if first is None or last is None:
        return []
    begin, end = first.astimezone(zone), last.astimezone(zone)
    calendar = [
        month_of(number // 12, number % 12 + 1, zone)
        for number in range(end.year * 12 + end.month - 1, begin.year * 12 + begin.month - 2, -1)
    ]
    counted: list[Month] = []
    for start in range(0, len(calendar), _AT_ONCE):
        some = calendar[start : start + _AT_ONCE]
        numbers = session.execute(select(*(_number(month) for month in some))).one()
        counted += [replace(month, posts=n) for month, n in zip(some, numbers, strict=True) if n]
    return counted


def _number(month: Month) -> ScalarSelect[int]:
    inside = (Post.published_at >= month.start, Post.published_at < month.end)
    return select(func.count()).select_from(Post).where(listed(), *inside).scalar_subquery()


def lines(
    session: Session, month: Month, before: Post | None = None, limit: int = PAGE
) -> list[ListedPost]:
    """The posts of a month, newest first; those older than `before` where given."""
    query = _lines().where(Post.published_at >= month.start, Post.published_at < month.end)
    if before is not None:
        query = query.where(older_than(before))
    query = query.order_by(Post.published_at.desc(), Post.id.desc()).limit(limit)
    return [_line(row) for row in session.execute(query)]


def lines_of(session: Session, post_ids: Sequence[int]) -> dict[int, ListedPost]:
    """The published posts and pages with these numbers."""
    query = _lines(pages=True).where(Post.id.in_(post_ids))
    return {line.id: line for line in map(_line, session.execute(query))}


def _lines(pages: bool = False) -> Select[Any]:
    beginning = func.substr(Post.html, 1, 2000)
    query = select(Post.id, Post.kind, Post.slug, Post.title, beginning, Post.published_at)
    return query.where(public() if pages else listed())


def _line(row: Any) -> ListedPost:
    post_id, kind, slug, title, beginning, published_at = row
    words = title or first_words(beginning) or slug
    return ListedPost(post_id, kind, slug, words, bool(title), published_at)
