"""Addresses for testers: each is a secret word with a file of its own, in a folder.

Testers are strangers. A word cannot be guessed (128 bits), testers expire, and their number, the
requests of each and the bytes of each file are limited. A file is a line about the test and a line
for each request; lines are appended at once, so several processes may serve one folder.
"""

import json
import re
import secrets
import threading
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from time import thread_time
from typing import Any

from publisher.base.clock import Clock, monotonic_seconds
from publisher.base.dates import format_rfc3339, parse_rfc3339
from publisher.base.errors import InvalidInput, NotFound, TooMany
from publisher.reader_test.answering import WeekAnswer, WeekPlace, answer
from publisher.reader_test.scorecard import Scorecard, score
from publisher.reader_test.script import WEEK_HOURS
from publisher.reader_test.tester_trace import (
    LONGEST_PATH,
    MOST_REQUESTS,
    Trace,
    TracedRequest,
    kept_headers,
)

MOST_TESTERS = 100
MOST_BYTES = 2_000_000  # of one tester's file
_HEAD_BYTES = 100  # more than its first line has
NEW_AN_HOUR = 30  # testers that one process makes
REQUESTS_A_SECOND = 20  # of one tester, in real time
SCORE_KEPT, QUICK_SECONDS = 50, 0.03
FASTEST = 10_000.0
UNUSED = timedelta(hours=1)  # after which a tester that nobody asked for makes room
SHOWN = timedelta(days=2)  # for which a finished test can still be looked at
_WORD = re.compile(r"[\w-]{22}")
_METHOD = re.compile(r"[A-Z]{1,10}")


@dataclass(frozen=True, slots=True)
class ReaderTest:
    """One test under way: its word, when it was made, and how many times faster its clock runs."""

    word: str
    made: datetime
    speed: float

    @property
    def begins(self) -> datetime:
        """The full hour with which its week begins."""
        return self.made.replace(minute=0, second=0, microsecond=0)

    @property
    def ends(self) -> datetime:
        """The real moment at which its week is over."""
        left = timedelta(hours=WEEK_HOURS) - (self.made - self.begins)
        return self.made + left / self.speed

    def hours(self, now: datetime) -> float:
        """The hour of its test at a real moment; the end of the week after it."""
        ahead = max(now - self.made, timedelta(0)) * self.speed
        return min((self.made - self.begins + ahead) / timedelta(hours=1), WEEK_HOURS)


