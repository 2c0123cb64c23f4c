"""Cards: what they show, and colours that can be read."""

import io
from typing import Any, cast

import pytest
from PIL import Image, ImageDraw

from publisher.blog.post_files import cards
from publisher.blog.post_files.cards import Card
from tests.factories import make_png

PAPER, INK, ACCENT = "#ffffff", "#000000", "#aa0000"


def drawn(title: str, words: str = "", portrait: bytes = b"") -> Image.Image:
    card = Card(title, "A blog", words, PAPER, INK, ACCENT)
    return Image.open(io.BytesIO(cards.draw(card, portrait))).convert("RGB")


def written(picture: Image.Image, until: int) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of what is written above a height."""
    grey = picture.crop((0, 0, cards.WIDTH, until)).convert("L")
    return Image.eval(grey, lambda value: 255 - value).getbbox() or (0, 0, 0, 0)


def test_a_card_has_its_texts_within_its_margins() -> None:
    """A long title in smaller letters, a word without end broken; a line in the blog's colour."""
    for title in ("Short", "Some words " * 14, "x" * 150):
        picture = drawn(title, "What it is about.")
        assert picture.size == (1200, 630)
        for place in ((0, 616), (1199, 629)):
            assert picture.getpixel(place) == (170, 0, 0)
        assert picture.getpixel((0, 615)) == (255, 255, 255)
        left, top, right, bottom = written(picture, 600)
        assert cards.MARGIN - 10 <= left < right <= cards.WIDTH - cards.MARGIN + 10
        assert 60 < top < bottom < 560
    _, top, _, bottom = written(drawn("HI"), 300)
    assert bottom - top > 55  # the largest letters, where there is room
    assert written(drawn("Short", "About."), 450)[3] > written(drawn("Short"), 450)[3] + 20


