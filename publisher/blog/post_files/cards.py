"""Cards: a picture for a post without one, made from its title and the blog's name.

Social networks and messengers show it beside a link. The font is that of the look, or else one of
this machine that has all the characters of the title; without such a font there is no card.
"""

import hashlib
import io
import unicodedata
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont, ImageOps, features

from publisher.base.text import shorten

WIDTH, HEIGHT, MARGIN, PORTRAIT = 1200, 630, 90, 72
LONGEST = 160  # characters of a title
_SIZES = ((92, 3), (78, 3), (66, 4), (56, 5), (46, 5))  # of a title, and how many lines have room
_NAME_SIZE, _WORDS_SIZE = 36, 34
_LONGEST_WORDS = 140  # characters of a description
# Common fonts of Linux, macOS and Windows; the last resort comes with Pillow and has ASCII only.
_FONTS = (
    "NotoSans-Bold.ttf", "DejaVuSans-Bold.ttf", "LiberationSans-Bold.ttf", "Arial Bold.ttf",
    "arialbd.ttf", "NotoSansCJK-Bold.ttc", "NotoSansCJK-Regular.ttc", "PingFang.ttc",
    "msgothic.ttc", "NotoSansArabic-Bold.ttf", "NotoSansHebrew-Bold.ttf",
    "NotoSansDevanagari-Bold.ttf", "NotoSansThai-Bold.ttf",
)  # fmt: skip
_NOT_A_CHARACTER = "\uffff"

FONTS = Path(__file__).parents[2] / "web" / "static" / "fonts"  # those that pages are given

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


@dataclass(frozen=True)
class Card:
    """The texts of a card, its colours (#rrggbb), the file of its font in `FONTS` ("" for one of
    the machine's) and the address of the blog's portrait ("" for none)."""

    title: str
    name: str
    words: str
    paper: str
    ink: str
    accent: str
    font: str = ""
    portrait: str = ""

    @property
    def digest(self) -> str:
        """A hash of everything that the card shows."""
        text = "\n".join(("2", *(str(getattr(self, field.name)) for field in fields(self))))
        return hashlib.sha256(text.encode()).hexdigest()[:12]


@lru_cache(maxsize=4096)
def drawable(text: str) -> bool:
    """Whether this machine has a font with all characters of `text`."""
    return bool(text.strip()) and _font_for(text, _NAME_SIZE) is not None


def draw(card: Card, portrait: bytes = b"") -> bytes:
    """The card as PNG; only for titles that are `drawable`. `portrait`: the picture's bytes."""
    image = Image.new("RGB", (WIDTH, HEIGHT), card.paper)
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, HEIGHT - 14, WIDTH, HEIGHT), fill=card.accent)
    first = str(FONTS / card.font) if card.font else ""
    size, font, lines = _set(shorten(card.title, LONGEST), first)
    top = MARGIN - size // 5
    for line in lines:
        pen.text((MARGIN, top), line, card.ink, font)
        top += round(size * 1.18)
    foot, top = HEIGHT - MARGIN, top + 16
    small = _font_for(card.words, _WORDS_SIZE, first) if card.words.strip() else None
    for line in _wrapped(shorten(card.words, _LONGEST_WORDS), small)[:2] if small else ():
        if (top := top + round(_WORDS_SIZE * 1.4)) > foot - PORTRAIT:
            break
        pen.text((MARGIN, top), line, mix(card.ink, card.paper, 0.7), small, "ls")
    left = MARGIN
    if portrait:
        with Image.open(io.BytesIO(portrait)) as picture:
            face = ImageOps.fit(picture.convert("RGB"), (PORTRAIT, PORTRAIT))
        mask = Image.new("L", (PORTRAIT * 4, PORTRAIT * 4))
        ImageDraw.Draw(mask).ellipse((0, 0, PORTRAIT * 4, PORTRAIT * 4), fill=255)
        image.paste(face, (MARGIN, foot - PORTRAIT), mask.resize((PORTRAIT, PORTRAIT)))
        left += PORTRAIT + 24
    if name_font := _font_for(card.name, _NAME_SIZE, first):
        height = foot - PORTRAIT // 2
        pen.text((left, height), shorten(card.name, 50), card.accent, name_font, "lm")
    out = io.BytesIO()
    image.quantize(64, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


def _set(title: str, first: str) -> tuple[int, Font, list[str]]:
    """The largest size in which the title fits, its font and its lines."""
    for size, most in _SIZES:
        font = _font_for(title, size, first) or ImageFont.load_default(size)
        lines = _wrapped(title, font)
        if len(lines) <= most:
            break
    return size, font, lines[:most]


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


def _font_for(text: str, size: int, first: str = "") -> Font | None:
    """The first font with all the characters, `first` before those of the machine; None for scripts
    whose shaping library is missing."""
    shaped = any(
        unicodedata.bidirectional(char) in ("R", "AL") or unicodedata.combining(char)
        for char in text
    )
    if shaped and not features.check("raqm"):
        return None
    for name in (*([first] if first else []), *_FONTS, ""):
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


READABLE = 4.5  # WCAG 2.2, 1.4.3: text against its background


def mix(first: str, second: str, share: float) -> str:
    """`share` (0 to 1) of `one`, the rest of `other`."""
    pairs = zip(_channels(first), _channels(second), strict=True)
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in pairs)


def contrast(first: str, second: str) -> float:
    """WCAG's contrast ratio: 1 for the same colour, 21 for black on white."""
    lighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def readable(colour: str, *backgrounds: str, least: float = READABLE) -> str:
    """`colour`, made darker or lighter until it has a contrast of `least` on all `backgrounds`."""
    goal = "#000000" if _luminance(backgrounds[0]) > 0.18 else "#ffffff"
    for step in range(21):
        moved = mix(goal, colour, step / 20)
        if min(contrast(moved, background) for background in backgrounds) >= least:
            return moved
    return goal


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _luminance(colour: str) -> float:
    shares = [channel / 255 for channel in _channels(colour)]
    red, green, blue = (s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
