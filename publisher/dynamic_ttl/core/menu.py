"""The ttl values an author allows: `15/60/480`, any other list, `any`, or `any:15-1440`."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

ANY_FLOOR_MINUTES = 15
ANY_CEILING_MINUTES = 1440
LARGEST_MINUTES = 7 * 1440
MILESTONES = 24
BAND_LIMITS = (20, 45, 120, 300)  # minutes: the longest ttl of each band but the last


def band(minutes: int) -> int:
    """The band of a ttl, 0 (up to 20 minutes) to 4 (above 300): its shade in the day strip."""
    return bisect_left(BAND_LIMITS, minutes)


@dataclass(frozen=True, slots=True)
class Menu:
    """The allowed ttl values in minutes, ascending, and the text that they were read from."""

    text: str
    values: tuple[int, ...]

    @property
    def smallest(self) -> int:
        return self.values[0]

    def nearest(self, minutes: int) -> int:
        """The value closest to `minutes`; the smaller of two that are equally close."""
        return min(self.values, key=lambda value: (abs(value - minutes), value))

    def at_most(self, minutes: int) -> int:
        """The largest value not above `minutes`, or the smallest value if all are above."""
        return self.values[max(0, bisect_right(self.values, minutes) - 1)]

    def next_above(self, minutes: int) -> int | None:
        """The smallest value above `minutes`, or None."""
        return next((value for value in self.values if value > minutes), None)

    @property
    def coarse(self) -> bool:
        """Whether the menu is short enough (`MILESTONES` values) to try every value."""
        return len(self.values) <= MILESTONES

    def milestones(self) -> tuple[int, ...]:
        """A sample of the menu: at most `MILESTONES` values in about equal ratios."""
        if self.coarse:
            return self.values
        ratio = (self.values[-1] / self.values[0]) ** (1 / (MILESTONES - 1))
        steps = (self.values[0] * ratio**step for step in range(MILESTONES))
        return tuple(sorted({self.nearest(round(step)) for step in steps}))


def parse_menu(text: str) -> Menu:
    """Parse a menu; the ValueError's message says what is wrong with the text."""
    text = text.strip().lower()
    if text == "any":
        return Menu(text, tuple(range(ANY_FLOOR_MINUTES, ANY_CEILING_MINUTES + 1)))
    if text.startswith("any:"):
        floor, dash, ceiling = text[4:].partition("-")
        if not dash:
            raise ValueError(f"menu {text!r}: limits are written any:15-1440")
        low, high = _minutes(floor, text), _minutes(ceiling, text)
        if low > high:
            raise ValueError(f"menu {text!r}: the first limit is above the second")
        return Menu(text, tuple(range(low, high + 1)))
    values = sorted({_minutes(part, text) for part in text.split("/")})
    return Menu("/".join(map(str, values)), tuple(values))


def _minutes(part: str, text: str) -> int:
    part = part.strip()
    if not (part.isascii() and part.isdigit()):
        raise ValueError(f"menu {text!r}: {part!r} is not a whole number of minutes")
    value = int(part) if len(part) < 10 else LARGEST_MINUTES + 1
    if not 1 <= value <= LARGEST_MINUTES:
        raise ValueError(f"menu {text!r}: {part} is not between 1 and {LARGEST_MINUTES} minutes")
    return value
