"""The clock. It is read once per request, command or job and passed down as `now`.

Nothing else in the program asks the system for the time: every rule takes `now` as an argument,
so that tests, questions about the past and the simulator run the very same code.
"""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from publisher.base.dates import format_rfc3339, parse_instant
from publisher.base.errors import InvalidInput, StorageUnavailable

Clock = Callable[[], datetime]

_ASK_SECONDS = 30.0
_MOST_BACK = timedelta(seconds=1)
# Counts on while the machine is suspended, which `time.monotonic` does not do on every system.
_RUNNING = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


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
    real: Clock = field(default=utc_now, compare=False)

    def __call__(self) -> datetime:
        """The site's present moment; never earlier than `start`."""
        elapsed = max(self.real() - self.anchor, timedelta(0))
        return self.start + elapsed * self.speed

    def to_text(self) -> str:
        """One line that carries this clock to another process (see `clock_from_text`)."""
        return f"{format_rfc3339(self.anchor)} {format_rfc3339(self.start)} {self.speed!r}"


class AskedClock:
    """Follows another clock (the database server's), which `ask` reads every 30 seconds.

    In between, this machine's monotonic clock counts on; its date does not matter. `ask` runs in a
    thread, so that no caller waits; while it fails, counting goes on. The time goes back only when
    the other clock has gone back by more than a second.
    """

    def __init__(self, source: Clock) -> None:
        self._source = source
        seconds, self._reading = self._read()
        while seconds > _MOST_BACK.total_seconds():  # too slow to be exact to a second
            before = seconds
            seconds, again = self._read()
            if seconds >= before:
                break
            self._reading = again
        self._latest, running = self._reading
        self._ask_at = running + _ASK_SECONDS

    def __call__(self) -> datetime:
        """The other clock's present moment."""
        running = time.clock_gettime(_RUNNING)
        if running >= self._ask_at:
            self._ask_at = running + _ASK_SECONDS
            threading.Thread(target=self.ask_again, daemon=True).start()
        reading, at = self._reading
        moment = reading + timedelta(seconds=running - at)
        if not timedelta(0) < self._latest - moment <= _MOST_BACK:
            self._latest = moment
        return self._latest

    def ask_again(self) -> None:
        """Read the other clock now; a failure or an answer after more than a second is ignored."""
        with suppress(StorageUnavailable):
            seconds, reading = self._read()
            if seconds <= _MOST_BACK.total_seconds():
                self._reading = reading

    def _read(self) -> tuple[float, tuple[datetime, float]]:
        """Call `ask`: how many seconds it took; its time and ours (`_RUNNING`) in the middle."""
        before = time.clock_gettime(_RUNNING)
        moment = self._source()
        after = time.clock_gettime(_RUNNING)
        return after - before, (moment, (before + after) / 2)


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
