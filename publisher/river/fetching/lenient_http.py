"""Repair of HTTP response headers that aiohttp's strict parser would refuse.

A repeated, equal Content-Length counts once; Content-Length is ignored in a chunked answer
(RFC 9112 section 6.3); a 304 or 204 has no body, whatever follows it. Different lengths stay
refused: two programs that choose differently between them would see different answers.
"""

import asyncio
import re
from typing import Any

from aiohttp.client_proto import ResponseHandler

_HEAD_END = re.compile(rb"\r?\n\r?\n")
_LONGEST_HEAD = 1 << 18
_FRAMING = re.compile(
    rb"^(content-length|transfer-encoding)[ \t]*:([^\r\n]*)\r?\n",
    re.IGNORECASE | re.MULTILINE,
)


class LenientResponses(ResponseHandler):
    """aiohttp's protocol class for answers; it gets the headers from `mended`."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self._head: bytearray | None = None
        self._discarding = False

    def set_response_params(self, **params: Any) -> None:
        """A request is sent: the next bytes are the head of its answer."""
        self._head = bytearray()
        super().set_response_params(**params)

    def data_received(self, data: bytes) -> None:
        """Pass received bytes on to aiohttp; headers only once they are complete."""
        if self._head is None or not data:
            if not self._discarding:
                super().data_received(data)
            return
        looked_at = max(len(self._head) - 3, 0)  # the end may span two reads
        self._head += data
        while self._head is not None and (end := _HEAD_END.search(self._head, looked_at)):
            head, rest = bytes(self._head[: end.end()]), bytes(self._head[end.end() :])
            if head[9:10] == b"1":  # 100, 103: the answer is still to come
                super().data_received(head)
                self._head, looked_at = bytearray(rest), 0
                continue
            self._head = None
            if head[9:12] in (b"304", b"204"):
                self._end_here(head, rest)
            else:
                super().data_received(mended(head) + rest)
        if self._head and (len(self._head) > _LONGEST_HEAD or not _may_be_http(self._head)):
            self._hand_on()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Pass incomplete headers on, for the parser to refuse."""
        self._hand_on()
        super().connection_lost(exc)

    def _hand_on(self) -> None:
        held, self._head = self._head, None
        if held:
            super().data_received(bytes(held))

    def _end_here(self, head: bytes, rest: bytes) -> None:
        """Pass on an answer without a body. If one may follow, the connection is not reused."""
        if rest or _FRAMING.search(head):
            self._discarding = True
            self.force_close()
        super().data_received(_FRAMING.sub(b"", head))


def _may_be_http(head: bytearray) -> bool:
    return head[:5] == b"HTTP/"[: len(head)]


def mended(head: bytes) -> bytes:
    """The headers with one way to find the end of the body; unchanged if lengths differ."""
    found = [(name, value.strip(b" \t")) for name, value in _FRAMING.findall(head)]
    lengths = [value for name, value in found if name[:1] in b"cC"]
    chunked = any(value.lower().endswith(b"chunked") for name, value in found if name[:1] in b"tT")
    if not lengths or (len(lengths) == 1 and not chunked and b"," not in lengths[0]):
        return head
    values: set[bytes] = {part.strip() for value in lengths for part in value.split(b",")}
    if not chunked and len(values) > 1:
        return head
    without = re.sub(rb"(?im)^content-length[ \t]*:[^\r\n]*\r?\n", b"", head)
    if chunked:
        return without
    line, _, rest = without.partition(b"\n")
    return line + b"\nContent-Length: " + values.pop() + b"\r\n" + rest
