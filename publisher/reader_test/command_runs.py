"""Runs a feed reader's command through the week: every quarter of an hour, or once for all of it.

A command that ends decides itself at each run whether to ask; the test's clock jumps to the next
run as soon as it has ended. A program that keeps running gets a clock that runs faster, and is
started again once. Its clock is shifted by libfaketime where that is installed; the environment
variable READER_TEST_TIME has the time, too, for programs that would rather be told.
"""

import json
import os
import re
import shlex
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from secrets import token_urlsafe
from tempfile import TemporaryFile
from typing import IO, Any

from publisher.base.clock import monotonic_seconds
from publisher.base.errors import InvalidData, InvalidInput, NotFound, TooMany
from publisher.base.text import counted
from publisher.reader_test.answering import WeekAnswer, WeekPlace, answer
from publisher.reader_test.scorecard import Scorecard, score
from publisher.reader_test.script import WEEK_HOURS
from publisher.reader_test.tester_server import serving
from publisher.reader_test.tester_trace import (
    LONG_RUNNING,
    LONGEST_PATH,
    MOST_REQUESTS,
    ONE_SHOT,
    Asked,
    Trace,
    kept_headers,
)

EVERY_SECONDS = 900
LONGEST_RUN_SECONDS = 100.0  # a silence, and what the program does after it
MOST_IDLE_RUNS = 8  # without any request; then nothing more is expected
RESTART_HOUR = 36.0
MOST_OUTPUT = 1_000_000
FAKETIME = ("/usr/lib/*/faketime/libfaketimeMT.so.1", "/usr/lib64/faketime/libfaketimeMT.so.1",
            "/usr/local/lib/faketime/libfaketimeMT.so.1")  # fmt: skip
_URL = re.compile(r"\bURL\b")
Tell = Callable[[str], None]


@dataclass
class RunClock:
    """Seconds of the test: `at` since its last step, and from then on `speed` times real time."""

    at: float = 0.0
    speed: float = 1.0
    since: float = field(default_factory=monotonic_seconds)

    def __call__(self) -> float:
        """The present second of the test."""
        return self.at + (monotonic_seconds() - self.since) * self.speed

    def jump(self, at: float) -> None:
        """Go to a second of the test."""
        self.at, self.since = at, monotonic_seconds()


class RunDesk:
    """One tester, whose trace is kept in memory; its requests are answered by `clock`."""

    def __init__(self, begins: datetime, clock: RunClock, mode: str) -> None:
        self.word, self.clock, self._lock = token_urlsafe(16), clock, threading.Lock()
        self.kept = Trace("", begins, mode)

    def answer(
        self, base: str, word: str, method: str, path: str, headers: Mapping[str, str]
    ) -> WeekAnswer:
        """The answer to a request of the program that is tested."""
        trace = self.trace(base, word)
        asked = Asked(self.clock(), method[:10], path[:LONGEST_PATH], kept_headers(headers))
        with self._lock:
            if len(trace.asked) >= MOST_REQUESTS:
                raise TooMany(f"more than {MOST_REQUESTS:,} requests", 3600)
            trace.asked.append(asked)
        place = WeekPlace(trace.address, trace.begins)
        return answer(place, asked.hours, asked.method, asked.path, asked.headers)

    def trace(self, base: str, word: str) -> Trace:
        """What was asked so far."""
        if word != self.word:
            raise NotFound("there is no such test")
        self.kept.address = f"{base}/{self.word}"
        return self.kept

    def card(self, base: str, word: str) -> Scorecard:
        """The score so far."""
        return score(self.trace(base, word))

    def speed(self, word: str) -> float:
        """How many times faster than the real one the program's clock runs."""
        return self.kept.speed

    def silence(self, word: str, seconds: float, gave_up: bool) -> None:
        """A request had no answer; kept in seconds of the program's clock."""
        with self._lock:
            self.kept.silences.append((self.clock(), seconds * self.kept.speed, gave_up))

    def begin(self, typed: str) -> str:
        """The address under test: there is only one."""
        return self.word


def faketime_library() -> str | None:
    """The path of libfaketime; None where it is not installed."""
    found = (path for pattern in FAKETIME for path in Path("/").glob(pattern.lstrip("/")))
    return next((str(path) for path in found), None)


@dataclass(frozen=True)
class CommandRun:
    """How to run a command. command: as typed, with the word URL; library: that of faketime, or
    None; port: of the test feed, 0 for any that is free; every: seconds between two runs."""

    command: str
    begins: datetime
    library: str | None
    port: int = 0
    hours: float = WEEK_HOURS
    every: int = EVERY_SECONDS

    def words(self, url: str) -> list[str]:
        """The command's words, with the address in place of URL. InvalidInput if it has none."""
        try:
            words = shlex.split(self.command)
        except ValueError as error:
            raise InvalidInput(f"--url-command: {error}") from None
        if not any(_URL.search(word) for word in words):
            raise InvalidInput("--url-command needs the word URL where the feed's address belongs")
        return [_URL.sub(lambda _: url, word) for word in words]

    def environment(self, url: str, at: float, speed: float) -> dict[str, str]:
        """The environment of the command at a second of the test."""
        now = self.begins.timestamp() + at
        told = {"READER_TEST_URL": url, "READER_TEST_TIME": str(int(now))}
        if self.library:
            faster = "" if speed == 1 else f" x{speed:g}"
            told |= {
                "LD_PRELOAD": self.library, "FAKETIME_FMT": "%s", "FAKETIME_NO_CACHE": "1",
                "FAKETIME": f"@{int(now)}{faster}",
            }  # fmt: skip
            if not faster:
                told["FAKETIME_DONT_FAKE_MONOTONIC"] = "1"
        return {**os.environ, **told}


