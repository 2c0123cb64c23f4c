"""The threads that make pages: how many work, and that the event loop has its turns."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from queue import SimpleQueue
from typing import Any

import pytest

from publisher.http_server.application import Environ
from publisher.http_server.page_threads import MOST_AT_ONCE, THREADS, Page, PageThreads, Part

LoopCalls = SimpleQueue[tuple[Callable[..., object], tuple[Any, ...]]]


@pytest.fixture
def calls() -> LoopCalls:
    """What the threads have told the event loop, which is this test."""
    return SimpleQueue()


@pytest.fixture
def threads(calls: LoopCalls) -> Iterator[PageThreads]:
    """Threads of an event loop that runs when the test takes something out of `told`."""
    made = PageThreads(lambda call, *args: calls.put((call, args)))
    yield made
    made.close()


def turn(calls: LoopCalls) -> None:
    """The event loop comes to what a thread told it next."""
    call, args = calls.get(timeout=30)
    call(*args)


def test_a_thread_takes_its_next_page_from_the_loop(threads: PageThreads, calls: LoopCalls) -> None:
    """However many wait: no more are made than threads until the loop has had its turn."""
    made, answered = list[int](), list[Part | None]()
    for number in range(THREADS + 3):
        threads.run(lambda number=number: made.append(number), answered.append)  # type: ignore[misc]
    held = [calls.get(timeout=30) for _ in range(THREADS)]
    assert sorted(made) == list(range(THREADS))
    assert calls.empty()
    for call, args in held:
        call(*args)
    for _ in range(3):
        turn(calls)
    assert sorted(made) == list(range(THREADS + 3))
    assert len(answered) == THREADS + 3


def test_a_page_that_fails_frees_its_thread(threads: PageThreads, calls: LoopCalls) -> None:
    """Whatever goes wrong in a page, the next is made; too many at once are told so."""
    answered: list[Part | None] = []
    full = []
    for _ in range(MOST_AT_ONCE):
        full.append(threads.full)
        threads.run(_fail, answered.append)
    full.append(threads.full)
    assert full == [False] * MOST_AT_ONCE + [True]
    for _ in range(MOST_AT_ONCE):
        turn(calls)
    assert answered == [None] * MOST_AT_ONCE


def _fail() -> Part | None:
    raise MemoryError


def test_a_page_with_a_wrong_length_is_an_error() -> None:
    """Whatever fails while its head is made, there is an answer: nobody waits for one in vain."""

    def app(_environ: Environ, start_response: Callable[..., Any]) -> list[bytes]:
        start_response("200 OK", [("Content-Type", "text/html"), ("Content-Length", "many")])
        return [b"text"]

    environ = {"REQUEST_METHOD": "GET", "SERVER_PROTOCOL": "HTTP/1.1"}
    part = Page(app, environ, None, True, datetime(2024, 3, 4, tzinfo=UTC)).begin()
    assert part.data.startswith(b"HTTP/1.1 500 ")
    assert part.last
    assert not part.keep
