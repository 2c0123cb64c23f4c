"""The full-text indexes of posts and river items: SQLite's FTS5, PostgreSQL's tsvector.

All words of a query must match; the last one may be a prefix (from three letters on). A word in the
title weighs five times one in the body. Scripts that write no spaces (Chinese, Japanese, Thai ...)
are indexed character by character, with an invisible space between them: a word of the query is
then found as a phrase, inside sentences. So is Korean, whose words end in particles. Accents do not
matter, nor whether a letter is spelled out: `ё` is `е`, `ß` is `ss`, `œ` is `oe`.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlalchemy import (
    BindParameter,
    ColumnClause,
    ColumnElement,
    Connection,
    Select,
    TableClause,
    Text,
    bindparam,
    case,
    cast,
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

_AT_ONCE = 200  # rows of which the texts are in memory while an index is made anew
LONG_BODY = 20_000  # characters; the time of FTS5's snippet grows with the square of the matches

_GAP = "\u200b"  # zero width space: invisible, and part of no word
_MARKS = "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc\u102b-\u103e\u17b4-\u17d3"
# Kana, Han, Hangul, and the letters of Thai, Lao, Myanmar and Khmer with the marks that stand on
# them: some databases take a mark for a letter, others for a space, so it never stands alone.
_CHARACTER = (
    "[\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u1000-\u102a\u1780-\u17b3\u3040-\u30ff"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003134f]"
)
_DENSE = re.compile(f"{_CHARACTER}[{_MARKS}]*")
_SPACE = re.compile(r"\s")
_WORD = re.compile(f"[\\w{_MARKS}]+")  # in a query

# Letters that FTS5 does not take apart, as it takes them for plain ones: it skips these marks
# inside a word. No text has them so: composed letters (NFC) have a character of their own. So the
# text that is shown can be had back.
_OF_ONE, _OF_TWO = "\u030f", "\u0311"
_SPELLED = {
    "ё": "е\u0308", "ø": f"o{_OF_ONE}", "ł": f"l{_OF_ONE}", "đ": f"d{_OF_ONE}",
    "ß": f"s{_OF_TWO}s", "œ": f"o{_OF_TWO}e", "æ": f"a{_OF_TWO}e",
}  # fmt: skip
_SPELLED |= {"ẞ": f"S{_OF_TWO}S"} | {
    letter.upper(): spelled.upper() for letter, spelled in _SPELLED.items() if letter != "ß"
}
_FOR_FTS5 = str.maketrans(_SPELLED)
_ACCENT = re.compile("[\u0300-\u036f]")
# Each Latin letter with accents, and each of those above, as plain letters: for PostgreSQL, which
# knows of none.
_PLAIN = {
    letter: _ACCENT.sub("", _SPELLED.get(letter, unicodedata.normalize("NFD", letter)))
    for letter in [*map(chr, [*range(0xC0, 0x250), *range(0x1E00, 0x1F00)]), *_SPELLED]
}
_FOR_SERVER = str.maketrans(_PLAIN)

_TOKENS = "tokenize = 'unicode61 remove_diacritics 2'"
_SIMPLE: ColumnClause[str] = literal_column("'simple'")  # no language: words as they are
_RANK: ColumnClause[float] = literal_column("rank")  # a column of every FTS5 table
_WEIGHTS: ColumnClause[str] = literal_column("'{0.2, 0.2, 0.2, 1.0}'")

Row = tuple[int, str, str]
"""Id, title and body of a post or an item; title and body are plain text."""


@dataclass(frozen=True)
class Hit:
    """A match: its id, and a plain-text `excerpt` with the words found between \\x02 and \\x03."""

    number: int
    excerpt: str


@dataclass(frozen=True)
class FullText:
    """One index, in a table of this name."""

    table: str

    def create(self, connection: Connection) -> None:
        """Make the table, in a new database."""
        if connection.dialect.name == "sqlite":
            statements = [f"CREATE VIRTUAL TABLE {self.table} USING fts5(title, body, {_TOKENS})"]
        else:
            columns = "id bigint PRIMARY KEY, body text NOT NULL, words tsvector NOT NULL"
            statements = [
                f"CREATE TABLE {self.table} ({columns})",
                f"CREATE INDEX ix_{self.table}_words ON {self.table} USING gin (words)",
            ]
        for statement in statements:
            connection.exec_driver_sql(statement)

    def add(self, session: Session, rows: Iterable[Row]) -> None:
        """Index rows that are not in it yet."""
        remote = on_server(session)
        values = [
            {"number": number, "heading": _indexed(title, remote),
             "prose": _indexed(_cut(body, remote), remote),
             **({"shown": _cut(body, remote)} if remote else {})}
            for number, title, body in rows
        ]  # fmt: skip
        if not values:
            return
        number: BindParameter[int] = bindparam("number")
        title: BindParameter[str] = bindparam("heading")
        body: BindParameter[str] = bindparam("prose")
        if remote:
            title_words = func.setweight(func.to_tsvector(_SIMPLE, title), literal_column("'A'"))
            words = title_words.op("||")(func.to_tsvector(_SIMPLE, body))
            new = insert(self._rows).values(id=number, body=bindparam("shown"), words=words)
        else:
            new = insert(self._rows).values(rowid=number, title=title, body=body)
        session.connection().execute(new, values)

    def remove(self, session: Session, numbers: Iterable[int]) -> None:
        """Remove rows from the index; rows that are not in it are ignored."""
        values = [{"number": number} for number in numbers]
        if values:
            gone = delete(self._rows).where(self._key(session) == bindparam("number"))
            session.connection().execute(gone, values)

    def stored(self, session: Session, numbers: Sequence[int]) -> list[tuple[object, ...]]:
        """What is stored of some rows, to be compared."""
        key, rows = self._key(session), self._rows.c
        title_words = cast(rows.words, Text) if on_server(session) else rows.title
        query = select(key, rows.body, title_words).where(key.in_(numbers)).order_by(key)
        return [tuple(row) for row in session.execute(query)]

    def renew(self, session: Session, owners: str) -> None:
        """Index all rows anew whose texts `_indexed` changes, for a migration after it has changed.

        `owners`: the table of posts or items, which has their titles.
        """
        key, last, remote = self._key(session), 0, on_server(session)
        of = table(owners, column("id"), column("title"))
        some = select(key, of.c.title, self._rows.c.body).join_from(self._rows, of, of.c.id == key)
        while rows := session.execute(some.where(key > last).order_by(key).limit(_AT_ONCE)).all():
            last = rows[-1][0]
            texts = [(number, title, _shown(body)) for number, title, body in rows]
            changed = [row for row in texts if any(_indexed(t, remote) != t for t in row[1:])]
            self.remove(session, [number for number, *_ in changed])
            self.add(session, changed)

    def best(self, session: Session, query: str, limit: int = 20, offset: int = 0) -> list[Hit]:
        """The best matches first; the newest first if more than COMMON rows match."""
        if not (match := _match(session, query)):
            return []
        key = self._key(session)
        ranked = not self._common(session, match)
        if on_server(session):
            hits = select(key, self._rows.c.body).where(self._matches(session, match))
            if ranked:
                wanted = func.to_tsquery(_SIMPLE, match)
                rank = func.ts_rank(_WEIGHTS, self._rows.c.words, wanted)
                hits = hits.order_by(rank.desc())
        else:
            tokens = 60 if _GAP in match else 24
            snippet = func.snippet(self._itself, 1, "\x02", "\x03", "…", tokens)
            body = self._rows.c.body
            excerpt = case((func.length(body) > LONG_BODY, body), else_=snippet)
            hits = select(key, excerpt).where(self._matches(session, match))
            if ranked:
                hits = hits.where(_RANK.op("MATCH")("bm25(5.0, 1.0)")).order_by(_RANK)
        if not ranked:
            hits = hits.order_by(key.desc())
        rows = session.execute(hits.limit(limit).offset(offset)).all()
        whole = LONG_BODY * (not on_server(session))
        return [
            Hit(number, _around(_shown(text), query) if len(text) > whole else _shown(text))
            for number, text in rows
        ]

    def newest(self, session: Session, query: str, limit: int) -> list[int]:
        """The highest ids that match; fast also for many matches, as nothing is ranked."""
        hits = self.matching(session, query).order_by(self._key(session).desc())
        return list(session.scalars(hits.limit(limit)))

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


POSTS, ITEMS = FullText("post_search"), FullText("river_search")
INDEXES = (POSTS, ITEMS)


def _shown(text: str) -> str:
    """A text of the index as it was written, adjacent characters that were found marked as one."""
    text = text.replace(_GAP, "").replace("\x03\x02", "")
    for letter, spelled in _SPELLED.items():
        text = text.replace(spelled, letter)
    return text


def _around(text: str, query: str) -> str:
    """The part of a body around the first word found."""
    *whole, last = _words(query)
    marked = re.compile("|".join([*map(_pattern, whole), _pattern(last, r"\w*")]), re.IGNORECASE)
    first = marked.search(text)
    at = first.start() if first else 0
    before, after = (
        _SPACE.search(text, max(at - 60, 0), at),
        _SPACE.search(text, at + 120, at + 160),
    )
    start = 0 if at <= 60 else before.end() if before else at - 60
    end = after.start() if after else min(at + 160, len(text))
    part = marked.sub("\x02\\g<0>\x03", text[start:end])
    return f"{'…' if start else ''}{part}{'…' if end < len(text) else ''}"


def _pattern(word: str, end: str = rf"(?:\b|(?={_CHARACTER}))") -> str:
    """A regular expression for a query's word in a text, however its letters are spelled there."""
    letters = _LETTERS.sub(lambda match: _same(match[0]), word.translate(_FOR_SERVER))
    return letters if _DENSE.search(word) else rf"(?:\b|(?<={_CHARACTER})){letters}{end}"


