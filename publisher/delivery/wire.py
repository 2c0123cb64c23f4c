"""Finished answers as the bytes that go over the wire."""

import os
from contextlib import suppress

from publisher.base.clock import Clock
from publisher.base.dates import format_rfc822
from publisher.delivery.http_head import Refused
from publisher.feeds.feed_answer import FeedAnswer

_LONG_BYTES = 16_384  # below it copying is as cheap
_OFTEN = 8  # to make a file costs as much as this many copies save


class Wire:
    """The bytes of an answer; those of a long one that is asked for often are a file in memory too.

    The kernel sends the pages of a file as they are (`sendfile`), and would copy bytes.
    """

    __slots__ = ("_copies", "_file", "data")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._copies = 0  # how often it was copied that needed not
        self._file: int | None = None

    def __del__(self) -> None:
        if self._file is not None:
            os.close(self._file)

    def send(self, connected: int) -> bytes:
        """Write what a connection's descriptor takes at once; the rest. OSError as `os.write`."""
        data = self.data
        if self._file is not None:
            return data[os.sendfile(connected, self._file, 0, len(data)) :]
        if len(data) > _LONG_BYTES:
            self._copies += 1
            if self._copies == _OFTEN and hasattr(os, "memfd_create"):
                with suppress(OSError):  # no descriptor is free: it is copied again
                    self._file = os.memfd_create("answer")
                    os.write(self._file, data)
        return data[os.write(connected, data) :]


def wire(answer: FeedAnswer, connection: str, clock: Clock) -> Wire:
    """Head and body of an answer from memory, with `connection` as its Connection header if any.

    An answer with a date of its own is made of one second: its bytes are kept for the next poll.
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
    """The answer to a request that is not answered; it is the last one of its connection."""
    text = f"{refused}\n".encode() if not refused.status.startswith("204") else b""
    headers = [*refused.headers, ("Date", format_rfc822(clock())), ("Connection", "close")]
    if text:
        headers += [("Content-Type", "text/plain; charset=utf-8")]
        headers += [("Content-Length", str(len(text)))]
    return _head(refused.status, headers) + text


def _head(status: str, headers: list[tuple[str, str]]) -> bytes:
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\r\n".join(lines).encode("latin-1", "replace")
