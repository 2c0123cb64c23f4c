"""What each trick of the server earns: CPU time of one worker with all of them, and without one.

python -m bench.tricks PORT NAME    serves the instance of the environment without this trick
"""

import asyncio
import gc
import os
import socket
import statistics
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvloop

from bench import servers
from bench.blog import TEXT, make_blog
from bench.load import load, scratch, spent, tool
from bench.table import Table
from publisher.http_server import acceptor, connection, response_bytes, server, worker_state
from publisher.serving.front import FeedMiddleware
from publisher.web import worker

# Without their types: what stands in them is replaced.
_connection: Any = connection
_acceptor: Any = acceptor
_front: Any = FeedMiddleware
_server: Any = server.HttpServer
_shared: Any = worker_state.WorkerState
_bytes: Any = response_bytes

ROUNDS, SECONDS = 3, 1
ALL, LIBRARIES = (
    "all tricks",
    "uvloop and httptools, no acceptor, no remembered heads",
)
_SHAPES = {"one connection": True, "kept": False}


def _without_remembered_heads() -> None:
    _shared.remember = lambda *_: None


def _with_a_time_each() -> None:
    greet = _acceptor.Acceptor._answer_remembered

    def at_its_time(self: Any, taken: int, peer: str, _now: object) -> None:
        greet(self, taken, peer, self._worker.app.moment())

    _acceptor.Acceptor._answer_remembered = at_its_time


def _without_remembered_answers() -> None:
    at_once = FeedMiddleware.at_once

    def anew(front: FeedMiddleware, request: Any, peer: str, now: Any) -> Any:
        if request.memo is not None:
            request.memo.etag = ""  # as if the document had another tag now
        return at_once(front, request, peer, now)

    _front.at_once = anew


def _without_kept_bytes() -> None:
    made = _bytes.encoded

    def anew(answer: Any, how: str, clock: Any) -> Any:
        answer.encoded.clear()
        return made(answer, how, clock)

    _acceptor.encoded = _connection.encoded = anew


def _without_files_in_memory() -> None:
    _bytes.LONG_BYTES = 1 << 60


def _without_bare_descriptors() -> None:
    def greet(self: Any, taken: int, peer: str, _now: object) -> None:
        self._to_connection(taken, peer, b"", b"")

    _acceptor.Acceptor._answer_remembered = greet


def _with_public_accept() -> None:
    opened = _acceptor.Acceptor.open

    def accept(listener: socket.socket) -> tuple[int, Any]:
        taken, address = listener.accept()
        return taken.detach(), address

    def open_with_it(self: Any) -> None:
        opened(self)
        self._accept = lambda: accept(self._listener)

    _acceptor.Acceptor.open = open_with_it


def _one_a_wake_up() -> None:
    _acceptor.AT_ONCE = 1


def _without_option(name: str) -> Callable[[], None]:
    return lambda: delattr(socket, name)


def _without_freeze() -> None:
    collector: Any = gc
    collector.freeze = lambda: None


def _on_asyncio() -> None:
    loops: Any = uvloop
    loops.run = asyncio.run


def _libraries() -> None:
    """The event loop's own server accepts, and httptools parses each request."""
    _without_remembered_heads()

    def start(self: Any, listener: socket.socket, _tls: object = None) -> None:
        host, port, *_ = listener.getsockname()
        self._worker.address = {
            "SERVER_NAME": host, "SERVER_PORT": str(port), "wsgi.url_scheme": "http",
        }  # fmt: skip
        listener.setblocking(False)
        made = self._loop.create_server(lambda: self._connect(b"", b""), sock=listener)
        self.serving = self._loop.create_task(made)

    _server.start = start


@dataclass(frozen=True)
class Trick:
    """How to take it out; its lines of code, and what of others' that is not public it uses."""

    out: Callable[[], None] = lambda: None
    lines: str = ""
    private: str = ""


