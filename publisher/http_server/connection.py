"""One connection of the public port, on the event loop: answers from memory, or by a thread.

Requests are answered in the order in which they came, by `_advance`. Nothing here blocks: a body is
stored as it comes, a page is made by a thread, and the server's sweep ends whatever takes too long.
"""

import asyncio
from contextlib import suppress
from typing import Any

from publisher.http_server.application import Request
from publisher.http_server.http_head import Head, Refused
from publisher.http_server.http_request import Message, RequestParser
from publisher.http_server.page_threads import Page, Part
from publisher.http_server.response_bytes import ResponseBytes, encoded, refusal
from publisher.http_server.worker_state import WorkerState

HEAD_SECONDS, KEEP_SECONDS, KEEP_BUSY_SECONDS = 10, 75, 5
STALL_SECONDS, LINGER_SECONDS = 60, 3
SLICE_BYTES = 2_048  # parsed at a time: some eighty requests at most
PIECE_BYTES = 65_536  # sent at a time over TLS, which copies it


class Connection(asyncio.Protocol):
    """One connection; `since` is the second in which it last made progress.

    `used`: a request was answered. `first` are bytes that were read already and are to be parsed;
    `unsent` is the rest of an answer, after which the connection is closed.
    """

    __slots__ = (
        "_descriptor", "_ended", "_first", "_last", "_page", "_paused", "_peer", "_pending",
        "_queue", "_raw", "_requests", "_transport", "_unsent", "_worker", "_working",
        "since", "used",
    )  # fmt: skip

    def __init__(self, worker: WorkerState, first: bytes = b"", unsent: bytes = b"") -> None:
        self._worker = worker
        self._first, self._pending = first, memoryview(unsent)
        self.used = False
        self._last = False  # no further request is taken
        self._ended = False  # the peer sends no more
        self._paused = False  # the peer reads slowly
        self._working = False  # a thread works on the page
        self._requests: RequestParser | None = None  # made when there are bytes to parse
        self._page: Page | None = None  # the one that is being answered
        self._queue: list[Message | Refused] = []  # requests that wait for their turn
        self._raw = b""
        self._unsent = 0
        self.since = worker.second

    @property
    def at_rest(self) -> bool:
        """Whether no request has begun and none waits for its answer."""
        begun = self._requests is not None and self._requests.begun
        waits = self._queue or self._first or self._pending
        return not (begun or self._page is not None or waits)

    @property
    def unsent(self) -> int:
        """How many bytes wait for the peer to read."""
        size: int = self._transport.get_write_buffer_size()
        return size

    # Called by the event loop.

    def connection_made(self, transport: Any) -> None:
        """Accept the connection, or refuse it with 503 if there are too many."""
        self._transport = transport
        plain = transport.can_write_eof()  # not over TLS
        self._descriptor = transport.get_extra_info("socket").fileno() if plain else -1
        name = transport.get_extra_info("peername")
        self._peer = name[0] if name else ""
        if not self._worker.take(self, self._peer):
            self._refuse(Refused("503 Service Unavailable", "Too many connections."))
        elif self._pending:
            self._send_rest()
            self._finish()
        elif self._first:  # not here: the transport is not reading yet
            self._worker.soon(self._parse_first)

    def data_received(self, data: bytes) -> None:
        """Answer at once if the same bytes are remembered; else parse."""
        if self._last:
            return
        if self._first:
            data, self._first = self._first + data, b""
        if self.at_rest:
            request, app = self._worker.remembered.get(data), self._worker.app
            if request is not None:
                answer = app.at_once(request, self._peer, app.moment())
                if answer is not None:
                    self.used = True
                    self.since = self._worker.second
                    self._send(encoded(answer, request.connection, app.moment))
                    if request.connection == "close":
                        self._finish()
                    return
        self._parse(data)

    def eof_received(self) -> bool:
        """The peer sends no more; what it has asked for is still answered."""
        if self._first:  # read together with the end, and not parsed yet
            self.data_received(b"")
        ours = self._page is not None or self._queue or self._pending
        if not ours or not self._transport.can_write_eof():
            return False
        self._ended = True
        self._last = not self._first  # what was read is parsed after the page that is being made
        return True

    def pause_writing(self) -> None:
        """The peer reads slowly: nothing more is read from it until it has caught up."""
        self._paused = True
        self._unsent = self._transport.get_write_buffer_size()
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        """The peer has caught up: go on with its answer, or with its next request."""
        self._paused = False
        self.since = self._worker.second
        self._send_rest()
        if self._waits():
            return
        if self._page is None:
            self._go_on()
        elif not self._working:
            self._work(self._page.more)

    def connection_lost(self, _error: Exception | None) -> None:
        """Release everything; a page that a thread works on is closed when the thread is done."""
        self._last = True
        self._worker.lose(self, self._peer)
        waiting, self._queue = self._queue, []
        for message in waiting:
            if isinstance(message, Message):
                message.drop()
        if self._requests is not None:
            self._requests.drop()
            self._requests = None  # breaks a reference cycle
        if not self._working:
            self._abandon()

    # Called by the server.

    def end(self) -> None:
        """The server stops: close, unless a request is still being answered."""
        if self.at_rest:
            self._finish()

    def abort(self) -> None:
        """Close at once; unsent bytes are lost."""
        self._transport.abort()

    def sweep(self) -> None:
        """Called once a second: end whatever takes too long."""
        waited, requests = self._worker.second - self.since, self._requests
        if unsent := self.unsent:
            if unsent != self._unsent:
                self._unsent, self.since = unsent, self._worker.second
            elif waited > STALL_SECONDS:
                self._transport.abort()
        elif (self._page is not None or self._queue) and not self._transport.is_closing():
            pass  # it waits for us, not for the peer
        elif self._last:
            if waited > LINGER_SECONDS:
                self._transport.abort()
        elif requests is not None and requests.message is not None and requests.message.body:
            if requests.message.body.too_slow(waited):
                self._refuse(Refused("408 Request Timeout", "The body came too slowly."))
        elif not self.used or (requests is not None and requests.begun):
            if waited > HEAD_SECONDS:
                self._refuse(Refused("408 Request Timeout", "The request came too slowly."))
        elif waited > (KEEP_BUSY_SECONDS if self._worker.crowded else KEEP_SECONDS):
            self._finish()

    # Called by the parser.

    def request_begun(self) -> None:
        """The first bytes of a request have come."""
        if self.used:
            self.since = self._worker.second

    def head_received(self, head: Head) -> None:
        """A head is complete: 100 Continue is sent if the client waits for it."""
        self.since = self._worker.second
        waits = head.length != 0 and head.expects_continue
        if waits and not self._queue and self._page is None and not self._paused:
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def request_received(self, message: Message) -> None:
        """A request is complete: it is answered when its turn comes."""
        self._last = not message.head.keep_alive
        self._put(message)

    # Private.

    def _send(self, answer: ResponseBytes) -> None:
        """Send an answer; a long one over TLS in pieces, as the peer reads it."""
        transport, unsent = self._transport, answer.data
        if self._descriptor >= 0:  # the bytes that wait in the transport go first
            if not transport.get_write_buffer_size() and not transport.is_closing():
                try:
                    unsent = answer.send(self._descriptor)
                except OSError:
                    unsent = answer.data  # the loop's own write waits, or ends the connection
            if unsent:
                transport.write(unsent)
        elif len(unsent) <= PIECE_BYTES:
            transport.write(unsent)
        else:
            transport.set_write_buffer_limits(PIECE_BYTES)
            self._pending = memoryview(unsent)
            self._send_rest()

    def _send_rest(self) -> None:
        while self._pending and not self._waits():
            piece, self._pending = self._pending[:PIECE_BYTES], self._pending[PIECE_BYTES:]
            self._transport.write(piece)

    def _parse_first(self) -> None:
        """Parse the bytes that were read already, unless newer bytes have done so meanwhile."""
        if self._first and not self._transport.is_closing():
            self.data_received(b"")

    def _parse(self, data: bytes) -> None:
        """Parse received bytes, but stop while a page is made or the peer reads slowly."""
        while data and self._page is None and not (self._last or self._paused):
            data = self._parse_some(data)
        self._first = b"" if self._last else data
        if self._page is not None:
            self._transport.pause_reading()  # one page at a time

    def _parse_some(self, data: bytes) -> bytes:
        """Parse one slice; returns the rest of the data."""
        if self._requests is None:
            sender = "" if self._worker.trusts(self._peer) else self._peer
            self._requests = RequestParser(self, self._worker.limit, self._worker.spool, sender)
        data, remaining = data[:SLICE_BYTES], data[SLICE_BYTES:]
        self._raw = data if self.at_rest and _one_plain_head(data) else b""
        try:
            return self._requests.feed(data) + remaining
        except Refused as refused:
            if not self._last:  # bytes after `Connection: close` are ignored
                self._refuse(refused)
        return b""

    def _put(self, following: Message | Refused) -> None:
        self._queue.append(following)
        self._advance()

    def _advance(self) -> None:
        """Answer queued requests, until a page or the peer has to be waited for."""
        while self._queue and self._page is None and not self._waits():
            self.since = self._worker.second
            following = self._queue.pop(0)
            if isinstance(following, Message):
                self._answer(following)
            else:
                self._transport.write(refusal(following, self._worker.app.moment))
                if self._transport.can_write_eof():
                    with suppress(OSError):  # the peer is gone already
                        self._transport.write_eof()  # and linger, so that the peer reads the answer
                else:  # TLS cannot close one direction alone
                    self._transport.close()
                self._queue.clear()

    def _answer(self, message: Message) -> None:
        head = message.head
        keep = head.keep_alive and not (self._worker.stopping and not self._queue)
        connection = "" if keep else "close"
        if keep and head.environ["SERVER_PROTOCOL"] == "HTTP/1.0":
            connection = "keep-alive"
        request, app = Request(head.environ, connection), self._worker.app
        answer = app.at_once(request, self._peer, app.moment())
        if answer is None:
            self._begin_page(message, keep)
            return
        message.drop()
        if message.body is None and self._raw and request.memo is not None:
            self._worker.remember(self._raw, request)
        self.used = True
        self._send(encoded(answer, connection, app.moment))
        if not keep:
            self._finish()

    def _begin_page(self, message: Message, keep: bool) -> None:
        if self._worker.pages.full:
            message.drop()
            self._refuse(_BUSY)
            return
        environ = {**message.head.environ, "REMOTE_ADDR": self._peer, **self._worker.address}
        file = None
        if message.body is not None:
            environ["CONTENT_LENGTH"] = str(message.body.received)
            file = message.body.whole()
        self._page = Page(self._worker.app, environ, file, keep, self._worker.app.moment())
        self._work(self._page.begin)

    def _work(self, work: Any) -> None:
        self._working = True
        self._worker.pages.run(work, self._page_part_made)

    def _page_part_made(self, part: Part | None) -> None:
        """Called in the loop with a part of the page's answer; None if making it failed."""
        self._working = False
        if self._worker.lost(self):
            self._abandon()
            return
        if part is None:
            self.abort()
            return
        self.since = self._worker.second
        self._transport.write(part.data)
        if not part.last:
            if not self._paused and self._page is not None:
                self._work(self._page.more)
            return
        self._page, self.used = None, True
        if not part.keep:
            self._finish()
            return
        self._go_on()

    def _waits(self) -> bool:
        """Whether nothing may be written: the peer reads slowly, or is gone."""
        return self._paused or self._transport.is_closing()

    def _go_on(self) -> None:
        """Answer queued requests, then read more, or close after the last request."""
        self._advance()
        if self._first and self._page is None and not self._waits():
            self.data_received(b"")
        if self._page is None and not self._waits():
            if (self._last or self._ended) and not self._queue:
                self._finish()
            else:
                self._transport.resume_reading()

    def _abandon(self) -> None:
        """Drop the page: the peer is gone."""
        page, self._page = self._page, None
        if page is not None:
            self._worker.pages.run(page.close, _ignore)

    def _refuse(self, refused: Refused) -> None:
        """Read no more requests; `refused` is answered when its turn comes."""
        if self._requests is not None:
            self._requests.drop()
        self._last = True
        self._put(refused)

    def _finish(self) -> None:
        """Close, after the rest of an answer if there is one (see `_go_on`)."""
        self._last = True
        if not self._pending:
            self._transport.close()


_BUSY = Refused(
    "503 Service Unavailable",
    "Too many pages are being made; try again in a moment.",
    (("Retry-After", "2"),),
)


def _one_plain_head(data: bytes) -> bool:
    """Whether these bytes may be remembered: exactly one head, and not a long one."""
    return len(data) <= 1024 and data.endswith(b"\r\n\r\n") and data.count(b"\r\n\r\n") == 1


def _ignore(_part: Part | None) -> None:
    """The callback for work whose result is not needed."""
