"""The full-text indexes of posts and river items: SQLite's FTS5, PostgreSQL's tsvector.

All words of a query must match; the last one may be a prefix (from three letters on). A word in the
title weighs five times one in the body. Scripts that write no spaces (Chinese, Japanese, Thai ...)
are indexed character by character, with an invisible space between them: a word of the query is
then found as a phrase, inside sentences.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from sqlalchemy import (
    BindParameter,
    ColumnClause,
    ColumnElement,
    Select,
    TableClause,
    bindparam,
    case,
    column,
    delete,
    false,
    func,
    insert,
    literal_column,
    select,
    table,
)
from sqlalchemy.orm import Session

from publisher.storage.postgresql import on_server

MOST_WORDS = 12
# More matches than COMMON are not ranked: the newest come first. A prefix shorter than
# SHORTEST_BEGINNING letters would match too many words.
COMMON, SHORTEST_BEGINNING = 1_000, 3
LONGEST_BODY = 200_000  # characters that PostgreSQL indexes of a body: a tsvector holds 1 MB

LONG_BODY = 20_000  # characters; the time of FTS5's snippet grows with the square of the matches

_GAP = "\u200b"  # zero width space: invisible, and part of no word
_MARKS = "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc\u102b-\u103e\u17b4-\u17d3"
# Kana, Han, and the letters of Thai, Lao, Myanmar and Khmer with the marks that stand on them: some
# databases take a mark for a letter, others for a space, so it never stands alone.
_DENSE = re.compile(
    "[\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u1000-\u102a\u1780-\u17b3\u3040-\u30ff"
    f"\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f][{_MARKS}]*"
)
_EDGE = re.compile(rf"[\s{_GAP}]")
_WORD = re.compile(f"[\\w{_MARKS}]+")  # in a query

_SIMPLE: ColumnClause[str] = literal_column("'simple'")  # no language: words as they are
_RANK: ColumnClause[float] = literal_column("rank")  # a column of every FTS5 table
_WEIGHTS: ColumnClause[str] = literal_column("'{0.2, 0.2, 0.2, 1.0}'")
_EXCERPT = "StartSel=\x02, StopSel=\x03, MaxFragments=1, MinWords=12, MaxWords=24"
# Where each character is a word, more of them are needed, and short ones count.
_DENSE_EXCERPT = "StartSel=\x02, StopSel=\x03, MinWords=30, MaxWords=60, ShortWord=0"

Row = tuple[int, str, str]
"""Id, title and body of a post or an item; title and body are plain text."""


@dataclass(frozen=True)
class Hit:
    """A match: its id, and a plain-text `excerpt` with the words found between \\x02 and \\x03."""

    number: int
    excerpt: str


@dataclass(frozen=True)
class FullText:
    """One index, in a table of this name that a migration has made."""

    table: str

    def add(self, session: Session, rows: Iterable[Row]) -> None:
        """Index rows that are not in it yet."""
        remote = on_server(session)
        values = [
            {"number": number, "heading": _spaced(title), "prose": _spaced(_cut(body, remote))}
            for number, title, body in rows
        ]
        if not values:
            return
        number: BindParameter[int] = bindparam("number")
        title: BindParameter[str] = bindparam("heading")
        body: BindParameter[str] = bindparam("prose")
        if remote:
            title_words = func.setweight(func.to_tsvector(_SIMPLE, title), literal_column("'A'"))
            words = title_words.op("||")(func.to_tsvector(_SIMPLE, body))
            new = insert(self._rows).values(id=number, body=body, words=words)
        else:
            new = insert(self._rows).values(rowid=number, title=title, body=body)
        session.connection().execute(new, values)

    def remove(self, session: Session, numbers: Iterable[int]) -> None:
        """Remove rows from the index; rows that are not in it are ignored."""
        values = [{"number": number} for number in numbers]
        if values:
            gone = delete(self._rows).where(self._key(session) == bindparam("number"))
            session.connection().execute(gone, values)

    def best(self, session: Session, query: str, limit: int = 20, offset: int = 0) -> list[Hit]:
        """The best matches first; the newest first if more than COMMON rows match."""
        if not (match := _match(session, query)):
            return []
        key = self._key(session)
        ranked = not self._common(session, match)
        if on_server(session):
            wanted = func.to_tsquery(_SIMPLE, match)
            how = _DENSE_EXCERPT if _DENSE.search(query) else _EXCERPT
            headline = func.ts_headline(_SIMPLE, self._rows.c.body, wanted, how)
            found = select(key, headline).where(self._matches(session, match))
            if ranked:
                rank = func.ts_rank(_WEIGHTS, self._rows.c.words, wanted)
                found = found.order_by(rank.desc())
        else:
            tokens = 60 if _GAP in match else 24
            snippet = func.snippet(self._itself, 1, "\x02", "\x03", "…", tokens)
            body = self._rows.c.body
            excerpt = case((func.length(body) > LONG_BODY, body), else_=snippet)
            found = select(key, excerpt).where(self._matches(session, match))
            if ranked:
                found = found.where(_RANK.op("MATCH")("bm25(5.0, 1.0)")).order_by(_RANK)
        if not ranked:
            found = found.order_by(key.desc())
        rows = session.execute(found.limit(limit).offset(offset))
        return [Hit(number, _shown(_around(words, query))) for number, words in rows]

    def newest(self, session: Session, query: str, limit: int) -> list[int]:
        """The highest ids that match; fast also for many matches, as nothing is ranked."""
        found = self.matching(session, query).order_by(self._key(session).desc())
        return list(session.scalars(found.limit(limit)))

    def matching(self, session: Session, query: str) -> Select[int]:
        """The matching ids as a subquery for another query; none if there are no words."""
        match = _match(session, query)
        return select(self._key(session)).where(self._matches(session, match) if match else false())

    def _common(self, session: Session, match: str) -> bool:
        """Whether more than COMMON rows match, too many to rank."""
        first = select(self._key(session)).where(self._matches(session, match)).limit(COMMON + 1)
        return (session.scalar(select(func.count()).select_from(first.subquery())) or 0) > COMMON

    @cached_property
    def _rows(self) -> TableClause:
        names = ("rowid", "id", "title", "body", "words")
        return table(self.table, *(column(name) for name in names))

    @property
    def _itself(self) -> ColumnClause[str]:
        """FTS5's name for a whole row."""
        return literal_column(self.table)

    def _key(self, session: Session) -> ColumnClause[int]:
        return self._rows.c.id if on_server(session) else self._rows.c.rowid

    def _matches(self, session: Session, match: str) -> ColumnElement[bool]:
        if on_server(session):
            return self._rows.c.words.op("@@")(func.to_tsquery(_SIMPLE, match))
        return self._itself.op("MATCH")(match)


