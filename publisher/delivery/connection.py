"""One connection of the public port, on the event loop: polls are answered, the rest is handed on.

Requests are answered in the order in which they came. What the parser calls (`on_...`) puts a
message together; `_advance` answers it when its turn comes. Nothing here waits: a body is taken as
it comes, a page is made by a thread, and the server's sweep ends whatever takes too long.
"""

import asyncio
import re
from collections import deque
from typing import Any

import httptools

from publisher.delivery.front import Poll
from publisher.delivery.http_body import Body
from publisher.delivery.http_head import MOST_HEAD_BYTES, MOST_HEADERS, Head, Refused, make_head
from publisher.delivery.http_shared import Shared
from publisher.delivery.page_threads import Page, Part
from publisher.delivery.wire import refusal, wire

HEAD_SECONDS, KEEP_SECONDS, KEEP_BUSY_SECONDS = 10, 75, 5
STALL_SECONDS, LINGER_SECONDS = 60, 3
SLICE_BYTES = 2_048  # parsed at a time: some eighty requests at most


class Message:
    """A request as far as it has been received."""

    __slots__ = ("body", "head")

    def __init__(self, head: Head, body: Body | None) -> None:
        self.head = head
        self.body = body


class Connection(asyncio.Protocol):
    """One connection; `since` is the second in which it last made progress.

    `used`: something was answered. `first` are bytes that were read and wait to be parsed, `unsent`
    the rest of an answer after which it ends.
    """

    __slots__ = (
        "_begun", "_first", "_head_bytes", "_headers", "_last", "_message", "_page", "_parser",
        "_paused", "_peer", "_queue", "_raw", "_rest", "_shared", "_target", "_transport",
        "_unsent", "_working", "since", "used",
    )  # fmt: skip

    def __init__(self, shared: Shared, first: bytes = b"", unsent: bytes = b"") -> None:
        self._shared = shared
        self._first, self._rest = first, unsent
        self._begun = False  # a message has begun and is not complete
        self.used = False
        self._last = False  # no further request is taken
        self._paused = False  # the peer reads slowly
        self._working = False  # a thread is at the page
        self._parser: Any = None  # made when bytes come that are not known
        self._message: Message | None = None  # whose head is complete
        self._page: Page | None = None  # that is being answered
        self._queue: deque[Message | Refused] | None = None  # those that wait for their turn
        self._raw = b""
        self._unsent = 0
        self.since = shared.second

    @property
    def at_rest(self) -> bool:
        """Whether no request has begun and none waits for its answer."""
        return not (self._begun or self._page is not None or self._queue or self._first)

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection, or refuse one too many of an address."""
        self._transport: Any = transport
        name = transport.get_extra_info("peername")
        self._peer = name[0] if name else ""
        if not self._shared.take(self, self._peer):
            self._refuse(Refused("503 Service Unavailable", "Too many connections."))
        elif self._rest:
            self._send_rest()
        elif self._first:  # not here: the transport is not reading yet
            self._shared.soon(self._begin)

    def data_received(self, data: bytes) -> None:
        """Answer a poll whose bytes came before, or parse."""
        if self._last:
            return
        if self._first:
            data, self._first = self._first + data, b""
        if self.at_rest:
            poll = self._shared.known.get(data)
            if poll is not None:
                answer = self._shared.front.poll(poll, self._peer, self._shared.front.moment())
                if answer is not None:
                    self.used = True
                    self.since = self._shared.second
                    self._transport.write(wire(answer, poll.connection, self._shared.front.clock))
                    if poll.connection == "close":
                        self._finish()
                    return
        self._parse(data)

    def eof_received(self) -> bool:
        """The peer sends no more; what it has asked is answered."""
        if self._first:  # it came with the end, and was not looked at yet
            self.data_received(b"")
        if (self._page is None and not self._queue) or not self._transport.can_write_eof():
            return False
        self._last = True
        return True

    def pause_writing(self) -> None:
        """The peer reads slowly: nothing more is taken from it until it does."""
        self._paused = True
        self._unsent = self._transport.get_write_buffer_size()
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        """The peer has read: go on with the answer that it gets, or with its next request."""
        self._paused = False
        self.since = self._shared.second
        if self._transport.is_closing():
            return
        if self._page is None:
            self._go_on()
        elif not self._working:
            self._work(self._page.more)

    def connection_lost(self, _error: Exception | None) -> None:
        """Let go of everything; a page that a thread is at is closed when it comes back."""
        self._last = True
        self._shared.lose(self, self._peer)
        waiting, self._queue = self._queue, None
        for message in (self._message, *(waiting or ())):
            if isinstance(message, Message) and message.body is not None:
                message.body.drop()
        self._message = None
        if not self._working:
            self._abandon()

    # What the server calls.

    def end(self) -> None:
        """The server stops: what was asked is answered, nothing new is taken."""
        if self.at_rest:
            self._finish()

    def abort(self) -> None:
        """Close at once; what was not sent yet is lost."""
        self._transport.abort()

    def sweep(self) -> None:
        """Once a second: end what takes too long."""
        waited = self._shared.second - self.since
        if unsent := self._transport.get_write_buffer_size():
            if unsent != self._unsent:
                self._unsent, self.since = unsent, self._shared.second
            elif waited > STALL_SECONDS:
                self._transport.abort()
        elif self._page is not None or self._queue:
            pass  # ours to do
        elif self._last:
            if waited > LINGER_SECONDS:
                self._transport.abort()
        elif self._message is not None and self._message.body is not None:
            if self._message.body.too_slow(waited):
                self._refuse(Refused("408 Request Timeout", "The body came too slowly."))
        elif self._begun or not self.used:
            if waited > HEAD_SECONDS:
                self._refuse(Refused("408 Request Timeout", "The request came too slowly."))
        elif waited > (KEEP_BUSY_SECONDS if self._shared.crowded else KEEP_SECONDS):
            self._finish()

    # What the parser calls.

    def on_message_begin(self) -> None:
        """Bytes of a new request."""
        self._begun = True
        self._target, self._head_bytes = b"", 0
        self._headers: list[tuple[bytes, bytes]] = []
        if self.used:
            self.since = self._shared.second

    def on_url(self, url: bytes) -> None:
        """A piece of the request target."""
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header, whole; a trailer is counted and forgotten."""
        self._head_bytes += len(name) + len(value) + 4
        if len(self._headers) >= MOST_HEADERS or self._head_bytes > MOST_HEAD_BYTES:
            raise _LONG_HEAD
        if self._message is None:
            self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        """The head is whole: refuse the request, or get ready for its body."""
        parser = self._parser
        if len(self._target) > MOST_HEAD_BYTES // 4:
            raise Refused("414 URI Too Long", "The address is too long.")
        method, version = parser.get_method().decode("ascii"), parser.get_http_version()
        head = make_head(method, self._target, version, self._headers, parser.should_keep_alive())
        body = None
        if head.length != 0:
            if parser.should_upgrade():  # the parser would take its body for the next request
                raise Refused("400 Bad Request", "Nothing is upgraded here, so ask without it.")
            limit = self._shared.limit(head.environ["PATH_INFO"])
            body = Body(head.length, limit, self._shared.spool)
            if head.expects_continue and not self._queue and self._page is None:
                self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self._message = Message(head, body)
        self.since = self._shared.second

    def on_body(self, data: bytes) -> None:
        """A piece of the body."""
        if self._message is not None and self._message.body is not None:
            self._message.body.add(data)

    def on_message_complete(self) -> None:
        """The request is whole."""
        message, self._message = self._message, None
        self._begun = False
        if message is not None:
            self._last = not message.head.keep_alive
            self._put(message)

    # What this connection does.

    def _send_rest(self) -> None:
        self._transport.write(self._rest)
        self._rest = b""
        self._finish()

    def _begin(self) -> None:
        """Look at what was read before, unless more has come with it meanwhile."""
        if self._first and not self._transport.is_closing():
            self.data_received(b"")

    def _parse(self, data: bytes) -> None:
        """Take what has come, but no further while an answer is made or the peer reads slowly."""
        while data and self._page is None and not (self._last or self._paused):
            data = self._parse_some(data)
        self._first = b"" if self._last else data
        if self._page is not None:
            self._transport.pause_reading()  # one page after the other

    def _parse_some(self, data: bytes) -> bytes:
        """Parse a slice; what is left of the data."""
        if self._parser is None:
            self._parser = httptools.HttpRequestParser(self)
        data, rest = data[:SLICE_BYTES], data[SLICE_BYTES:]
        self._raw = data if self.at_rest and _one_plain_head(data) else b""
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:  # there is nothing to upgrade to
            self._parser = None
            return data[upgrade.args[0] :] + rest
        except httptools.HttpParserCallbackError as error:
            if not isinstance(error.__context__, Refused):
                raise
            self._refuse(error.__context__)
        except httptools.HttpParserInvalidMethodError:
            self._refuse(_unknown_method(data))
        except httptools.HttpParserError:
            if not self._last:  # else it is what follows `Connection: close`
                self._refuse(Refused("400 Bad Request", "This is not HTTP."))
        if self._begun and self._message is None:
            self._head_bytes += len(data)
            if self._head_bytes > 2 * MOST_HEAD_BYTES:
                self._refuse(_LONG_HEAD)
        return rest

    def _put(self, following: Message | Refused) -> None:
        if self._queue is None:
            self._queue = deque()
        self._queue.append(following)
        self._advance()

    def _advance(self) -> None:
        """Answer what is next, until a page or the peer has to be waited for."""
        while self._queue and self._page is None and not self._waits():
            self.since = self._shared.second
            following = self._queue.popleft()
            if isinstance(following, Message):
                self._answer(following)
            else:
                self._transport.write(refusal(following, self._shared.front.clock))
                if self._transport.can_write_eof():
                    self._transport.write_eof()  # and linger, so that it is read before the end
                else:  # TLS ends both ways at once
                    self._transport.close()
                self._queue.clear()

    def _answer(self, message: Message) -> None:
        head, body = message.head, message.body
        keep = head.keep_alive and not (self._shared.stopping and not self._queue)
        connection = "" if keep else "close"
        if keep and head.environ["SERVER_PROTOCOL"] == "HTTP/1.0":
            connection = "keep-alive"
        poll = Poll(head.environ, head.environ["PATH_INFO"], connection)
        answer = self._shared.front.poll(poll, self._peer, self._shared.front.moment())
        if answer is None:
            self._begin_page(head, body, keep)
            return
        if body is not None:
            body.drop()
        elif self._raw and poll.document is not None:
            self._shared.remember(self._raw, poll)
        self.used = True
        self._transport.write(wire(answer, connection, self._shared.front.clock))
        if not keep:
            self._finish()

    def _begin_page(self, head: Head, body: Body | None, keep: bool) -> None:
        if self._shared.pages.full:
            if body is not None:
                body.drop()
            self._refuse(_BUSY)
            return
        environ = {**head.environ, "REMOTE_ADDR": self._peer, **self._shared.address}
        file = None
        if body is not None:
            environ["CONTENT_LENGTH"] = str(body.received)
            file = body.whole()
        self._page = Page(self._shared.app, environ, file, keep, self._shared.front.clock())
        self._work(self._page.begin)

    def _work(self, work: Any) -> None:
        self._working = True
        self._shared.pages.run(work, self._made)

    def _made(self, part: Part | None) -> None:
        """Back in the loop: a part of the page's answer."""
        self._working = False
        if part is None:
            return
        if self._shared.lost(self):
            self._abandon()
            return
        self.since = self._shared.second
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
        """Answer what waits, then take more, or end if nothing more is taken."""
        self._advance()
        if self._first and self._page is None and not self._waits():
            self.data_received(b"")
        if self._page is None and not self._waits():
            if self._last and not self._queue:
                self._finish()
            else:
                self._transport.resume_reading()

    def _abandon(self) -> None:
        """Nobody wants the answer any more."""
        page, self._page = self._page, None
        if page is not None:
            self._shared.pages.run(page.close, _nothing)

    def _refuse(self, refused: Refused) -> None:
        """Take no more; `refused` is said when its turn comes."""
        if self._message is not None and self._message.body is not None:
            self._message.body.drop()
        self._message, self._begun, self._last = None, False, True
        self._put(refused)

    def _finish(self) -> None:
        self._last = True
        self._transport.close()


