"""Blocking work in a thread that neither a cancelled caller nor the program's end waits for."""

import _thread
import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


async def in_lone_thread(work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call `work` in a thread of its own; returns its result or raises its error.

    `asyncio.to_thread` has few threads, which an event loop joins at its end: a slow DNS look-up
    could hold that up for a minute. If the caller is cancelled, the thread here runs on.
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
