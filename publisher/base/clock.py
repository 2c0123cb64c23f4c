"""The clock. It is read once per request, command or job and passed down as `now`.

Nothing else in the program asks the system for the time: every rule takes `now` as an argument,
so that tests, questions about the past and the simulator run the very same code.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from publisher.base.dates import format_rfc3339, parse_instant
from publisher.base.errors import InvalidInput

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The present moment, aware, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class ShiftedClock:
    """A clock that said `start` when the real one said `anchor`, and runs `speed` times faster.

    Every process of a site gets the same three values, so that all of them tell the same time.
    """

    anchor: datetime
    start: datetime
    speed: float

    def __call__(self) -> datetime:
        """The site's present moment; never earlier than `start`."""
        elapsed = max(utc_now() - self.anchor, timedelta(0))
        return self.start + elapsed * self.speed

    def to_text(self) -> str:
        """One line that carries this clock to another process (see `clock_from_text`)."""
        return f"{format_rfc3339(self.anchor)} {format_rfc3339(self.start)} {self.speed!r}"


def clock_from_text(text: str) -> ShiftedClock:
    """Read what `ShiftedClock.to_text` wrote.

    Raises InvalidInput when the text is anything else.
    """
    try:
        anchor, start, speed = text.split()
        return ShiftedClock(parse_instant(anchor), parse_instant(start), float(speed))
    except ValueError as error:
        raise InvalidInput(f"not a clock: {text!r}") from error


def real_seconds(clock: Clock, seconds: float) -> float:
    """How many real seconds pass while `clock` goes forward by `seconds`."""
    return seconds / clock.speed if isinstance(clock, ShiftedClock) else seconds


def monotonic_seconds() -> float:
    """Seconds of a clock that never goes back: for time-outs and durations, never for dates."""
    return time.monotonic()
