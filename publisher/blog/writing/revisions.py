"""Revisions: the whole content of a post at each save, to compare and to bring back.

The difference of two texts is by lines, and by words within changed lines.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import SequenceMatcher
from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import Row, select
from sqlalchemy.orm import Session

from publisher.base.dates import format_rfc3339
from publisher.base.errors import must_exist
from publisher.base.text import counted, whole_number
from publisher.blog.writing import posts
from publisher.blog.writing.content import FIELDS, Content, from_plain
from publisher.blog.writing.content_fields import Choice
from publisher.storage.tables.blog import Post, Revision
from publisher.storage.tables.credentials import Author

SAME, GONE, NEW, SKIPPED = "same", "gone", "new", "skipped"
CONTEXT_LINES = 2
# Limit of (lines of one) x (lines of the other), and of words likewise: beyond it, it is too slow.
_MOST_PAIRS = 2_000 * 2_000


@dataclass(frozen=True)
class Piece:
    """A stretch of text that is the `same`, `gone`, `new`, or `skipped` because nothing changed."""

    kind: str
    text: str


def difference(old: str, new: str) -> list[Piece]:
    """The pieces that make `old` (same + gone) and `new` (same + new), in order."""
    before, after = _lines(old), _lines(new)
    head = _alike(before, after)
    tail = _alike(before[head:][::-1], after[head:][::-1])
    end, after_end = len(before) - tail, len(after) - tail
    middle = _by_lines(before[head:end], after[head:after_end])
    same = Piece(SAME, "".join(before[:head])), Piece(SAME, "".join(before[end:]))
    return _merged(iter((same[0], *middle, same[1])))


def shortened(pieces: Sequence[Piece]) -> list[Piece]:
    """The same pieces for display: of a long unchanged stretch, only both ends remain."""
    result = []
    for number, piece in enumerate(pieces):
        lines = piece.text.splitlines(keepends=True)
        if piece.kind != SAME or len(lines) <= 2 * CONTEXT_LINES + 1:
            result.append(piece)
            continue
        head = lines[:CONTEXT_LINES] if number else []
        tail = lines[-CONTEXT_LINES:] if number < len(pieces) - 1 else []
        left_out = len(lines) - len(head) - len(tail)
        result += [
            Piece(SAME, "".join(head)),
            Piece(SKIPPED, counted(left_out, "unchanged line")),
            Piece(SAME, "".join(tail)),
        ]
    return [piece for piece in result if piece.text]


def _alike(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines are the same at the beginning of both."""
    pairs = zip(old, new, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(old), len(new)))


def _by_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[Piece]:
    if len(old) * len(new) > _MOST_PAIRS:
        yield from (Piece(GONE, "".join(old)), Piece(NEW, "".join(new)))
        return
    pairs = 0  # of words that were compared
    for tag, a, b, c, d in SequenceMatcher(None, old, new).get_opcodes():
        before, after = "".join(old[a:b]), "".join(new[c:d])
        if tag == "equal":
            yield Piece(SAME, before)
            continue
        words, new_words = _words(before), _words(after)
        pairs += len(words) * len(new_words)
        if pairs > _MOST_PAIRS:
            words, new_words = [before], [after]
        yield from _by_words(words, new_words)


def _by_words(old: Sequence[str], new: Sequence[str]) -> Iterator[Piece]:
    for _tag, a, b, c, d in SequenceMatcher(None, old, new).get_opcodes():
        if old[a:b] == new[c:d]:
            yield Piece(SAME, "".join(old[a:b]))
        else:
            yield Piece(GONE, "".join(old[a:b]))
            yield Piece(NEW, "".join(new[c:d]))


def _merged(pieces: Iterator[Piece]) -> list[Piece]:
    """No empty pieces, and no two of a kind in a row."""
    by_kind = groupby((piece for piece in pieces if piece.text), key=attrgetter("kind"))
    return [Piece(kind, "".join(piece.text for piece in same)) for kind, same in by_kind]


def _lines(text: str) -> list[str]:
    """Lines, each with the empty lines after it: an empty line alone would match any other."""
    return re.findall(r"[^\n]*\n+|[^\n]+", text)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+|\s+|[^\w\s]", text)


@dataclass(frozen=True)
class Change:
    """What differs in one field between two states of a post; `label` names it to people."""

    name: str
    label: str
    pieces: list[Piece]


def history(session: Session, post: Post, limit: int = 200) -> Sequence[Row[Any]]:
    """The newest saves of a post, newest first: version, saved_at, minor, author, content."""
    columns = (Revision.version, Revision.saved_at, Revision.minor, Revision.content)
    query = (
        select(*columns, Author.display_name.label("author"))
        .outerjoin(Author, Author.id == Revision.author_id)
        .where(Revision.post_id == post.id)
        .order_by(Revision.version.desc())
    )
    return session.execute(query.limit(limit)).all()


def get(session: Session, post: Post, version: int) -> Revision:
    """The version with this number; NotFound when there is none."""
    return must_exist(
        session.scalar(
            select(Revision).where(Revision.post_id == post.id, Revision.version == version)
        ),
        f"this post has no version {version}",
    )


def mark(session: Session, post: Post) -> str:
    """The present version, told from another one of the same number: a database restored from a
    backup counts on from an earlier one."""
    saved_at = session.scalar(
        select(Revision.saved_at).where(
            Revision.post_id == post.id, Revision.version == post.version
        )
    )
    return f"{post.version} {format_rfc3339(saved_at)}" if saved_at else str(post.version)


def marked(session: Session, post: Post, started_from: str) -> int:
    """The version with this mark; 0, which no post has, when there is another one of its number."""
    number = whole_number(started_from.partition(" ")[0]) or 0
    if number == post.version and " " in started_from and started_from != mark(session, post):
        return 0
    return number


def before(session: Session, revision: Revision) -> Revision | None:
    """The state that was replaced by `revision`."""
    return session.scalar(
        select(Revision)
        .where(Revision.post_id == revision.post_id, Revision.version < revision.version)
        .order_by(Revision.version.desc())
        .limit(1)
    )


def changes(old: Revision | None, new: Revision) -> list[Change]:
    """The fields that differ between `old` and `new`; `old` None stands for an empty post.

    A field that one of the two does not have (it is older than the field) is left out. So are
    choices in a first version.
    """
    before = from_plain(old.content) if old else vars(Content())
    after = from_plain(new.content)
    return [
        Change(f.name, f.label, difference(f.text(before[f.name]), f.text(after[f.name])))
        for f in FIELDS
        if f.name in before and f.name in after and (old or not isinstance(f, Choice))
        if not f.same(before[f.name], after[f.name])
    ]


def restore(
    session: Session, post: Post, revision: Revision, author_id: int | None, now: datetime
) -> Post:
    """Save an earlier version as a new one: later versions stay, and readers get an update.

    A field that did not exist at that time stays as it is now.
    """
    earlier = replace(posts.content(session, post), **from_plain(revision.content))
    return posts.save(session, post.id, earlier, post.version, author_id, now)
