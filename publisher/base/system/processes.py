"""Processes and threads: what children do with signals, the scheduler's heartbeat, blocking work.

The heartbeat is a file that the scheduler touches while everything in it works. Health check,
metrics and doctor read its age, by the machine's clock: the site's may run faster. There is no
file while the site is not served, or its scheduler has not started yet.
"""

import _thread
import asyncio
import ctypes
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from publisher.base.clock import utc_now

P = ParamSpec("P")
R = TypeVar("R")

HEARTBEAT = "scheduler.alive"
LATE_SECONDS = 120.0  # a beat is due every few seconds; the rest is for busy machines
_PR_SET_PDEATHSIG, _PR_SET_NAME = 1, 15  # prctl(2)


def end_with_parent(
    parent_pid: int, on_stop: Callable[..., Any] | signal.Handlers = signal.SIG_DFL
) -> None:
    """Handle SIGTERM with `on_stop`; on Linux the kernel sends it too when the parent dies.

    Ctrl-C, which reaches every process of a terminal, is left to the parent. Exits if the parent
    has died already. On other systems a child has to check `os.getppid()` itself.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, on_stop)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent_pid:
        sys.exit(1)


def set_name(name: str) -> None:
    """Set what `top` and `ps -e` call this process, where that is possible: at most 15 bytes."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_NAME, name.encode())


def beat(instance: Path, pipe: int | None) -> None:
    """Record that everything works at this moment, in the file and for the supervisor, if one reads
    from `pipe`. A disk that refuses is ignored here, and so is a pipe that nobody reads."""
    if pipe is not None:
        with suppress(OSError):
            os.write(pipe, b".")
    with suppress(OSError):
        (instance / HEARTBEAT).touch(mode=0o600)


def end_heartbeat(instance: Path) -> None:
    """Remove the file: the scheduler ends because it was told to, or has not started yet."""
    (instance / HEARTBEAT).unlink(missing_ok=True)


def heartbeat_age_seconds(instance: Path) -> float | None:
    """Seconds since the last beat; None where there was none."""
    try:
        return max(0.0, utc_now().timestamp() - (instance / HEARTBEAT).stat().st_mtime)
    except OSError:
        return None


async def in_own_thread(work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call `work` in a thread of its own; returns its result or raises its error.

    Neither a cancelled caller nor the program's end waits for it. `asyncio.to_thread` has few
    threads, which an event loop joins at its end: a slow DNS look-up could hold that up for a
    minute.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[R] = loop.create_future()

    def finish(setter: Callable[[Any], None], outcome: object) -> None:
        if not answer.done():
            setter(outcome)

    def run() -> None:
        setter: Callable[[Any], None] = answer.set_result
        outcome: object
        try:
            outcome = work(*args, **kwargs)
        except Exception as problem:
            setter, outcome = answer.set_exception, problem
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(finish, setter, outcome)

    _thread.start_new_thread(run, ())  # `Thread.start` would block until the thread runs
    return await answer
