"""Colours as text (#1a2b3c): mixed, and moved until they can be read on a background."""

import re

from publisher.base.errors import InvalidInput

READABLE = 4.5  # WCAG 2.2, 1.4.3: text against its background


def parse_colour(text: str) -> str:
    """A colour as `#rrggbb`, of the notations with three or six digits; InvalidInput otherwise."""
    digits = text.strip().removeprefix("#").lower()
    if not re.fullmatch(r"[0-9a-f]{3}|[0-9a-f]{6}", digits):
        raise InvalidInput("a colour such as #1a6b8c is needed")
    return "#" + (digits if len(digits) == 6 else "".join(digit * 2 for digit in digits))


def mix(one: str, other: str, share: float) -> str:
    """`share` (0 to 1) of `one`, the rest of `other`."""
    pairs = zip(_channels(one), _channels(other), strict=True)
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in pairs)


def contrast(one: str, other: str) -> float:
    """WCAG's contrast ratio: 1 for the same colour, 21 for black on white."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
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
