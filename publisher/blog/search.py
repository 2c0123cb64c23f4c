"""Full-text search over published posts and pages, with SQLite's FTS5.

Another database gets its own index behind the same three functions.

Scripts that write no spaces (Chinese, Japanese, Thai ...) are indexed character by character, with
an invisible space between them: a word of the query is then found as a phrase, inside sentences.
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

_GAP = "\u200b"  # zero width space: no part of any word, and not to be seen
# Kana, Han, and the letters of Thai, Lao, Myanmar and Khmer; their marks part words anyway.
_DENSE = re.compile(
    "[\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u1000-\u102a\u1780-\u17b3\u3040-\u30ff"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f]"
)
# A word as people type it; the marks of the scripts above belong to it.
_WORD = re.compile("[\\w\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc\u102b-\u103e\u17b4-\u17d3]+")


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
            _row(post.id, post.title, body(post, plain_text(post.html))),
        )


def body(holder: Any, words: str) -> str:
    """All that can be found of a post besides its title: its plain text, and its other prose.

    `holder` has the fields of a content: a post's row or a content.
    """
    others = (getattr(holder, name) for name in PROSE if name not in ("title", "source"))
    return "\n".join(part for part in (words, *others) if part)


def index_all(session: Session, rows: Iterable[tuple[int, str, str]]) -> None:
    """Add many published posts that are not in the index yet: number, title, body."""
    values = [_row(*row) for row in rows]
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
            "SELECT rowid, snippet(post_search, 1, char(2), char(3), '…', :tokens) FROM post_search"
            " WHERE post_search MATCH :match AND rank MATCH 'bm25(5.0, 1.0)' ORDER BY rank"
            " LIMIT :limit OFFSET :offset"
        ),
        {"match": match, "limit": limit, "offset": offset, "tokens": 60 if _GAP in match else 24},
    )
    return [Hit(post_id, excerpt.replace(_GAP, "")) for post_id, excerpt in rows]


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


def spaced(words: str) -> str:
    """`words` with a gap after each character of a script that writes no spaces."""
    return _DENSE.sub(lambda found: f"{_GAP}{found[0]}{_GAP}", words)


def _row(post_id: int, title: str, words: str) -> dict[str, object]:
    return {"id": post_id, "title": spaced(title), "body": spaced(words)}


def _match(query: str) -> str:
    words = [word for word in _WORD.findall(query) if re.search(r"\w", word)][:12]
    return " ".join(f'"{spaced(word)}"' for word in words) + "*" if words else ""
