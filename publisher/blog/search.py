"""Full-text search over published posts and pages."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy.orm import Session

from publisher.base.text import plain_text
from publisher.blog.published import is_public
from publisher.blog.writing.content import PROSE
from publisher.storage.full_text import FullText, Hit, Row
from publisher.storage.tables.blog import Post

_INDEX = FullText("post_search")


def index(session: Session, post: Post) -> None:
    """Update the index for one post; only published posts are in it."""
    _INDEX.remove(session, [post.id])
    if is_public(post):
        _INDEX.add(session, [(post.id, post.title, body(post, plain_text(post.html)))])


def body(holder: Any, words: str) -> str:
    """The searchable text of a post besides its title: `words`, its plain text, and other prose.

    `holder` has the fields of a content: a post's row or a `Content`.
    """
    others = (getattr(holder, name) for name in PROSE if name not in ("title", "source"))
    return "\n".join(part for part in (words, *others) if part)


def index_all(session: Session, rows: Iterable[Row]) -> None:
    """Add many published posts that are not in the index yet."""
    _INDEX.add(session, rows)


def find(session: Session, query: str, limit: int = 20, offset: int = 0) -> list[Hit]:
    """The best matches for all words of `query` (the last one may be unfinished)."""
    return _INDEX.best(session, query, limit, offset)


def newest(session: Session, query: str, limit: int) -> list[int]:
    """The numbers of the newest posts that match as in `find`."""
    return _INDEX.newest(session, query, limit)
