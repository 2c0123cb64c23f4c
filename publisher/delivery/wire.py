"""Finished answers as the bytes of an HTTP response."""

import os
from contextlib import suppress

from publisher.base.clock import Clock
from publisher.base.dates import format_rfc822
from publisher.delivery.http_head import Refused
from publisher.feeds.feed_answer import FeedAnswer

_LONG_BYTES = 16_384  # for shorter answers copying is as cheap as sendfile
_OFTEN = 8  # making a file costs as much as this many copies save


class Wire:
    """The bytes of an answer; a long one that is sent often is also kept as a file in memory.

    The kernel sends a file's pages without copying them (`sendfile`), but would copy bytes.
    """

    __slots__ = ("_copies", "_file", "data")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._copies = 0  # how often a long answer was copied
        self._file: int | None = None

    def __del__(self) -> None:
        if self._file is not None:
            os.close(self._file)

    def send(self, connected: int) -> bytes:
        """Write to a connection's descriptor, without blocking; returns the unsent rest.

        Raises OSError as `os.write`.
        """
        data = self.data
        if self._file is not None:
            return data[os.sendfile(connected, self._file, 0, len(data)) :]
        if len(data) > _LONG_BYTES:
            self._copies += 1
            if self._copies == _OFTEN and hasattr(os, "memfd_create"):
                with suppress(OSError):  # no descriptor is free: go on copying
                    self._file = os.memfd_create("answer")
                    os.write(self._file, data)
        return data[os.write(connected, data) :]


def wire(answer: FeedAnswer, connection: str, clock: Clock) -> Wire:
    """Head and body of an answer from memory, with `connection` as its Connection header if any.

    An answer with a Date header is valid for one second: its bytes are kept for the next poll.
    """
    kept: Wire | None = answer.wires.get(connection)
    if kept is not None:
        return kept
    headers = answer.headers
    dated = any(name == "Date" for name, _ in headers)
    if not dated:
        headers = [*headers, ("Date", format_rfc822(clock()))]
    if connection:
        headers = [*headers, ("Connection", connection)]
    made = Wire(_head(answer.status, headers) + b"".join(answer.body))
    if dated:
        answer.wires[connection] = made
    return made


def refusal(refused: Refused, clock: Clock) -> bytes:
    """The answer to a refused request; the connection is closed after it."""
    text = f"{refused}\n".encode() if not refused.status.startswith("204") else b""
    headers = [*refused.headers, ("Date", format_rfc822(clock())), ("Connection", "close")]
    if text:
        headers += [("Content-Type", "text/plain; charset=utf-8")]
        headers += [("Content-Length", str(len(text)))]
    return _head(refused.status, headers) + text


def _head(status: str, headers: list[tuple[str, str]]) -> bytes:
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\r\n".join(lines).encode("latin-1", "replace")
