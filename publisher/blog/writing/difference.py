"""The difference of two texts, by lines, and by words within changed lines."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from publisher.base.numerals import counted

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
    """Lines, each with the empty lines after it: an empty line alone would match any other."""
    return re.findall(r"[^\n]*\n+|[^\n]+", text)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+|\s+|[^\w\s]", text)
