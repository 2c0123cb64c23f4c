"""Full-text search over published posts and pages, with SQLite's FTS5.

Another database gets its own index behind the same three functions.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from publisher.base.text import plain_text
from publisher.blog.content import PROSE
from publisher.blog.published import is_public
from publisher.storage.tables.blog import Post


@dataclass(frozen=True)
class Hit:
    """A post that was found; in its plain `excerpt`, matches stand between \\x02 and \\x03."""

    post_id: int
    excerpt: str


def index(session: Session, post: Post) -> None:
    """Bring the index up to date with one post; only published ones can be found."""
    session.execute(text("DELETE FROM post_search WHERE rowid = :id"), {"id": post.id})
    if is_public(post):
        session.execute(
            text("INSERT INTO post_search (rowid, title, body) VALUES (:id, :title, :body)"),
            {"id": post.id, "title": post.title, "body": body(post, plain_text(post.html))},
        )


def body(holder: Any, words: str) -> str:
    """All that can be found of a post besides its title: its plain text, and its other prose.

    `holder` has the fields of a content: a post's row or a content.
    """
    others = (getattr(holder, name) for name in PROSE if name not in ("title", "source"))
    return "\n".join(part for part in (words, *others) if part)


def index_all(session: Session, rows: Iterable[tuple[int, str, str]]) -> None:
    """Add many published posts that are not in the index yet: number, title, body."""
    values = [{"id": post_id, "title": title, "body": body} for post_id, title, body in rows]
    if values:
        session.execute(
            text("INSERT INTO post_search (rowid, title, body) VALUES (:id, :title, :body)"), values
        )


def find(session: Session, query: str, limit: int = 20, offset: int = 0) -> list[Hit]:
    """The best matches for all words of `query` (the last one may be unfinished)."""
    match = _match(query)
    if not match:
        return []
    rows = session.execute(
        text(
            "SELECT rowid, snippet(post_search, 1, char(2), char(3), '…', 24) FROM post_search"
            " WHERE post_search MATCH :match AND rank MATCH 'bm25(5.0, 1.0)' ORDER BY rank"
            " LIMIT :limit OFFSET :offset"
        ),
        {"match": match, "limit": limit, "offset": offset},
    )
    return [Hit(post_id, excerpt) for post_id, excerpt in rows]


def newest(session: Session, query: str, limit: int) -> list[int]:
    """The last posts written that match as in `find`: not weighed, and so quick among many."""
    match = _match(query)
    if not match:
        return []
    rows = session.scalars(
        text(
            "SELECT rowid FROM post_search WHERE post_search MATCH :match"
            " ORDER BY rowid DESC LIMIT :limit"
        ),
        {"match": match, "limit": limit},
    )
    return list(rows)


def _match(query: str) -> str:
    words = re.findall(r"\w+", query)[:12]
    return " ".join(f'"{word}"' for word in words) + "*" if words else ""
