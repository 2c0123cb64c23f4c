"""Cards: a picture for a post without one, made from its title and the blog's name.

Social networks and messengers show it beside a link. The font is one of this machine that has all
the characters of the title; without such a font there is no card.
"""

import hashlib
import io
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from PIL import Image, ImageDraw, ImageFont, features

from publisher.base.text import shorten

WIDTH, HEIGHT, MARGIN = 1200, 630, 90
LONGEST = 160  # characters of a title
_SIZES, _LINES, _NAME_SIZE = (92, 78, 66, 56, 46), 5, 38
# Common fonts of Linux, macOS and Windows; the last resort comes with Pillow and has ASCII only.
_FONTS = (
    "NotoSans-Bold.ttf", "DejaVuSans-Bold.ttf", "LiberationSans-Bold.ttf", "Arial Bold.ttf",
    "arialbd.ttf", "NotoSansCJK-Bold.ttc", "NotoSansCJK-Regular.ttc", "PingFang.ttc",
    "msgothic.ttc", "NotoSansArabic-Bold.ttf", "NotoSansHebrew-Bold.ttf",
    "NotoSansDevanagari-Bold.ttf", "NotoSansThai-Bold.ttf",
)  # fmt: skip
_NOT_A_CHARACTER = "\uffff"

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


@dataclass(frozen=True)
class Card:
    """The texts of a card and its colours (#rrggbb)."""

    title: str
    name: str
    paper: str
    ink: str
    accent: str

    @property
    def digest(self) -> str:
        """A hash of everything that the card shows."""
        text = "\n".join(("1", self.title, self.name, self.paper, self.ink, self.accent))
        return hashlib.sha256(text.encode()).hexdigest()[:12]


@lru_cache(maxsize=4096)
def drawable(text: str) -> bool:
    """Whether this machine has a font with all characters of `text`."""
    return bool(text.strip()) and _font_for(text, _NAME_SIZE) is not None


def draw(card: Card) -> bytes:
    """The card as PNG; only for titles that are `drawable`."""
    image = Image.new("RGB", (WIDTH, HEIGHT), card.paper)
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, 0, 24, HEIGHT), fill=card.accent)
    size, font, lines = _set(shorten(card.title, LONGEST))
    for number, line in enumerate(lines[:_LINES]):
        pen.text((MARGIN, MARGIN + number * size * 1.2), line, card.ink, font)
    if drawable(card.name):
        name_font = _font_for(card.name, _NAME_SIZE)
        pen.text((MARGIN, HEIGHT - MARGIN), shorten(card.name, 50), card.accent, name_font, "ls")
    out = io.BytesIO()
    image.quantize(48, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


def _set(title: str) -> tuple[int, Font, list[str]]:
    """The largest size in which the title fits, its font and its lines."""
    for size in _SIZES:
        font = _font_for(title, size) or ImageFont.load_default(size)
        lines = _wrapped(title, font)
        if len(lines) <= _LINES and len(lines) * size * 1.2 <= HEIGHT - 2 * MARGIN - 80:
            break
    return size, font, lines


def _wrapped(text: str, font: Font) -> list[str]:
    """Lines that fit; a word that is too long is broken between characters."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if font.getlength(longer) <= WIDTH - 2 * MARGIN:
            lines[-1] = longer
            continue
        lines.append("")
        for character in word:
            if font.getlength(lines[-1] + character) > WIDTH - 2 * MARGIN:
                lines.append("")
            lines[-1] += character
    return [line for line in lines if line]


def _font_for(text: str, size: int) -> Font | None:
    """The first font with all the characters; None for scripts whose shaping library is missing."""
    shaped = any(
        unicodedata.bidirectional(char) in ("R", "AL") or unicodedata.combining(char)
        for char in text
    )
    if shaped and not features.check("raqm"):
        return None
    for name in (*_FONTS, ""):
        font = _font(name, size)
        if font is not None and all(_has(name, character) for character in set(text)):
            return font
    return None


@lru_cache(maxsize=128)
def _font(name: str, size: int) -> Font | None:
    try:
        return ImageFont.truetype(name, size) if name else ImageFont.load_default(size)
    except OSError:
        return None


@lru_cache(maxsize=8192)
def _has(name: str, character: str) -> bool:
    """Whether the font has this character: it draws it differently from one that no font has."""
    font = _font(name, _NAME_SIZE)
    if font is None:
        return False
    shown, unknown = font.getmask(character), font.getmask(_NOT_A_CHARACTER)
    return character.isspace() or (shown.size, bytes(shown)) != (unknown.size, bytes(unknown))