def _around(excerpt: str, query: str) -> str:
    """An excerpt as it is; of a whole long body what is around the first word found."""
    if len(excerpt) <= LONG_BODY:
        return excerpt
    words = [re.escape(_spaced(word).strip(_GAP)) for word in _words(query)]
    found = re.compile(rf"\b(?:(?:{'|'.join(words)})\b|{words[-1]}\w*)", re.IGNORECASE)
    first = found.search(excerpt)
    at = first.start() if first else 0
    before, after = _EDGE.search(excerpt, max(at - 60, 0), at), _EDGE.search(excerpt, at + 120)
    start = 0 if at <= 60 else before.end() if before else at
    part = found.sub("\x02\\g<0>\x03", excerpt[start : after.start() if after else None])
    return f"{'…' if start else ''}{part}{'…' if after else ''}"


def _shown(excerpt: str) -> str:
    """An excerpt without gaps, with adjacent marked characters marked as one word."""
    return excerpt.replace(_GAP, "").replace("\x03\x02", "")


def _cut(body: str, remote: bool) -> str:
    return body[:LONGEST_BODY] if remote else body


def _words(query: str) -> list[str]:
    return [word for word in _WORD.findall(query) if re.search(r"\w", word)][:MOST_WORDS]


def _match(session: Session, query: str) -> str:
    if not (words := _words(query)):
        return ""
    unfinished = len(words[-1]) >= SHORTEST_BEGINNING or _DENSE.search(words[-1]) is not None
    if on_server(session):
        return " & ".join(map(_phrase, words)) + ":*" * unfinished
    return " ".join(f'"{_spaced(word)}"' for word in words) + "*" * unfinished


def _phrase(word: str) -> str:
    """A word for PostgreSQL: one lexeme, or the characters that must follow each other."""
    return " <-> ".join(f"'{part}'" for part in _spaced(word).split(_GAP) if part)


def _spaced(words: str) -> str:
    """`words` with a gap around each letter of a script that writes no spaces."""
    return _DENSE.sub(lambda found: f"{_GAP}{found[0]}{_GAP}", words)
