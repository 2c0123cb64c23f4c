"""Parses the bytes of one connection into requests.

httptools parses; its callbacks (`on_...`) build a checked head and a body, which is limited in size
and time while it is received, and on disk when it is long.
"""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Protocol

import httptools

from publisher.base.net import network_of
from publisher.http_server.http_head import (
    ALLOWED,
    METHODS,
    MOST_HEAD_BYTES,
    MOST_HEADERS,
    Head,
    Refused,
    make_head,
)

IN_MEMORY_BYTES = 64 * 1024
# By all unfinished bodies of a worker, and by those from one place: an import and a picture.
MOST_SPOOLED_BYTES, MOST_OF_A_PLACE = 512 * 1024 * 1024, 170 * 1024 * 1024
GRACE_SECONDS, LONGEST_SECONDS, LEAST_BYTES_A_SECOND = 10, 600, 512

# From a request's path to the most bytes that its body may have.
Limit = Callable[[str], int]


class AddressCounts(Counter[str]):
    """Amounts by the place of an address (see `network_of`); one that falls to 0 is removed."""

    def of(self, address: str) -> int:
        """How much an address has."""
        return self[network_of(address)]

    def add(self, address: str, more: int) -> int:
        """Count `more` for an address; returns how much it has now."""
        place = network_of(address)
        self[place] += more
        has = self[place]
        if not has:
            del self[place]
        return has


class Spool:
    """The bytes that all unfinished bodies of a worker hold together, and by their senders."""

    def __init__(self) -> None:
        self.held_bytes = 0
        self._of_sender = AddressCounts()

    def hold(self, sender: str, more: int) -> None:
        """Count `more` bytes, or fewer; a sender that has no share of its own is ""."""
        self.held_bytes += more
        self._of_sender.add(sender, more)

    def has_room(self, sender: str, more: int) -> bool:
        """Whether `more` bytes may be held."""
        fits = not sender or self._of_sender.of(sender) + more <= MOST_OF_A_PLACE
        return fits and self.held_bytes + more <= MOST_SPOOLED_BYTES


class Body:
    """One body; `length` is its Content-Length, None for chunks. Raises Refused if too large."""

    def __init__(self, length: int | None, limit: int, spool: Spool, sender: str) -> None:
        self.received = 0
        self._limit = limit
        self._spool, self._sender = spool, sender
        self._check(length or 0, length or 0)
        self._file: IO[bytes] = SpooledTemporaryFile(IN_MEMORY_BYTES)  # noqa: SIM115 - closed below

    def add(self, data: bytes) -> None:
        """Append bytes that were received."""
        self._check(self.received + len(data), len(data))
        self.received += len(data)
        self._spool.hold(self._sender, len(data))
        self._file.write(data)

    def too_slow(self, seconds: float) -> bool:
        """Whether too few bytes have come in `seconds`."""
        least = (seconds - GRACE_SECONDS) * LEAST_BYTES_A_SECOND
        return seconds > LONGEST_SECONDS or (seconds > GRACE_SECONDS and self.received < least)

    def whole(self) -> IO[bytes]:
        """The complete body as a file at its beginning; the caller closes it."""
        self._file.seek(0)
        self._let_go()
        return self._file

    def drop(self) -> None:
        """Discard the body."""
        self._let_go()
        self._file.close()

    def _let_go(self) -> None:
        self._spool.hold(self._sender, -self.received)
        self.received = 0

    def _check(self, length: int, more: int) -> None:
        if length > self._limit:
            raise Refused("413 Content Too Large", f"At most {self._limit:,} bytes are taken here.")
        # A short one is in memory: whoever fills the disk keeps nobody from logging in or saving.
        if length > IN_MEMORY_BYTES and not self._spool.has_room(self._sender, more):
            raise Refused(
                "503 Service Unavailable",
                "Too much is being uploaded at once; try again in a moment.",
                (("Retry-After", "10"),),
            )


