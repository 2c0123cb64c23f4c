"""Cards: what they show, and colours that can be read."""

import io

import pytest
from PIL import Image

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
        assert picture.getpixel((5, 625)) != (255, 255, 255)
        left, top, right, bottom = written(picture, 600)
        assert cards.MARGIN - 10 <= left < right <= cards.WIDTH - cards.MARGIN + 10
        assert 60 < top < bottom < 560
    _, top, _, bottom = written(drawn("HI"), 300)
    assert bottom - top > 55  # the largest letters, where there is room
    assert written(drawn("Short", "About."), 450)[3] > written(drawn("Short"), 450)[3] + 20


def test_a_portrait_stands_beside_the_name() -> None:
    """Round, at the foot, before the name."""
    place = (cards.MARGIN + cards.PORTRAIT // 2, cards.HEIGHT - cards.MARGIN - cards.PORTRAIT // 2)
    red, green, blue = drawn("x", portrait=make_png("#00ff00")).getpixel(place)  # type: ignore[misc]
    assert green > 200 > max(red, blue)
    corner = (cards.MARGIN + 2, cards.HEIGHT - cards.MARGIN - cards.PORTRAIT + 2)
    assert drawn("x", portrait=make_png("#00ff00")).getpixel(corner) == (255, 255, 255)


def test_another_card_has_another_digest() -> None:
    """Whatever it shows."""
    card = Card("t", "n", "w", PAPER, INK, ACCENT)
    others = [Card(**{**vars(card), name: "#010101"}) for name in vars(card)]
    assert len({card.digest, *(other.digest for other in others)}) == len(others) + 1
    assert card.digest == Card(**vars(card)).digest


@pytest.mark.parametrize(
    ("text", "possible"), [("Title", True), (" ", False), ("\U0010fffd", False)]
)
def test_what_can_be_drawn(text: str, possible: bool) -> None:
    """A script for which this machine has a font."""
    assert cards.drawable(text) is possible


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
    assert cards.readable("#888888", "#808080", least=21) in ("#000000", "#ffffff")