_REQUEST_LINE = re.compile(rb"([A-Za-z]{1,20}) \S+ HTTP/1\.[01]\r\n")
_KNOWN_METHODS = {b"GET", b"HEAD", b"POST", b"PUT", b"DELETE", b"OPTIONS", b"PATCH", b"TRACE"}
_LONG_HEAD = Refused("431 Request Header Fields Too Large", "The head is too long.")
_BUSY = Refused(
    "503 Service Unavailable",
    "Too many pages are being made; try again in a moment.",
    (("Retry-After", "2"),),
)


def _one_plain_head(data: bytes) -> bool:
    """Whether these bytes may be kept: exactly one head, and not a long one."""
    return len(data) <= 1024 and data.endswith(b"\r\n\r\n") and data.count(b"\r\n\r\n") == 1


def _unknown_method(data: bytes) -> Refused:
    """405 for a request with a method that nobody knows, 400 for what is none."""
    line = _REQUEST_LINE.match(data.lstrip(b"\r\n"))
    if line is None or line[1] in _KNOWN_METHODS:
        return Refused("400 Bad Request", "This is not HTTP.")
    allowed = (("Allow", "GET, HEAD"),)
    return Refused("405 Method Not Allowed", "This method is not known here.", allowed)


def _nothing(_part: Part | None) -> None:
    """The callback of work whose result nobody waits for."""