_LETTERS = re.compile(r"ss|oe|ae|\w", re.IGNORECASE)


def _same(letters: str) -> str:
    """A pattern for one or two plain letters and all that `_PLAIN` takes for them."""
    each = [f"[{letter}{''.join(_SPELLINGS_OF[letter])}]" for letter in letters.lower()]
    two = _SPELLINGS_OF[letters.lower()] if len(letters) > 1 else ()
    return f"(?:{'|'.join([''.join(each), *two])})"


_SPELLINGS_OF: defaultdict[str, list[str]] = defaultdict(list)
for _letter, _letters in _PLAIN.items():
    if _letter != _letters:
        _SPELLINGS_OF[_letters.lower()].append(_letter)


def _cut(body: str, remote: bool) -> str:
    return body[:LONGEST_BODY] if remote else body


def _words(query: str) -> list[str]:
    words = _WORD.findall(unicodedata.normalize("NFC", query))
    return [word for word in words if re.search(r"\w", word)][:MOST_WORDS]


def _match(session: Session, query: str) -> str:
    if not (words := _words(query)):
        return ""
    unfinished = len(words[-1]) >= SHORTEST_BEGINNING or _DENSE.search(words[-1]) is not None
    if on_server(session):
        return " & ".join(map(_phrase, words)) + ":*" * unfinished
    return " ".join(f'"{_indexed(word, False)}"' for word in words) + "*" * unfinished


def _phrase(word: str) -> str:
    """A word for PostgreSQL: one lexeme, or the characters that must follow each other."""
    return " <-> ".join(f"'{part}'" for part in _indexed(word, True).split(_GAP) if part)


def _indexed(words: str, remote: bool) -> str:
    """`words` for the index: a gap around each letter of a script that writes no spaces, and the
    letters by which one word can be written in several ways as the database compares them."""
    composed = unicodedata.normalize("NFC", words)
    spaced = _DENSE.sub(lambda match: f"{_GAP}{match[0]}{_GAP}", composed)
    return spaced.translate(_FOR_SERVER if remote else _FOR_FTS5)
