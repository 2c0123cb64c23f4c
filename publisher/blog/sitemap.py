"""The sitemap: the addresses of all published posts, in files of 45,000."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import func, select, type_coerce
from sqlalchemy.orm import Session
from sqlalchemy.types import NullType

from publisher.blog.published import public
from publisher.storage.tables.blog import Post

PART = 45_000  # sitemaps.org allows 50,000 addresses a file; the site's own pages come on top
STEP = 1_000


class SitemapEntry(NamedTuple):
    """A post or page that readers see: its number, kind and slug, and its last change."""

    id: int
    kind: str
    slug: str
    changed_at: datetime | str
    """In UTC, as the database gives it: SQLite a text, PostgreSQL a naive instant."""

    @property
    def changed_text(self) -> str:
        """The last change as by `format_rfc3339`, from either type, in a third of the time."""
        return f"{str(self.changed_at).replace(' ', 'T').removesuffix('.000000')}Z"


def parts(session: Session) -> int:
    """The number of files. Posts are divided by number, so that none moves to another file."""
    return -(-(session.scalar(select(func.max(Post.id))) or 1) // PART)


def entries(session: Session, part: int, after: int = 0) -> list[SitemapEntry]:
    """The next few addresses of one part (from 1), those of posts with a number above `after`."""
    first, last = (part - 1) * PART, part * PART
    changed = type_coerce(Post.changed_at, NullType)
    query = select(Post.id, Post.kind, Post.slug, changed).where(
        Post.id > max(after, first),
        Post.id <= last,
        public(by_status=False),
    )
    rows = session.connection().execute(query.order_by(Post.id).limit(STEP))
    return [SitemapEntry._make(row) for row in rows.all()]