TRICKS = {
    ALL: Trick(),
    "remembered heads are not parsed": Trick(_without_remembered_heads, "25"),
    "the kind of answer is remembered": Trick(_without_remembered_answers, "16"),
    "head and body are joined once a second": Trick(_without_kept_bytes, "5"),
    "long answers go from a file in memory": Trick(_without_files_in_memory, "22"),
    "answered on the bare descriptor": Trick(_without_bare_descriptors, "25"),
    "`socket._accept`": Trick(_with_public_accept, "1", "`socket._accept`"),
    "several accepted a wake-up": Trick(_one_a_wake_up, "2"),
    "one look at the clock for these": Trick(_with_a_time_each, "1"),
    "TCP_DEFER_ACCEPT": Trick(_without_option("TCP_DEFER_ACCEPT"), "3"),
    "TCP_CORK": Trick(_without_option("TCP_CORK"), "4"),
    "gc.freeze (for pages)": Trick(_without_freeze, "2"),
    "uvloop (without: asyncio)": Trick(_on_asyncio, "1"),
    LIBRARIES: Trick(_libraries, "120"),
}


def run() -> list[Table]:
    """Workers without one trick each, and one with all, in turns."""
    columns = [f"{kind}, {shape}" for shape in _SHAPES for kind in (200, 304)]
    table = Table(
        "What each trick of the server earns",
        ["trick", *columns, "lines", "private"],
        notes="First row: CPU ms of a worker for 1,000 polls of 20 kB, one head. Others: the "
        "ms that the trick saves of it, and in brackets the share of the cost without it; medians "
        f"of {ROUNDS} rounds of {SECONDS} s in which all took turns, workers and load on cores of "
        "their own, as on a quiet machine. Lines of code.",
    )
    if tool() is None:
        return [table]
    cores = os.sched_getaffinity(0)
    with ExitStack() as stack:
        stack.callback(os.sched_setaffinity, 0, cores)
        make_blog(instance := scratch(), 60, text=TEXT[:220]).database.close()
        ups = {name: stack.enter_context(_worker(name, instance)) for name in TRICKS}
        os.sched_setaffinity(0, (cores - {max(cores)}) or cores)
        found = [
            _costs(ups, closing, conditional)
            for closing in _SHAPES.values()
            for conditional in (False, True)
        ]
    for name, trick in TRICKS.items():
        cells = []
        for costs in found:
            pairs = list(zip(costs[name], costs[ALL], strict=True))
            saved = statistics.median(without - whole for without, whole in pairs)
            share = statistics.median(1 - whole / without for without, whole in pairs)
            whole = f"{statistics.median(costs[ALL]):.1f}"
            cells.append(whole if name == ALL else f"{saved:.1f} ({share:.0%})")
        table.add(name, *cells, trick.lines, trick.private)
    return [table]


def _worker(name: str, instance: Path) -> AbstractContextManager[servers.Running]:
    """One of the workers of an instance."""
    command = [sys.executable, "-m", "bench.tricks"]
    return servers.running(lambda port: [*command, str(port), name], instance)


def _costs(
    ups: dict[str, servers.Running], closing: bool, conditional: bool
) -> dict[str, list[float]]:
    costs: dict[str, list[float]] = {name: [] for name in ups}
    headers = {"Connection": "close"} if closing else {}
    if conditional:
        headers["If-None-Match"] = "*"
    for _ in range(ROUNDS):
        for name, up in ups.items():
            before = spent(up.pid)[0]
            cost = load(f"{up.url}/rss.xml", up.pid, headers, SECONDS, warm_up_seconds=0)
            costs[name].append((spent(up.pid)[0] - before) / cost.requests * 1e6)
    return costs


def main(port: int, name: str) -> None:
    """One worker, as `publisher serve` starts it."""
    TRICKS[name].out()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        _, beat = os.pipe()
        worker.run(listener, None, beat, os.getppid())


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
