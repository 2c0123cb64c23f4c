"""The difference of two texts, by lines, and by words within changed lines."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from publisher.base.plurals import counted

SAME, GONE, NEW, SKIPPED = "same", "gone", "new", "skipped"
CONTEXT_LINES = 2
_MAX_WORDS = 4_000


@dataclass(frozen=True)
class Piece:
    """A stretch of text that is the `same`, `gone`, `new`, or `skipped` because nothing changed."""

    kind: str
    text: str


def difference(old: str, new: str) -> list[Piece]:
    """The pieces that make `old` (same + gone) and `new` (same + new), in order."""
    return _merged(_by_lines(_lines(old), _lines(new)))


def shortened(pieces: Sequence[Piece]) -> list[Piece]:
    """The same pieces for reading: long stretches without a change are cut to their ends."""
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


def is_same(pieces: Sequence[Piece]) -> bool:
    """Whether nothing changed at all."""
    return all(piece.kind in (SAME, SKIPPED) for piece in pieces)


def _by_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[Piece]:
    for tag, a, b, c, d in SequenceMatcher(None, old, new).get_opcodes():
        before, after = "".join(old[a:b]), "".join(new[c:d])
        if tag == "replace":
            yield from _by_words(before, after)
        elif tag == "equal":
            yield Piece(SAME, before)
        else:
            yield Piece(GONE, before)
            yield Piece(NEW, after)


def _by_words(before: str, after: str) -> Iterator[Piece]:
    old, new = _words(before), _words(after)
    if len(old) > _MAX_WORDS or len(new) > _MAX_WORDS:
        yield Piece(GONE, before)
        yield Piece(NEW, after)
        return
    for _tag, a, b, c, d in SequenceMatcher(None, old, new).get_opcodes():
        if old[a:b] == new[c:d]:
            yield Piece(SAME, "".join(old[a:b]))
        else:
            yield Piece(GONE, "".join(old[a:b]))
            yield Piece(NEW, "".join(new[c:d]))


def _merged(pieces: Iterator[Piece]) -> list[Piece]:
    """No empty pieces, and no two of a kind in a row."""
    result: list[Piece] = []
    for piece in pieces:
        if not piece.text:
            continue
        if result and result[-1].kind == piece.kind:
            result[-1] = Piece(piece.kind, result[-1].text + piece.text)
        else:
            result.append(piece)
    return result


def _lines(text: str) -> list[str]:
    """Lines with the empty ones after them: an empty line alone would match any other."""
    return re.findall(r"[^\n]*\n+|[^\n]+", text)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+|\s+|[^\w\s]", text)
