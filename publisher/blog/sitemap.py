"""The sitemap: the addresses of all published posts, in files of 45,000."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from publisher.blog.published import public
from publisher.storage.tables.blog import Post

PART = 45_000  # sitemaps.org allows 50,000 addresses a file; the site's own pages come on top
STEP = 1_000


@dataclass(frozen=True)
class SitemapEntry:
    """A post or page that readers see: its number, what makes its address, its last change."""

    id: int
    kind: str
    slug: str
    changed_at: datetime


def parts(session: Session) -> int:
    """How many files the posts fill: by number, so that a post never moves to another file."""
    return -(-(session.scalar(select(func.max(Post.id))) or 1) // PART)


def entries(session: Session, part: int, after: int = 0) -> list[SitemapEntry]:
    """The next few addresses of one part (from 1), those of posts with a number above `after`."""
    first, last = (part - 1) * PART, part * PART
    query = select(Post.id, Post.kind, Post.slug, Post.changed_at).where(
        Post.id > max(after, first),
        Post.id <= last,
        public(by_status=False),
    )
    return [SitemapEntry(*row) for row in session.execute(query.order_by(Post.id).limit(STEP))]
