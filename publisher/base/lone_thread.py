"""Blocking work in a thread that nobody waits for, neither its caller's end nor the program's."""

import _thread
import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


async def in_lone_thread(work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """`work(...)` in a thread of its own; what it raises is raised.

    `asyncio.to_thread` has few threads, which an event loop joins at its end: who looks up a name
    there may keep it for a minute. Whoever is cancelled here leaves the thread behind.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[R] = loop.create_future()

    def tell(give: Callable[[Any], None], outcome: object) -> None:
        if not answer.done():
            give(outcome)

    def run() -> None:
        give: Callable[[Any], None] = answer.set_result
        outcome: object
        try:
            outcome = work(*args, **kwargs)
        except Exception as problem:
            give, outcome = answer.set_exception, problem
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(tell, give, outcome)

    _thread.start_new_thread(run, ())  # `threading` would wait until it has begun
    return await answer