def run_each_time(run: CommandRun, tell: Tell) -> Trace:
    """The trace of a command that ends, run every quarter of an hour of the test.

    InvalidInput if it cannot be started, InvalidData if it does not end or never asked.
    """
    clock = RunClock()
    last_words = ""
    with _served(run, clock, ONE_SHOT) as (url, trace):
        words = run.words(url)
        for at in range(0, int(run.hours * 3600), run.every):
            clock.jump(float(at))
            tell(f"hour {at / 3600:g} of {run.hours:g}, {len(trace.asked)} requests")
            with TemporaryFile() as out, TemporaryFile() as errors:
                before = len(trace.silences)
                ended = _run_once(words, run.environment(url, at, 1.0), out, errors)
                if not ended and len(trace.silences) == before:
                    raise InvalidData(
                        f"{words[0]} did not end within {LONGEST_RUN_SECONDS:.0f} s; a program"
                        " that keeps running is tested with --long-running"
                    )
                trace.runs += 1
                shown = _items(_tail(out))
                last_words = (_tail(errors).strip().splitlines() or [""])[-1]
            if shown:
                trace.shown = [(float(at), shown)]
            if not trace.asked and trace.runs == MOST_IDLE_RUNS:
                break
    trace.ran = run.hours * 3600
    if not trace.asked:
        raise InvalidData(
            f"{words[0]} was run {counted(trace.runs, 'time')} and never asked for"
            f" {url}{': ' * bool(last_words)}{last_words}"
        )
    return trace


def run_once_for_all(run: CommandRun, speed: float, tell: Tell) -> Trace:
    """The trace of a program that keeps running, under a clock that runs `speed` times as fast;
    it is ended and started again once. Raises as `run_each_time`."""
    if run.library is None and speed != 1:
        raise InvalidInput(
            "a program that keeps running needs libfaketime for a faster clock"
            " (Debian: apt install faketime), or --speed 1"
        )
    clock = RunClock(speed=speed)
    with _served(run, clock, LONG_RUNNING) as (url, trace), TemporaryFile() as errors:
        words, trace.speed = run.words(url), speed
        clock.jump(0.0)
        until = (
            [min(RESTART_HOUR, run.hours), run.hours] if run.hours > RESTART_HOUR else [run.hours]
        )
        for end in until:
            at = clock()
            if end != until[0]:
                trace.restarts.append(at)
            program = _start(words, run.environment(url, at, speed), subprocess.DEVNULL, errors)
            try:
                while clock() < end * 3600 and program.poll() is None:
                    time.sleep(0.05)
                    tell(f"hour {clock() / 3600:.0f} of {run.hours:g}, {len(trace.asked)} requests")
            finally:
                ended = program.poll()
                _end(program)
            if ended is not None:
                said = (_tail(errors).strip().splitlines() or [f"exit code {ended}"])[-1]
                raise InvalidData(
                    f"{words[0]} ended by itself at hour {clock() / 3600:.1f}: {said}"
                )
        trace.ran = min(clock(), run.hours * 3600)
    if not trace.asked:
        raise InvalidData(f"{words[0]} never asked for the feed")
    return trace


@contextmanager
def _served(run: CommandRun, clock: RunClock, mode: str) -> Iterator[tuple[str, Trace]]:
    """The address of a test feed while it is served, and its trace."""
    run.words("")  # an unusable command is refused before anything is started
    desk = RunDesk(run.begins, clock, mode)
    with serving(desk, "127.0.0.1", run.port) as base:
        yield f"{base}/{desk.word}/feed.xml", desk.trace(base, desk.word)


def _run_once(
    words: list[str], environment: dict[str, str], out: IO[bytes], errors: IO[bytes]
) -> bool:
    """Run a program; whether it ended by itself."""
    program = _start(words, environment, out, errors)
    try:
        program.wait(LONGEST_RUN_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    else:
        return True
    finally:
        _end(program)


def _start(
    words: list[str], environment: dict[str, str], out: int | IO[bytes], errors: IO[bytes]
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            words, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=errors,
            start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise InvalidInput(f"{words[0]}: {error.strerror or error}") from None


def _end(program: subprocess.Popen[bytes]) -> None:
    """End a program and what it started, which is a group of its own."""
    for signal in (15, 9):
        try:
            os.killpg(program.pid, signal)
        except (ProcessLookupError, PermissionError):
            break
        try:
            program.wait(5.0)
        except subprocess.TimeoutExpired:
            continue
    program.wait()


def _tail(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - MOST_OUTPUT, 0))
    return file.read(MOST_OUTPUT).decode("utf-8", "replace")


def _items(output: str) -> list[str]:
    """The `id` of each line of the output that is a JSON object with one."""
    found = []
    for line in output.splitlines():
        if line.startswith("{"):
            try:
                item: Any = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(item.get("id"), str):
                found.append(item["id"][:300])
    return found[:1000]
