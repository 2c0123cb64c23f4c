"""The months in which something was published, and one month's posts in a line each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any

from sqlalchemy import Select, and_, func, select
from sqlalchemy.orm import Session

from publisher.blog.excerpts import first_words
from publisher.blog.listing import older_than
from publisher.errors import NotFound
from publisher.storage.models import Post

PAGE = 300
_SHOWN = (Post.kind == "post", Post.status == "published")


@dataclass(frozen=True)
class Month:
    """A month of the author's calendar: [start, end) as instants, and how many posts."""

    year: int
    month: int
    start: datetime
    end: datetime
    posts: int = 0


@dataclass(frozen=True)
class Line:
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
    """The months with posts, newest first: two steps through the index for each."""
    found: list[Month] = []
    latest = session.scalar(select(func.max(Post.published_at)).where(*_SHOWN))
    while latest is not None:
        local = latest.astimezone(zone)
        month = month_of(local.year, local.month, zone)
        inside = (Post.published_at >= month.start, Post.published_at < month.end)
        number = session.scalar(select(func.count()).select_from(Post).where(*_SHOWN, *inside))
        found.append(Month(month.year, month.month, month.start, month.end, number or 0))
        earlier = select(func.max(Post.published_at)).where(*_SHOWN)
        latest = session.scalar(earlier.where(Post.published_at < month.start))
    return found


def lines(
    session: Session, month: Month, before: Post | None = None, limit: int = PAGE
) -> list[Line]:
    """The posts of a month, newest first; those older than `before` where given."""
    query = _lines().where(Post.published_at >= month.start, Post.published_at < month.end)
    if before is not None:
        query = query.where(older_than(before))
    query = query.order_by(Post.published_at.desc(), Post.id.desc()).limit(limit)
    return [_line(row) for row in session.execute(query)]


def lines_of(session: Session, post_ids: Sequence[int]) -> dict[int, Line]:
    """The published posts and pages with these numbers."""
    query = _lines(pages=True).where(Post.id.in_(post_ids))
    return {line.id: line for line in map(_line, session.execute(query))}


def _lines(pages: bool = False) -> Select[Any]:
    beginning = func.substr(Post.html, 1, 2000)
    query = select(Post.id, Post.kind, Post.slug, Post.title, beginning, Post.published_at)
    return query.where(Post.status == "published" if pages else and_(*_SHOWN))


def _line(row: Any) -> Line:
    post_id, kind, slug, title, beginning, published_at = row
    words = title or first_words(beginning) or slug
    return Line(post_id, kind, slug, words, bool(title), published_at)
