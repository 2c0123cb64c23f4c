"""What changed between two texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from publisher.blog.writing import revisions
from publisher.blog.writing.revisions import GONE, NEW, SAME, Piece, difference, shortened

TEXTS = st.text(alphabet="ab \n.é", max_size=60)


@given(TEXTS, TEXTS)
def test_both_texts_can_be_read_back(old: str, new: str) -> None:
    """Same and gone make the old text, same and new make the new one: nothing is hidden."""
    pieces = difference(old, new)
    assert "".join(p.text for p in pieces if p.kind in (SAME, GONE)) == old
    assert "".join(p.text for p in pieces if p.kind in (SAME, NEW)) == new
    assert {GONE, NEW}.isdisjoint(p.kind for p in pieces) == (old == new)


def test_one_word_is_one_word() -> None:
    """Within a changed line only the changed words are marked."""
    assert difference("The quick brown fox.\nEnd.", "The quick red fox.\nEnd.") == [
        Piece(SAME, "The quick "),
        Piece(GONE, "brown"),
        Piece(NEW, "red"),
        Piece(SAME, " fox.\nEnd."),
    ]


def test_very_long_texts_are_not_compared_for_minutes() -> None:
    """What is the same at both ends is shown as such, what lies between as a whole."""
    old = "".join(f"{n % 101}\n" for n in range(40_000))
    new = "".join(f"{n * 7 % 101}\n" for n in range(40_000))
    assert difference(f"a\n{old}z", f"a\n{new}z") == [
        Piece(SAME, "a\n0\n"),
        Piece(GONE, old.removeprefix("0\n")),
        Piece(NEW, new.removeprefix("0\n")),
        Piece(SAME, "z"),
    ]
    words, other_words = old.replace("\n", " "), new.replace("\n", " ")
    assert difference(words, other_words) == [Piece(GONE, words), Piece(NEW, other_words)]


def test_long_stretches_are_left_out() -> None:
    """Reading a difference does not mean reading the whole text again."""
    lines = [f"line {number}\n" for number in range(100)]
    changed = [*lines[:50], "another\n", *lines[51:]]
    shown = shortened(difference("".join(lines), "".join(changed)))
    assert [piece.text for piece in shown if piece.kind == "skipped"] == [
        "48 unchanged lines",
        "48 unchanged lines",
    ]
    assert sum(len(piece.text.splitlines()) for piece in shown) < 12


def test_hostile_texts_do_not_take_for_ever() -> None:
    """Half a million identical or entirely different lines are compared in moments."""
    same = "a\n\n" * 20_000
    different = "".join(f"{number}\n" for number in range(20_000))
    assert NEW in {piece.kind for piece in difference(same, different)}
    assert difference(same, same + "b") == [Piece(SAME, same), Piece(NEW, "b")]


def test_lines_that_are_the_same_stand_between_changed_ones() -> None:
    """Each changed one by its words."""
    assert difference("a b\nsame\nc d\n", "a x\nsame\ny d\n") == [
        Piece(SAME, "a "), Piece(GONE, "b"), Piece(NEW, "x"), Piece(SAME, "\nsame\n"),
        Piece(GONE, "c"), Piece(NEW, "y"), Piece(SAME, " d\n"),
    ]  # fmt: skip
    assert difference("a\nb", "b") == [Piece(GONE, "a\n"), Piece(SAME, "b")]
    assert difference("", "a\n") == [Piece(NEW, "a\n")]


@pytest.mark.parametrize(
    ("most", "pieces"),
    [
        # Three lines with three are 9 pairs, then six words with six, and three with three.
        (45, ["a-", "b", "x", "-c\nsame\np ", "q", "r"]),
        (44, ["a-", "b", "x", "-c\nsame\n", "p q", "p r"]),
        (35, ["a-b-c\n", "a-x-c\n", "same\n", "p q", "p r"]),
        (9, ["a-b-c\n", "a-x-c\n", "same\n", "p q", "p r"]),
        (8, ["a-b-c\nsame\np q", "a-x-c\nsame\np r"]),
    ],
)
def test_what_is_too_much_is_not_compared(
    most: int, pieces: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither line by line nor word by word."""
    monkeypatch.setattr(revisions, "_MOST_PAIRS", most)
    assert [p.text for p in difference("a-b-c\nsame\np q", "a-x-c\nsame\np r")] == pieces


@pytest.mark.parametrize(
    ("lines", "first", "middle", "last"),
    [(5, "5", "5", "5"), (6, "4 unchanged lines,2", "2,2 unchanged lines,2", "2,4 unchanged lines"),
     (7, "5 unchanged lines,2", "2,3 unchanged lines,2", "2,5 unchanged lines")],
)  # fmt: skip
def test_two_lines_stay_beside_a_change(lines: int, first: str, middle: str, last: str) -> None:
    """More than five that did not change are left out, at the ends of the text all but two."""
    same, new = Piece(SAME, "x\n" * lines), Piece(NEW, "y\n" * 9)

    def shown(*pieces: Piece) -> str:
        whole = [p for p in shortened(pieces) if p != new]
        return ",".join(p.text if "line" in p.text else str(p.text.count("x")) for p in whole)

    assert [shown(same, new), shown(new, same, new), shown(new, same)] == [first, middle, last]
    assert shortened([new, new]) == [new, new]
