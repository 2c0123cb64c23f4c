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
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from publisher.base.errors import InvalidData, InvalidInput
from publisher.base.text import counted
from publisher.reader_test.script import WEEK_HOURS
from publisher.reader_test.tester_server import serving
from publisher.reader_test.tester_trace import LONG_RUNNING, ONE_SHOT, Trace
from publisher.reader_test.testers import RunDesk

EVERY_SECONDS = 900
LONGEST_RUN_SECONDS = 100.0  # a silence, and what the program does after it
MOST_IDLE_RUNS = 8  # without any request; then nothing more is expected
RESTART_HOUR = 36.0
MOST_OUTPUT = 1_000_000
FAKETIME = ("/usr/lib/*/faketime/libfaketimeMT.so.1", "/usr/lib64/faketime/libfaketimeMT.so.1",
            "/usr/local/lib/faketime/libfaketimeMT.so.1")  # fmt: skip
_URL = re.compile(r"\bURL\b")
Tell = Callable[[str], None]


def faketime_library() -> str | None:
    """The path of libfaketime; None where it is not installed."""
    paths = (path for pattern in FAKETIME for path in Path("/").glob(pattern.lstrip("/")))
    return next((str(path) for path in paths), None)


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
        variables = {"READER_TEST_URL": url, "READER_TEST_TIME": str(int(now))}
        if self.library:
            faster = "" if speed == 1 else f" x{speed:g}"
            variables |= {
                "LD_PRELOAD": self.library, "FAKETIME_FMT": "%s", "FAKETIME_NO_CACHE": "1",
                "FAKETIME": f"@{int(now)}{faster}",
            }  # fmt: skip
            if not faster:
                variables["FAKETIME_DONT_FAKE_MONOTONIC"] = "1"
        return {**os.environ, **variables}


def run_each_time(run: CommandRun, tell: Tell) -> Trace:
    """The trace of a command that ends, run every quarter of an hour of the test.

    InvalidInput if it cannot be started, InvalidData if it does not end or never asked.
    """
    last_words = ""
    with _served(run, ONE_SHOT, 1.0) as (url, desk):
        words, trace = run.words(url), desk.recorded
        for at in range(0, int(run.hours * 3600), run.every):
            desk.jump(float(at))
            tell(f"hour {at / 3600:g} of {run.hours:g}, {len(trace.requests)} requests")
            with TemporaryFile() as out, TemporaryFile() as errors:
                before = len(trace.silences)
                program = _start(words, run.environment(url, at, 1.0), out, errors)
                try:
                    program.wait(LONGEST_RUN_SECONDS)
                except subprocess.TimeoutExpired:
                    if len(trace.silences) == before:
                        raise InvalidData(
                            f"{words[0]} did not end within {LONGEST_RUN_SECONDS:.0f} s; a program"
                            " that keeps running is tested with --long-running"
                        ) from None
                finally:
                    _end(program)
                trace.runs += 1
                shown = _items(_tail(out))
                last_words = _last_line(errors)
            if shown:
                trace.shown = [(float(at), shown)]
            if not trace.requests and trace.runs == MOST_IDLE_RUNS:
                break
    trace.ran = run.hours * 3600
    if not trace.requests:
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
    with _served(run, LONG_RUNNING, speed) as (url, desk), TemporaryFile() as errors:
        words, trace = run.words(url), desk.recorded
        desk.jump(0.0)
        until = [RESTART_HOUR, run.hours] if run.hours > RESTART_HOUR else [run.hours]
        for end in until:
            at = desk.now()
            if end != until[0]:
                trace.restarts.append(at)
            program = _start(words, run.environment(url, at, speed), subprocess.DEVNULL, errors)
            try:
                while desk.now() < end * 3600 and program.poll() is None:
                    time.sleep(0.05)
                    hour, requests = desk.now() / 3600, len(trace.requests)
                    tell(f"hour {hour:.0f} of {run.hours:g}, {requests} requests")
            finally:
                ended = program.poll()
                _end(program)
            if ended is not None:
                reason = _last_line(errors) or f"exit code {ended}"
                raise InvalidData(
                    f"{words[0]} ended by itself at hour {desk.now() / 3600:.1f}: {reason}"
                )
        trace.ran = min(desk.now(), run.hours * 3600)
    if not trace.requests:
        raise InvalidData(f"{words[0]} never asked for the feed")
    return trace


@contextmanager
def _served(run: CommandRun, mode: str, speed: float) -> Iterator[tuple[str, RunDesk]]:
    """The address of a test feed while it is served, and who answers there."""
    run.words("")  # an unusable command is refused before anything is started
    desk = RunDesk(run.begins, mode, speed)
    with serving(desk, "127.0.0.1", run.port) as base:
        desk.recorded.address = f"{base}/{desk.word}"
        yield f"{desk.recorded.address}/feed.xml", desk


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


def _last_line(file: IO[bytes]) -> str:
    return (_tail(file).strip().splitlines() or [""])[-1]


def _items(output: str) -> list[str]:
    """The `id` of each line of the output that is a JSON object with one."""
    ids = []
    for line in output.splitlines():
        if line.startswith("{"):
            try:
                item: Any = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(item.get("id"), str):
                ids.append(item["id"][:300])
    return ids[:1000]
