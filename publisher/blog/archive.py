"""The archive: the months with posts, and the titles of one month; the addresses of a sitemap."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Any

from sqlalchemy import Select, bindparam, func, select, type_coerce
from sqlalchemy.orm import Session
from sqlalchemy.types import NullType

from publisher.base.dates import EARLIEST_YEAR, LATEST_YEAR
from publisher.base.errors import NotFound
from publisher.base.text import first_words
from publisher.blog.published import older_than, public
from publisher.storage.tables.blog import Post, listed

PAGE = 300
_BEFORE = Post.published_at < bindparam("start")
_INSIDE = (Post.published_at >= bindparam("start"), Post.published_at < bindparam("end"))
# How many posts from `start` to `end`, and when the newest one before them was published.
_COUNT = select(
    select(func.count()).select_from(Post).where(listed(), *_INSIDE).scalar_subquery(),
    select(func.max(Post.published_at)).where(listed(), _BEFORE).scalar_subquery(),
)


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
    """A month of the author's calendar; NotFound for one that does not exist."""
    if not (EARLIEST_YEAR <= year <= LATEST_YEAR and 1 <= month <= 12):
        raise NotFound("there is no such month")
    start = datetime(year, month, 1, tzinfo=zone)
    end = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=zone)
    return Month(year, month, start, end)


def months(session: Session, zone: tzinfo) -> list[Month]:
    """The months with posts, newest first.

    One query each, in the index alone, counts a month and finds the month with posts before it.
    """
    counted: list[Month] = []
    newest = session.scalar(select(func.max(Post.published_at)).where(listed()))
    connection = session.connection()
    while newest is not None:
        local = newest.astimezone(zone)
        month = month_of(local.year, local.month, zone)
        posts, newest = connection.execute(_COUNT, {"start": month.start, "end": month.end}).one()
        counted.append(replace(month, posts=posts))
    return counted


def lines(session: Session, month: Month, before: Post | None = None) -> list[ListedPost]:
    """The posts of a month, newest first; those older than `before` where given."""
    query = _lines().where(Post.published_at >= month.start, Post.published_at < month.end)
    if before is not None:
        query = query.where(older_than(before))
    query = query.order_by(Post.published_at.desc(), Post.id.desc()).limit(PAGE)
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


# sitemaps.org allows 50,000 addresses a file; the site's own pages come on top.
SITEMAP_PART = 45_000
SITEMAP_STEP = 1_000


def sitemap_parts(session: Session) -> int:
    """The number of files. Posts are divided by number, so that none moves to another file."""
    return -(-(session.scalar(select(func.max(Post.id))) or 1) // SITEMAP_PART)


def sitemap_entries(session: Session, part: int, after: int) -> Sequence[Any]:
    """The next few posts and pages of one part (from 1) with a number above `after`: id, kind, slug
    and changed_at, in UTC as the database gives it (SQLite a text, PostgreSQL a naive instant)."""
    first, last = (part - 1) * SITEMAP_PART, part * SITEMAP_PART
    changed = type_coerce(Post.changed_at, NullType).label("changed_at")
    query = select(Post.id, Post.kind, Post.slug, changed).where(
        Post.id > max(after, first),
        Post.id <= last,
        public(by_status=False),
    )
    rows = session.connection().execute(query.order_by(Post.id).limit(SITEMAP_STEP))
    return rows.all()