def test_a_portrait_stands_beside_the_name() -> None:
    """Round, at the foot, before the name."""
    place = (cards.MARGIN + cards.PORTRAIT // 2, cards.HEIGHT - cards.MARGIN - cards.PORTRAIT // 2)
    picture = drawn("x", portrait=make_png("#00ff00"))
    assert picture.getpixel(place) == (0, 255, 0)
    corner = (cards.MARGIN + 2, cards.HEIGHT - cards.MARGIN - cards.PORTRAIT + 2)
    assert picture.getpixel(corner) == (255, 255, 255)
    face = picture.crop((90, 468, 162, 540))
    shown = [face.getpixel((x, y)) for y in range(72) for x in range(72)]
    # A circle of this width has 4,072, some of which are at its edge.
    assert 3_900 < shown.count((0, 255, 0)) < 4_072
    for at in (1, 70):
        assert face.getpixel((36, at)) == face.getpixel((at, 36)) == (0, 255, 0)
        assert face.getpixel((at, 1)) == face.getpixel((at, 70)) == (255, 255, 255)


def test_another_card_has_another_digest() -> None:
    """Whatever it shows."""
    card = Card("t", "n", "w", PAPER, INK, ACCENT)
    assert len(card.digest) == 12
    others = [Card(**{**vars(card), name: "#010101"}) for name in vars(card)]
    assert len({card.digest, *(other.digest for other in others)}) == len(others) + 1
    assert card.digest == Card(**vars(card)).digest
    assert {card} == {Card(**vars(card))}


@pytest.mark.parametrize(
    ("text", "possible"), [("Title", True), (" ", False), ("\U0010fffd", False)]
)
def test_what_can_be_drawn(text: str, possible: bool) -> None:
    """A script for which this machine has a font."""
    assert cards.drawable(text) is possible


def test_each_letter_is_told_from_one_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Larger and smaller ones, and spaces; in the one font that is always there."""
    monkeypatch.setattr(cards, "_FONTS", ())
    assert all(cards._has("", chr(number)) for number in range(32, 127))
    assert not cards._has("", "\u4e00")
    assert cards._font_for("A card", 20, "no-such-font.ttf") is not None
    assert cards._font_for("A \u4e00 card", 20) is None


@pytest.mark.parametrize(("text", "shaped"), [("abc", 0), ("שלום", 1), ("سلام", 1), ("e\u0301", 1)])
def test_scripts_that_need_shaping(
    text: str, shaped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the library for it their letters would stand apart, or the wrong way round."""
    monkeypatch.setattr(cards, "_has", lambda _name, _character: True)
    for there in (True, False):
        monkeypatch.setattr("PIL.features.check", lambda _, there=there: there)
        assert (cards._font_for(text, 20) is not None) is (there or not shaped)


class Typewriter:
    """A font of letters that are ten pixels wide."""

    def __init__(self, name: str = "", size: int = 0) -> None:
        self.name, self.size = name, size

    def getlength(self, text: str) -> int:
        return 10 * len(text)


@pytest.mark.parametrize(
    ("text", "lengths"),
    [("x" * 102, [102]), ("x" * 103, [102, 1]), ("x" * 205, [102, 102, 1]), ("", []),
     ("x " * 51, [101]), ("ab " * 34, [101]), ("ab " * 35, [101, 2]),
     ("x " + "y" * 103, [1, 102, 1]), ("x" * 51 + " " + "y" * 50, [102]),
     ("x" * 51 + " " + "y" * 51, [51, 51])],
)  # fmt: skip
def test_lines_are_as_long_as_the_card_is_wide(text: str, lengths: list[int]) -> None:
    """102 of these letters fit."""
    lines = cards._wrapped(text, cast("Any", Typewriter()))
    assert [len(line) for line in lines] == lengths
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_the_font_of_the_look_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it has all the letters, else the first one of the machine that has."""
    assert (cards.FONTS / "serif.woff2").is_file()
    monkeypatch.setattr(cards, "_font", Typewriter)
    for having, found in (("", "own"), ("é", cards._FONTS[0])):
        monkeypatch.setattr(cards, "_has", lambda name, c, h=having: c != h or name != "own")
        for text in ("é", "aé"):
            size, font, lines = cards._set(text, "own")
            assert (cast("Any", font).name, size, lines) == (found, 92, [text])
            assert cast("Any", cards._font_for(text, 9)).name == cards._FONTS[0]


def test_where_everything_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    """The larger the letters, the fewer lines; of the description what there is room for."""
    placed: list[tuple[Any, ...]] = []

    def text(_: object, place: object, line: str, ink: str, font: Any, anchor: str = "") -> None:
        placed.append((place, line, ink, font.size, anchor))

    monkeypatch.setattr(ImageDraw.ImageDraw, "text", text)
    monkeypatch.setattr(cards, "_FONTS", ())

    def lines(title: str, words: str = "", name: str = "A blog", portrait: bytes = b"") -> Any:
        placed.clear()
        cards.draw(Card(title, name, words, PAPER, INK, ACCENT, "missing.woff2"), portrait)
        return list(placed)

    assert lines("Hi", "Words.", portrait=make_png()) == [
        ((90, 72), "Hi", INK, 92, ""), ((90, 245), "Words.", "#4d4d4d", 34, "ls"),
        ((186, 504), "A blog", ACCENT, 36, "lm"),
    ]  # fmt: skip
    long, about = "Some words that are long ", "and so on " * 20
    for title, size, rows, description in (
        (long * 2, 92, [72, 181, 290], [463]), (long * 3, 78, [75, 167, 259], [415, 463]),
        (long * 4, 66, [77, 155, 233, 311], [453]),
        (long * 7, 56, [79, 145, 211, 277, 343], []),
        ("W" * 160, 46, [81, 135, 189, 243, 297], [415, 463]),
    ):  # fmt: skip
        *drawn, (place, name, *_) = lines(title, about, "N" * 51)
        tops = [(row[0][1], row[3]) for row in drawn]
        assert tops == [(top, size) for top in rows] + [(top, 34) for top in description]
        assert (place, name) == ((90, 504), f"{'N' * 50}…")
    for letters, end in ((160, ""), (161, "…")):
        *drawn, _ = lines("x" * letters)
        assert "".join(row[1] for row in drawn) == "x" * 160 + end
    for words, end in (("il " * 46 + "il", "il"), ("il " * 46 + "ill", "…")):
        _, *drawn, _ = lines("Hi", words)
        assert drawn[-1][1].endswith(end)
    assert len(lines("Hi", " \u4e00")) == 2  # no font has it
    assert len(lines("Hi", name="\u4e00")) == 1


def test_colours() -> None:
    """Contrast as WCAG has it; a colour moves only as far as it must to be read."""
    assert cards.contrast("#ffffff", "#000000") == pytest.approx(21)
    assert cards.contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert cards.contrast("#808080", "#808080") == 1
    assert cards.mix("#ff0000", "#0000ff", 0.25) == "#4000bf"
    assert cards.readable("#123456", "#ffffff") == "#123456"
    for colour, paper, darker in (("#ffff00", "#ffffff", True), ("#000080", "#101010", False)):
        moved = cards.readable(colour, paper)
        assert 4.5 <= cards.contrast(moved, paper) < 5.5
        assert (moved < colour) is darker
    assert [cards.readable(*pair) for pair in (
        ("#ffff00", "#ffffff"), ("#000080", "#101010"), ("#777777", "#ffffff"),
    )] == ["#737300", "#8080c0", "#717171"]  # fmt: skip
    assert cards.readable("#808080", "#767676", least=21) == "#000000"
    assert cards.readable("#808080", "#757575", least=21) == "#ffffff"
    assert cards.readable("#000000", "#ffffff", least=21) == "#000000"
    for colour, on_black in (
        ("#ff0000", 5.252), ("#00ff00", 15.304), ("#0000ff", 2.444), ("#0a0a0a", 1.0607),
        ("#0b0b0b", 1.0669),
    ):  # fmt: skip
        assert cards.contrast("#000000", colour) == pytest.approx(on_black, abs=2e-4)
