"""The full-text indexes of posts and river items: SQLite's FTS5, PostgreSQL's tsvector.

A query wants all of its words, the last of which may be unfinished (from three letters on). A word
in the title weighs five times one in the body. Scripts that write no spaces (Chinese, Japanese,
Thai ...) are indexed character by character, with an invisible space between them: a word of the
query is then found as a phrase, inside sentences.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import TextualSelect, column, text
from sqlalchemy.orm import Session

MOST_WORDS = 12
# What so many texts say tells none of them apart: then the newest come first. And a beginning of
# one or two letters begins too many words.
COMMON, SHORTEST_BEGINNING = 1_000, 3
LONGEST_BODY = 200_000  # characters that PostgreSQL indexes of a body: a tsvector holds 1 MB

_GAP = "\u200b"  # zero width space: no part of any word, and not to be seen
# Kana, Han, and the letters of Thai, Lao, Myanmar and Khmer; their marks part words anyway.
_DENSE = re.compile(
    "[\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u1000-\u102a\u1780-\u17b3\u3040-\u30ff"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f]"
)
# A word as people type it; the marks of the scripts above belong to it.
_WORD = re.compile("[\\w\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc\u102b-\u103e\u17b4-\u17d3]+")

_FILE_RANK = "AND rank MATCH 'bm25(5.0, 1.0)' ORDER BY rank"
_SERVER_RANK = "ts_rank('{0.2, 0.2, 0.2, 1.0}', words, CAST(:match AS tsquery)) DESC, "

Row = tuple[int, str, str]
"""Number, title and body of what can be found, both plain text."""


@dataclass(frozen=True)
class Hit:
    """What was found; in its plain `excerpt`, matches stand between \\x02 and \\x03."""

    number: int
    excerpt: str


@dataclass(frozen=True)
class FullText:
    """One index, in a table of this name that a migration has made."""

    table: str

    def add(self, session: Session, rows: Iterable[Row]) -> None:
        """Index rows that are not in it yet."""
        longest = LONGEST_BODY if _on_server(session) else None
        values = [
            {"id": number, "title": _spaced(title), "body": _spaced(body[:longest])}
            for number, title, body in rows
        ]
        if not values:
            return
        if _on_server(session):
            statement = (
                f"INSERT INTO {self.table} (id, body, words) VALUES (:id, :body,"
                " setweight(to_tsvector('simple', :title), 'A') || to_tsvector('simple', :body))"
            )
        else:
            statement = f"INSERT INTO {self.table} (rowid, title, body) VALUES (:id, :title, :body)"
        session.execute(text(statement), values)

    def remove(self, session: Session, numbers: Iterable[int]) -> None:
        """Forget rows, whether they are in it or not."""
        values = [{"id": number} for number in numbers]
        if values:
            key = "id" if _on_server(session) else "rowid"
            session.execute(text(f"DELETE FROM {self.table} WHERE {key} = :id"), values)

    def best(self, session: Session, query: str, limit: int, offset: int = 0) -> list[Hit]:
        """The best matches first; of what very many have in common, the newest."""
        if not (match := _match(session, query)):
            return []
        common = self._common(session, match)
        if _on_server(session):
            marks = "StartSel=\x02, StopSel=\x03, MaxFragments=1, MinWords=12, MaxWords=24"
            statement = (
                f"SELECT id, ts_headline('simple', body, CAST(:match AS tsquery), '{marks}')"
                f" FROM {self.table} WHERE words @@ CAST(:match AS tsquery)"
                f" ORDER BY {'' if common else _SERVER_RANK}id DESC LIMIT :limit OFFSET :offset"
            )
        else:
            statement = (
                f"SELECT rowid, snippet({self.table}, 1, char(2), char(3), '…', :tokens)"
                f" FROM {self.table} WHERE {self.table} MATCH :match"
                f" {'ORDER BY rowid DESC' if common else _FILE_RANK} LIMIT :limit OFFSET :offset"
            )
        values: dict[str, object] = {"match": match, "limit": limit, "offset": offset}
        if not _on_server(session):
            values["tokens"] = 60 if _GAP in match else 24
        found = session.execute(text(statement), values)
        return [Hit(number, excerpt.replace(_GAP, "")) for number, excerpt in found]

    def newest(self, session: Session, query: str, limit: int) -> list[int]:
        """The highest numbers that match: not weighed, and so quick among many."""
        if not (match := _match(session, query)):
            return []
        statement = text(f"{self._numbers(session)} ORDER BY 1 DESC LIMIT :limit")
        return list(session.scalars(statement, {"match": match, "limit": limit}))

    def matching(self, session: Session, query: str) -> TextualSelect:
        """The numbers that match, for the condition of another query; none for no words."""
        if not (match := _match(session, query)):
            return text("SELECT 0 WHERE 1 = 0").columns(column("id"))
        return text(self._numbers(session)).bindparams(match=match).columns(column("id"))

    def _common(self, session: Session, match: str) -> bool:
        """Whether more match than can be weighed in passing."""
        some = text(f"SELECT count(*) FROM ({self._numbers(session)} LIMIT :most) AS first_ones")
        return (session.scalar(some, {"match": match, "most": COMMON + 1}) or 0) > COMMON

    def _numbers(self, session: Session) -> str:
        if _on_server(session):
            return f"SELECT id FROM {self.table} WHERE words @@ CAST(:match AS tsquery)"
        return f"SELECT rowid FROM {self.table} WHERE {self.table} MATCH :match"


def _on_server(session: Session) -> bool:
    return session.get_bind().dialect.name == "postgresql"


def _match(session: Session, query: str) -> str:
    words = [word for word in _WORD.findall(query) if re.search(r"\w", word)][:MOST_WORDS]
    if not words:
        return ""
    unfinished = len(words[-1]) >= SHORTEST_BEGINNING or _DENSE.search(words[-1]) is not None
    if _on_server(session):
        return " & ".join(map(_phrase, words)) + ":*" * unfinished
    return " ".join(f'"{_spaced(word)}"' for word in words) + "*" * unfinished


def _phrase(word: str) -> str:
    """A word for PostgreSQL: one lexeme, or the characters that must follow each other."""
    return " <-> ".join(f"'{part}'" for part in _spaced(word).split(_GAP) if part)


def _spaced(words: str) -> str:
    """`words` with a gap around each character of a script that writes no spaces."""
    return _DENSE.sub(lambda found: f"{_GAP}{found[0]}{_GAP}", words)