class ReaderTests:
    """The testers of one folder, which is made when the first of them is.

    New ones run at `speed` unless they choose another. `base`: the address below which each tester
    has its own, by its word. Raises NotFound for words that are unknown or expired, TooMany where a
    limit is reached.
    """

    def __init__(self, folder: Path, clock: Clock, speed: float = 1.0) -> None:
        self._folder, self._clock, self._speed = folder, clock, speed
        self._lock = threading.Lock()
        self._new: deque[datetime] = deque(maxlen=NEW_AN_HOUR)
        self._recent: dict[str, deque[datetime]] = {}
        self._cards: dict[str, tuple[float, Scorecard]] = {}  # until when each is kept

    def new_word(self, typed: str) -> str:
        """The word of a new tester, whose speed somebody has typed, or "" for the usual one."""
        try:
            return self.make(float(typed) if typed else self._speed).word
        except ValueError:
            return self.make(-1.0).word

    def make(self, speed: float) -> ReaderTest:
        """A new tester, whose clock runs `speed` times as fast as the real one."""
        if not 1 <= speed <= FASTEST:
            raise InvalidInput(f"the speed is between 1 and {FASTEST:,.0f}")
        now = self._clock()
        with self._lock:
            if len(self._new) == NEW_AN_HOUR and now - self._new[0] < timedelta(hours=1):
                raise TooMany("too many tests were begun within an hour; try again later", 3600)
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self._sweep(now) >= MOST_TESTERS:
                raise TooMany("too many tests are under way; try again tomorrow", 86_400)
            self._new.append(now)
        tester = ReaderTest(secrets.token_urlsafe(16), now, speed)
        head = {"made": format_rfc3339(now), "speed": speed}
        with self._file(tester.word).open("x", encoding="utf-8") as file:
            file.write(json.dumps(head) + "\n")
        return tester

    def named(self, word: str) -> ReaderTest:
        """The tester with this word."""
        tester = self._read(word)
        if tester is None or self._clock() > tester.ends + SHOWN:
            raise NotFound("there is no such test, or it is over")
        return tester

    def speed(self, word: str) -> float:
        """How many times faster than the real one a tester's clock runs."""
        return self.named(word).speed

    def answer(
        self, base: str, word: str, method: str, path: str, headers: Mapping[str, str]
    ) -> WeekAnswer:
        """The answer to a request of a tester, which is kept."""
        tester, now = self.named(word), self._clock()
        self._limit(tester, now)
        hours = tester.hours(now)
        verb = method if _METHOD.fullmatch(method) else "OTHER"
        request = TracedRequest(hours * 3600, verb, path[:LONGEST_PATH], kept_headers(headers))
        if hours < WEEK_HOURS:
            self._keep(tester, [round(request.at, 1), verb, request.path, dict(request.headers)])
        place = WeekPlace(f"{base}/{word}", tester.begins)
        return answer(place, hours, verb, request.path, request.headers)

    def silence(self, word: str, seconds: float, gave_up: bool) -> None:
        """Keep that a request had no answer for so many real seconds; whether the reader hung up.
        The clock of a reader that runs elsewhere is the real one."""
        tester = self.named(word)
        at = tester.hours(self._clock()) * 3600
        self._keep(tester, [round(at, 1), round(seconds, 1), gave_up])

    def _keep(self, tester: ReaderTest, row: list[Any]) -> None:
        line = json.dumps(row) + "\n"
        with suppress(FileNotFoundError):  # swept this moment: answers are the same without it
            file = self._file(tester.word)
            if file.stat().st_size + len(line) <= MOST_BYTES:
                with file.open("a", encoding="utf-8") as opened:
                    opened.write(line)

    def trace(self, base: str, word: str) -> Trace:
        """What a tester has asked so far."""
        tester = self.named(word)
        trace = Trace(f"{base}/{word}", tester.begins, speed=tester.speed)
        trace.ran = tester.hours(self._clock()) * 3600
        with (
            suppress(FileNotFoundError),
            self._file(tester.word).open(encoding="utf-8") as file,
        ):
            next(file)
            for line, _ in zip(file, range(MOST_REQUESTS), strict=False):
                with suppress(ValueError):  # a line that a full disk cut off
                    row = json.loads(line)
                    if len(row) == 3:
                        trace.silences.append((row[0], row[1], row[2]))
                    else:
                        trace.requests.append(TracedRequest(*row))
        return trace

    def card(self, base: str, word: str) -> Scorecard:
        """The score so far. A long trace takes half a second to judge and anybody may ask, so a
        score that was not quick is kept for `SCORE_KEPT` times as long as it took."""
        self.named(word)
        until, card = self._cards.get(word, (0.0, None))
        if card is not None and monotonic_seconds() < until:
            return card
        begun = thread_time()
        card = score(self.trace(base, word))
        took = thread_time() - begun
        if took > QUICK_SECONDS:
            if len(self._cards) > MOST_TESTERS:
                self._cards.clear()
            self._cards[word] = (monotonic_seconds() + SCORE_KEPT * took, card)
        return card

    def _limit(self, tester: ReaderTest, now: datetime) -> None:
        with self._lock:
            if len(self._recent) > MOST_TESTERS:
                self._recent.clear()
            recent = self._recent.setdefault(tester.word, deque(maxlen=REQUESTS_A_SECOND))
            if len(recent) == REQUESTS_A_SECOND and now - recent[0] < timedelta(seconds=1):
                raise TooMany("too many requests for one test", 60)
            recent.append(now)

    def _file(self, word: str) -> Path:
        return self._folder / f"{word}.jsonl"

    def _read(self, word: str) -> ReaderTest | None:
        if not _WORD.fullmatch(word):
            return None
        try:
            with self._file(word).open(encoding="utf-8") as file:
                head = json.loads(file.readline())
            return ReaderTest(word, parse_rfc3339(head["made"]), float(head["speed"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _sweep(self, now: datetime) -> int:
        """Remove what has expired or was never used; how many testers remain."""
        left = 0
        for path in self._folder.glob("*.jsonl"):
            tester = self._read(path.stem)
            fresh = tester is not None and now <= tester.ends + SHOWN
            used = tester is not None and (
                now - tester.made < UNUSED or path.stat().st_size > _HEAD_BYTES
            )
            if fresh and used:
                left += 1
            else:
                path.unlink(missing_ok=True)
        return left


class RunDesk:
    """One tester, whose trace is kept in memory. Its clock shows the second of the test of its last
    `jump`, and from then on runs as many times faster than the real one as its trace says."""

    def __init__(self, begins: datetime, mode: str, speed: float = 1.0) -> None:
        self.word, self._lock = secrets.token_urlsafe(16), threading.Lock()
        self.recorded = Trace("", begins, mode, speed=speed)
        self.jump(0.0)

    def jump(self, at: float) -> None:
        """Go to a second of the test."""
        self._at, self._since = at, monotonic_seconds()

    def now(self) -> float:
        """The present second of the test."""
        return self._at + (monotonic_seconds() - self._since) * self.recorded.speed

    def answer(
        self, base: str, word: str, method: str, path: str, headers: Mapping[str, str]
    ) -> WeekAnswer:
        """The answer to a request of the program that is tested."""
        trace = self.trace(base, word)
        request = TracedRequest(self.now(), method[:10], path[:LONGEST_PATH], kept_headers(headers))
        with self._lock:
            if len(trace.requests) >= MOST_REQUESTS:
                raise TooMany(f"more than {MOST_REQUESTS:,} requests", 3600)
            trace.requests.append(request)
        return answer(trace.place, request.hours, request.method, request.path, request.headers)

    def trace(self, base: str, word: str) -> Trace:
        """What was asked so far."""
        if word != self.word:
            raise NotFound("there is no such test")
        self.recorded.address = f"{base}/{word}"
        return self.recorded

    def card(self, base: str, word: str) -> Scorecard:
        """The score so far."""
        return score(self.trace(base, word))

    def speed(self, _word: str) -> float:
        """How many times faster than the real one the program's clock runs."""
        return self.recorded.speed

    def silence(self, _word: str, seconds: float, gave_up: bool) -> None:
        """A request had no answer; kept in seconds of the program's clock."""
        with self._lock:
            self.recorded.silences.append((self.now(), seconds * self.recorded.speed, gave_up))

    def new_word(self, _typed: str) -> str:
        """The address under test: there is only one."""
        return self.word


Desk = ReaderTests | RunDesk
"""Who answers the requests of a server of test feeds."""
