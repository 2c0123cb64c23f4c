"""The bridge from the event loop to a WSGI application, in a bounded pool of threads.

A thread gets a complete request and returns the answer to the loop a part at a time: it is busy as
long as the application works, never as long as a slow client reads.
"""

import gzip
import io
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import IO, Any

from publisher.base.clock import monotonic_seconds
from publisher.base.dates import format_rfc822
from publisher.base.system.logs import get_logger
from publisher.dynamic_ttl.core.validators import accepts_gzip
from publisher.http_server.application import Environ, WsgiApp
from publisher.http_server.http_head import Refused
from publisher.http_server.response_bytes import head_bytes, refusal

THREADS, MOST_AT_ONCE = 8, 128
PART_BYTES = 256 * 1024
STUCK_SECONDS = 60.0
LEAST_GZIP_BYTES = 1_000
_COMPRESSIBLE = ("text/", "application/xml", "application/json", "application/atom+xml")

log = get_logger("pages")


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes of an answer; `last`: nothing follows; `keep`: the connection stays open after it."""

    data: bytes
    last: bool
    keep: bool = True


class Page:
    """One request to the WSGI application. Its methods run in threads, one after the other."""

    def __init__(
        self, app: WsgiApp, environ: Environ, body: IO[bytes] | None, keep: bool, now: datetime
    ) -> None:
        self._app = app
        self._body = body or io.BytesIO()
        self._environ = {
            **environ,
            "wsgi.version": (1, 0),
            "wsgi.input": self._body,
            "wsgi.input_terminated": True,
            "wsgi.errors": io.StringIO(),
            "wsgi.multithread": True,
            "wsgi.multiprocess": True,
            "wsgi.run_once": False,
        }
        self._keep = keep
        self._now = now
        self._made: Iterable[bytes] = ()
        self._parts: Iterator[bytes] = iter(())
        self._status, self._headers = "", list[tuple[str, str]]()
        self._left: int | None = None  # bytes of the Content-Length that are not sent yet
        self._chunked = False

    def begin(self) -> Part:
        """The head of the answer and the first part of its body."""
        try:
            self._made = self._app(self._environ, self._start_response)
            self._parts = iter(self._made)
            data, over = (b"", True) if self._has_no_body() else self._pull()
            data = self._compressed(data) if over else data
            if not self._has_no_body():
                self._frame(len(data), over)
            return self._part(self._head(), data, over)
        except Exception:
            log.exception("a page failed")
            self.close()
            return Part(refusal(_FAILURE, lambda: self._now), last=True, keep=False)

    def more(self) -> Part:
        """The next part of the body."""
        try:
            return self._part(b"", *self._pull())
        except Exception:
            log.exception("an answer broke off")
            self.close()
            return Part(b"", last=True, keep=False)

    def close(self) -> None:
        """Let the application clean up, also when the answer is not needed any more."""
        close = getattr(self._made, "close", None)
        self._made, self._parts = (), iter(())
        with suppress(Exception):
            if close is not None:
                close()
        self._body.close()

    def _start_response(
        self, status: str, headers: list[tuple[str, str]], _failure: Any = None
    ) -> None:
        self._status, self._headers = status, list(headers)

    def _has_no_body(self) -> bool:
        return self._environ["REQUEST_METHOD"] == "HEAD" or self._status[:3] in ("204", "304")

    def _pull(self) -> tuple[bytes, bool]:
        """The next bytes, PART_BYTES or somewhat more, and whether they were the last."""
        taken, size = [], 0
        for chunk in self._parts:
            taken.append(chunk)
            size += len(chunk)
            if size >= PART_BYTES:
                return b"".join(taken), False
        return b"".join(taken), True

    def _frame(self, length: int, over: bool) -> None:
        """Choose Content-Length, chunks or close; `length` bytes are there, all of it if `over`."""
        announced = self._header("content-length")
        if announced:
            self._left = int(announced)
        elif over:
            self._left = length
            self._headers.append(("Content-Length", str(length)))
        elif self._environ["SERVER_PROTOCOL"] == "HTTP/1.1":
            self._chunked = True
        else:
            self._keep = False

    def _compressed(self, data: bytes) -> bytes:
        """Compress the whole body and set the headers; for HEAD, set only the headers.

        Not for requests with a cookie, unless the answer is public: the compressed length could
        reveal secrets in the page.
        """
        if self._status[:3] != "200" or not self._header("content-type").startswith(_COMPRESSIBLE):
            return data
        cookies = "HTTP_COOKIE" in self._environ or self._header("set-cookie")
        secret = cookies and not self._header("cache-control").startswith("public")
        if secret or self._header("content-encoding"):
            return data
        vary = self._header("vary")
        if "Accept-Encoding" not in vary:
            self._set("Vary", f"{vary}, Accept-Encoding" if vary else "Accept-Encoding")
        accepted = self._environ.get("HTTP_ACCEPT_ENCODING", "")
        length = len(data) or int(self._header("content-length") or 0)
        if length < LEAST_GZIP_BYTES or not accepts_gzip(accepted):
            return data
        self._set("Content-Encoding", "gzip")
        self._set("Content-Length", None)
        return gzip.compress(data, 6, mtime=0) if data else data

    def _header(self, wanted: str) -> str:
        return next((value for name, value in self._headers if name.lower() == wanted), "")

    def _set(self, name: str, value: str | None) -> None:
        self._headers = [(n, v) for n, v in self._headers if n.lower() != name.lower()]
        if value is not None:
            self._headers.append((name, value))

    def _head(self) -> bytes:
        headers = self._headers[:]
        if self._chunked:
            headers.append(("Transfer-Encoding", "chunked"))
        if not self._header("date"):
            headers.append(("Date", format_rfc822(self._now)))
        if not self._keep:
            headers.append(("Connection", "close"))
        elif self._environ["SERVER_PROTOCOL"] == "HTTP/1.0":
            headers.append(("Connection", "keep-alive"))
        return head_bytes(self._status, headers)

    def _part(self, head: bytes, data: bytes, over: bool) -> Part:
        if self._chunked:
            data = b"%x\r\n%s\r\n" % (len(data), data) if data else b""
            data += b"0\r\n\r\n" if over else b""
        elif self._left is not None:
            data = data[: self._left]
            self._left -= len(data)
        if over:
            self.close()
        whole = self._keep and not self._left
        return Part(head + data, last=over, keep=whole)


Work = Callable[[], Part | None]
Then = Callable[[Part | None], object]


class PageThreads:
    """The threads, and the requests that wait for one.

    `tell` schedules a call in the event loop's thread, from which `run` is called too. A thread
    gets its next request from the loop, not from a shared queue: otherwise the threads together
    would leave the loop a ninth of the interpreter's time.
    """

    def __init__(self, tell: Callable[..., object]) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="page")
        self._tell = tell
        self._queue: deque[tuple[Work, Then]] = deque()
        self._running = 0
        self._begun: dict[int, float] = {}

    @property
    def full(self) -> bool:
        """Whether another request would wait too long."""
        return self._running + len(self._queue) >= MOST_AT_ONCE

    @property
    def stuck(self) -> bool:
        """Whether every thread has hung for STUCK_SECONDS: the process should be replaced."""
        since = list(self._begun.values())
        long_ago = monotonic_seconds() - STUCK_SECONDS
        return len(since) >= THREADS and all(begun < long_ago for begun in since)

    def run(self, work: Work, then: Then) -> None:
        """Do `work` in a thread, then call `then` with its result in the event loop."""
        self._queue.append((work, then))
        self._start_waiting()

    def close(self) -> None:
        """Start no more work; running work goes on."""
        self._queue.clear()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _start_waiting(self) -> None:
        while self._queue and self._running < THREADS:
            self._running += 1
            self._threads.submit(self._do, *self._queue.popleft())

    def _do(self, work: Work, then: Then) -> None:
        key = threading.get_ident()
        self._begun[key] = monotonic_seconds()
        part = None
        try:
            part = work()
        except Exception:  # the thread must become free in any case
            log.exception("a page failed")
        finally:
            del self._begun[key]
        with suppress(RuntimeError):  # the loop has been closed: nobody waits
            self._tell(self._done, then, part)

    def _done(self, then: Then, part: Part | None) -> None:
        self._running -= 1
        self._start_waiting()  # first: what `then` raises must not leave the others waiting
        then(part)


_FAILURE = Refused(
    "500 Internal Server Error", "The fault is ours and has been logged. Try again later."
)