@dataclass(slots=True, eq=False)
class Message:
    """A request as far as it has been received."""

    head: Head
    body: Body | None

    def drop(self) -> None:
        """Discard its body."""
        if self.body is not None:
            self.body.drop()


class Receiver(Protocol):
    """The interface of what receives the parsed requests of a connection."""

    def request_begun(self) -> None:
        """The first bytes of a request have come."""

    def head_received(self, head: Head) -> None:
        """A head is complete and valid."""

    def request_received(self, message: Message) -> None:
        """A request is complete."""


class RequestParser:
    """Parses what one connection sends, and passes requests to the receiver.

    `begun`: a request has begun and is incomplete. `message`: that request once its head is
    complete. `sender`: the peer's address, "" for our own proxy.
    """

    __slots__ = (
        "_head_bytes", "_headers", "_limit", "_parser", "_receiver", "_sender", "_spool",
        "_target", "begun", "message",
    )  # fmt: skip

    def __init__(self, receiver: Receiver, limit: Limit, spool: Spool, sender: str) -> None:
        self._receiver, self._limit, self._spool, self._sender = receiver, limit, spool, sender
        self._parser: Any = httptools.HttpRequestParser(self)
        self._target, self._head_bytes = b"", 0
        self._headers: list[tuple[bytes, bytes]] = []
        self.begun = False
        self.message: Message | None = None

    def feed(self, data: bytes) -> bytes:
        """Parse some bytes; returns the unparsed rest. After Refused nothing more can be parsed."""
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:  # an upgrade is ignored
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
        """Discard the incomplete request."""
        if self.message is not None:
            self.message.drop()
        self.message, self.begun = None, False

    # Called by httptools.

    def on_message_begin(self) -> None:
        """The first bytes of a request."""
        self.begun = True
        self._target, self._head_bytes, self._headers = b"", 0, []
        self._receiver.request_begun()

    def on_url(self, url: bytes) -> None:
        """A piece of the request target."""
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """One complete header; a trailer counts towards the limits and is dropped."""
        self._head_bytes += len(name) + len(value) + 4
        if len(self._headers) >= MOST_HEADERS or self._head_bytes > MOST_HEAD_BYTES:
            raise _long_head()
        if self.message is None:
            self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        """The head is complete: refuse the request, or prepare for its body."""
        parser = self._parser
        if len(self._target) > MOST_HEAD_BYTES // 4:
            raise Refused("414 URI Too Long", "The address is too long.")
        method, version = parser.get_method().decode("ascii"), parser.get_http_version()
        head = make_head(method, self._target, version, self._headers, parser.should_keep_alive())
        body = None
        if head.length != 0:
            if parser.should_upgrade():  # the parser would take its body for the next request
                raise Refused("400 Bad Request", "Upgrades are not supported.")
            limit = self._limit(head.environ["PATH_INFO"])
            body = Body(head.length, limit, self._spool, self._sender)
        self.message = Message(head, body)
        self._receiver.head_received(head)

    def on_body(self, data: bytes) -> None:
        """A piece of the body."""
        if self.message is not None and self.message.body is not None:
            self.message.body.add(data)

    def on_message_complete(self) -> None:
        """The request is complete."""
        message, self.message = self.message, None
        self.begun = False
        if message is not None:
            self._receiver.request_received(message)


_REQUEST_LINE = re.compile(rb"([A-Za-z]{1,20}) \S+ HTTP/1\.[01]\r\n")


def _long_head() -> Refused:
    """Made anew each time: an exception raised twice keeps the frames of the first time alive."""
    return Refused("431 Request Header Fields Too Large", "The head is too long.")


def _unknown_method(data: bytes) -> Refused:
    """405 for a request line with an unknown method, 400 for anything else."""
    line = _REQUEST_LINE.match(data.lstrip(b"\r\n"))
    if line is None or line[1].decode() in METHODS | {"TRACE"}:
        return Refused("400 Bad Request", "This is not HTTP.")
    return Refused("405 Method Not Allowed", "This method is not supported.", ALLOWED)
