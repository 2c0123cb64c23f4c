"""The requests of one connection, put together from its bytes.

httptools parses; what it calls (`on_...`) makes a checked head and a body of them.
"""

import re
from typing import Any, Protocol

import httptools

from publisher.delivery.http_body import Body, Limit, Spool
from publisher.delivery.http_head import MOST_HEAD_BYTES, MOST_HEADERS, Head, Refused, make_head


class Message:
    """A request as far as it has been received."""

    __slots__ = ("body", "head")

    def __init__(self, head: Head, body: Body | None) -> None:
        self.head = head
        self.body = body

    def drop(self) -> None:
        """Nobody wants its body."""
        if self.body is not None:
            self.body.drop()


class Receiver(Protocol):
    """Who is told of the requests of a connection."""

    def request_begun(self) -> None:
        """The first bytes of a request have come."""

    def head_received(self, head: Head) -> None:
        """A head is whole, and may be answered."""

    def request_received(self, message: Message) -> None:
        """A request is whole."""


class RequestParser:
    """Parses what one connection sends, and tells the receiver.

    `begun`: a request has begun and is not whole. `message`: the one whose head is whole.
    """

    __slots__ = (
        "_head_bytes", "_headers", "_limit", "_parser", "_receiver", "_spool", "_target",
        "begun", "message",
    )  # fmt: skip

    def __init__(self, receiver: Receiver, limit: Limit, spool: Spool) -> None:
        self._receiver, self._limit, self._spool = receiver, limit, spool
        self._parser: Any = httptools.HttpRequestParser(self)
        self._target, self._head_bytes = b"", 0
        self._headers: list[tuple[bytes, bytes]] = []
        self.begun = False
        self.message: Message | None = None

    def feed(self, data: bytes) -> bytes:
        """Parse some bytes; what is left of them. Raises Refused: nothing more can be taken."""
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:  # there is nothing to upgrade to
            self._parser = httptools.HttpRequestParser(self)
            return data[upgrade.args[0] :]
        except httptools.HttpParserCallbackError as error:
            if not isinstance(error.__context__, Refused):
                raise
            raise error.__context__ from None
        except httptools.HttpParserInvalidMethodError:
            raise _unknown_method(data) from None
        except httptools.HttpParserError:
            raise Refused("400 Bad Request", "This is not HTTP.") from None
        if self.begun and self.message is None:
            self._head_bytes += len(data)
            if self._head_bytes > 2 * MOST_HEAD_BYTES:
                raise _long_head()
        return b""

    def drop(self) -> None:
        """Forget the request that has begun."""
        if self.message is not None:
            self.message.drop()
        self.message, self.begun = None, False

    # What httptools calls.

    def on_message_begin(self) -> None:
        """Bytes of a new request."""
        self.begun = True
        self._target, self._head_bytes, self._headers = b"", 0, []
        self._receiver.request_begun()

    def on_url(self, url: bytes) -> None:
        """A piece of the request target."""
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header, whole; a trailer is counted and forgotten."""
        self._head_bytes += len(name) + len(value) + 4
        if len(self._headers) >= MOST_HEADERS or self._head_bytes > MOST_HEAD_BYTES:
            raise _long_head()
        if self.message is None:
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
            body = Body(head.length, self._limit(head.environ["PATH_INFO"]), self._spool)
        self.message = Message(head, body)
        self._receiver.head_received(head)

    def on_body(self, data: bytes) -> None:
        """A piece of the body."""
        if self.message is not None and self.message.body is not None:
            self.message.body.add(data)

    def on_message_complete(self) -> None:
        """The request is whole."""
        message, self.message = self.message, None
        self.begun = False
        if message is not None:
            self._receiver.request_received(message)


_REQUEST_LINE = re.compile(rb"([A-Za-z]{1,20}) \S+ HTTP/1\.[01]\r\n")
_KNOWN_METHODS = {b"GET", b"HEAD", b"POST", b"PUT", b"DELETE", b"OPTIONS", b"PATCH", b"TRACE"}


def _long_head() -> Refused:
    """Made anew each time: an exception that is raised again keeps all frames of before alive."""
    return Refused("431 Request Header Fields Too Large", "The head is too long.")


def _unknown_method(data: bytes) -> Refused:
    """405 for a request with a method that nobody knows, 400 for what is none."""
    line = _REQUEST_LINE.match(data.lstrip(b"\r\n"))
    if line is None or line[1] in _KNOWN_METHODS:
        return Refused("400 Bad Request", "This is not HTTP.")
    allowed = (("Allow", "GET, HEAD"),)
    return Refused("405 Method Not Allowed", "This method is not known here.", allowed)
