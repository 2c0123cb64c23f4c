"""Finished answers as the bytes of an HTTP response, and how they go to a socket."""

import os
from contextlib import suppress

from publisher.base.clock import Clock
from publisher.base.dates import format_rfc822
from publisher.http_server.application import Answer
from publisher.http_server.http_head import Refused

LONG_BYTES = 16_384  # shorter ones are copied in less time than a file takes


class ResponseBytes:
    """The bytes of an answer. A long one that is sent often goes from a file in memory: the kernel
    sends its pages, and need not find and fill others for each copy."""

    __slots__ = ("_again", "_file", "data")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._again = False
        self._file: int | None = None

    def send(self, taken: int) -> bytes:
        """Write what fits to a socket's descriptor; returns the rest. Raises OSError."""
        if self._file is not None:
            return self.data[os.sendfile(taken, self._file, 0, len(self.data)) :]
        if self._again and len(self.data) >= LONG_BYTES and hasattr(os, "memfd_create"):
            with suppress(OSError):  # no descriptor is free
                self._file = os.memfd_create("answer")
                os.write(self._file, self.data)
        self._again = True
        return self.data[os.write(taken, self.data) :]

    def __del__(self) -> None:
        if self._file is not None:
            os.close(self._file)


def encoded(answer: Answer, connection: str, clock: Clock) -> ResponseBytes:
    """Head and body of an answer from memory, with `connection` as its Connection header if any.

    An answer with a Date header is valid for one second: its bytes are kept for the next request.
    """
    response: ResponseBytes | None = answer.encoded.get(connection)
    if response is not None:
        return response
    headers = answer.headers
    dated = any(name == "Date" for name, _ in headers)
    if not dated:
        headers = [*headers, ("Date", format_rfc822(clock()))]
    if connection:
        headers = [*headers, ("Connection", connection)]
    response = ResponseBytes(head_bytes(answer.status, headers) + b"".join(answer.body))
    if dated:
        answer.encoded[connection] = response
    return response


def refusal(refused: Refused, clock: Clock) -> bytes:
    """The answer to a refused request; the connection is closed after it."""
    text = f"{refused}\n".encode() if not refused.status.startswith("204") else b""
    headers = [*refused.headers, ("Date", format_rfc822(clock())), ("Connection", "close")]
    if text:
        headers += [("Content-Type", "text/plain; charset=utf-8")]
        headers += [("Content-Length", str(len(text)))]
    return head_bytes(refused.status, headers) + text


def head_bytes(status: str, headers: list[tuple[str, str]]) -> bytes:
    """The head of a response."""
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\r\n".join(lines).encode("latin-1", "replace")
