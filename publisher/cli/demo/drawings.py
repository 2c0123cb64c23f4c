"""The pictures of the demonstration: drawings of lines and shapes, as PNG."""

import io
import math
import random
from collections.abc import Callable

from PIL import Image, ImageDraw, ImageFilter

from publisher.cli.demo.posts_and_past import RATES

_PAPER, _INK, _SOFT, _GOLD = "#f7f5f0", "#21415c", "#9db4c4", "#d9a441"
_SIZE = (1200, 675)


def all_pictures(rng: random.Random) -> dict[str, bytes]:
    """Every drawing by its name, as PNG."""
    makers: dict[str, Callable[[random.Random], Image.Image]] = {
        "lighthouse": _lighthouse,
        "day": _day,
        "polls": _polls,
        "dawn": _dawn,
    }
    return {name: _png(make(rng)) for name, make in makers.items()}


def _png(picture: Image.Image) -> bytes:
    held = io.BytesIO()
    picture.save(held, "PNG")
    return held.getvalue()


def _dawn(_rng: random.Random) -> Image.Image:
    """Hills one behind the other under a low sun."""
    width, height = _SIZE
    sky = Image.new("RGB", _SIZE)
    draw = ImageDraw.Draw(sky)
    for y in range(height):
        share = y / height
        draw.line((0, y, width, y), fill=(int(238 - 20 * share), int(206 - 40 * share), 176))
    draw.ellipse((760, 120, 870, 230), fill="#fff4d8")
    for number, tone in enumerate(("#c79a86", "#a1746c", "#74555a", "#4a3c48", "#2a2632")):
        base, wave = height * (0.46 + 0.11 * number), 150 - 17 * number
        ridge = [
            (x, base + 46 * math.sin(x / wave + 2.1 * number) + 13 * math.sin(x / 41 + number))
            for x in range(0, width + 12, 12)
        ]
        draw.polygon([*ridge, (width, height), (0, height)], fill=tone)
    return sky.filter(ImageFilter.GaussianBlur(0.8))


def _lighthouse(rng: random.Random) -> Image.Image:
    """A light on a rock at night; stars from `rng`."""
    width, height = _SIZE
    sky = Image.new("RGB", _SIZE)
    draw = ImageDraw.Draw(sky)
    for y in range(height):
        share = y / height
        blue = (int(14 + 60 * share), int(26 + 70 * share), 66 + int(60 * share))
        draw.line((0, y, width, y), fill=blue)
    for _ in range(140):
        x, y = rng.randrange(width), rng.randrange(int(height * 0.6))
        draw.point((x, y), fill="#dfe8f5")
    beam = Image.new("L", _SIZE)
    ImageDraw.Draw(beam).polygon([(810, 205), (0, 40), (0, 330)], fill=110)
    ImageDraw.Draw(beam).polygon([(810, 205), (width, 150), (width, 260)], fill=80)
    sky.paste(Image.new("RGB", _SIZE, "#f6e3a4"), mask=beam.filter(ImageFilter.GaussianBlur(14)))
    draw.polygon([(620, 560), (700, 470), (800, 440), (910, 465), (1010, 560)], fill="#20242e")
    draw.polygon([(770, 450), (785, 235), (835, 235), (850, 450)], fill="#e9e4da")
    for y in (285, 360, 430):
        draw.polygon([(778, y + 14), (780, y - 14), (840, y - 14), (843, y + 14)], fill="#a8423f")
    draw.rectangle((780, 190, 840, 235), fill="#39404f")
    draw.ellipse((796, 196, 824, 224), fill="#fff2c2")
    draw.polygon([(774, 190), (810, 158), (846, 190)], fill="#a8423f")
    for row in range(7):
        y = 560 + row * 18
        waves = [(x, y + 5 * math.sin(x / 46 + row * 1.7)) for x in range(-10, width + 20, 10)]
        shade = 38 + row * 7
        draw.polygon([*waves, (width, height), (0, height)], fill=(shade, shade + 22, shade + 46))
    return sky


def _day(_: random.Random) -> Image.Image:
    """The hours as bars, in three tones."""
    width, height = _SIZE
    paper = Image.new("RGB", _SIZE, _PAPER)
    draw = ImageDraw.Draw(paper)
    highest, step = max(RATES), (width - 120) / 24
    for hour, rate in enumerate(RATES):
        left = 60 + hour * step
        top = height - 90 - rate / highest * (height - 200)
        tone = _INK if rate > 0.6 else "#5c7f99" if rate > 0.25 else _SOFT
        box = (left + 5, min(top, height - 96), left + step - 5, height - 90)
        draw.rounded_rectangle(box, 6, fill=tone)
    draw.line((60, height - 80, width - 60, height - 80), fill=_INK, width=3)
    for hour in range(0, 25, 6):
        x = 60 + hour * step
        draw.line((x, height - 80, x, height - 58), fill=_INK, width=3)
    return paper


def _polls(rng: random.Random) -> Image.Image:
    """Two rows of polls over a row of posts."""
    width = _SIZE[0]
    paper = Image.new("RGB", _SIZE, _PAPER)
    draw = ImageDraw.Draw(paper)

    def place(hour: float) -> float:
        return 60 + hour / 24 * (width - 120)

    def dot(hour: float, y: int, colour: str) -> None:
        x = place(hour)
        draw.ellipse((x - 7, y - 7, x + 7, y + 7), fill=colour)

    for number in range(48):
        dot(number / 2, 170, _SOFT)
    hour = 0.0
    while hour < 24:
        rate = RATES[int(hour)]
        dot(hour, 300, _INK)
        hour += 0.25 if rate > 0.6 else 1.0 if rate > 0.25 else min(8.0, max(1.0, 7.0 - hour))
    for slot, rate in enumerate(RATES):
        if rng.random() < rate:
            x = place(slot + rng.random())
            draw.rounded_rectangle((x - 4, 420, x + 4, 540), 4, fill=_GOLD)
    draw.line((60, 560, width - 60, 560), fill=_INK, width=3)
    return paper


SECONDS = 30
_FRAME_SECONDS = 0.036


def silence(seconds: int = SECONDS) -> bytes:
    """Silence as MPEG-1 layer III: 32 kbit/s, mono, 32 kHz, frames of 144 bytes and 36 ms."""
    frame = bytes([0xFF, 0xFB, 0x18, 0xC0]) + bytes(140)
    return frame * round(seconds / _FRAME_SECONDS)
