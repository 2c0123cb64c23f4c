"""Reading one HTTP answer: headers, bounded body, redirect target, names of problems.

Mistakes of servers with one possible meaning are read as they were meant: see `unpacked` for
bodies, `LenientResponses` for headers.
"""

import asyncio
import re
import zlib
from typing import Any
from urllib.parse import urljoin

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.compression_utils import HAS_BROTLI, HAS_ZSTD, BrotliDecompressor, ZSTDDecompressor
from yarl import URL

from publisher.base import net

_KEPT_ERROR_BYTES = 2_000
_LISTS = ("cache-control", "link", "www-authenticate")


class ProblemError(Exception):
    """Ends a poll: the stored name of a problem, and words for it."""

    def __init__(self, problem: str, detail: str = "") -> None:
        super().__init__(problem)
        self.problem, self.detail = problem, detail


async def body_of(response: aiohttp.ClientResponse, most: int) -> bytes:
    """The body of a 2xx, at most `most` bytes; of any other status only its beginning."""
    if response.status == 304:
        return b""
    label = response.headers.get("Content-Encoding", "")
    if not 200 <= response.status < 300:
        start = await response.content.read(_KEPT_ERROR_BYTES)
        if not response.content.at_eof():
            response.close()
        return b"" if label else start
    try:
        raw = await net.read_bounded(response, most)
    except net.OutgoingError as problem:
        raise ProblemError("too-large", str(problem)) from problem
    body = unpacked(raw, label, most)
    if len(body) > most:
        raise ProblemError("too-large", f"the answer is larger than {most} bytes")
    return body


def headers_of(response: aiohttp.ClientResponse) -> dict[str, str]:
    """Headers by lower-case name. Lists sent in several lines are joined (RFC 9110, 5.3); of any
    other repeated header the last one counts."""
    sent = response.headers
    lists = {name: ", ".join(sent.getall(name)) for name in _LISTS if name in sent}
    return {name.lower(): value for name, value in sent.items()} | lists


def target_of(base: str, location: str | None, status: int) -> str:
    """The absolute, checked address a redirect points to."""
    if not location:
        raise ProblemError("redirect-nowhere", f"status {status} without a Location")
    try:
        return net.check_url(str(URL(urljoin(base, location.strip()).partition("#")[0])))
    except ValueError:
        words = "redirected to an address that is malformed, or not to be fetched"
        raise ProblemError("redirect-refused", words) from None


_GZIP_MAGIC = b"\x1f\x8b"
_BEGINS_LIKE_TEXT = (b"<", b"{", b"\xef\xbb\xbf")
_MOST_MEMBERS = 100


def unpacked(raw: bytes, label: str, most: int) -> bytes:
    """The bytes of the document in an answer labelled `label` (its Content-Encoding).

    The bytes decide before the label: gzip is recognised by its first two bytes, and a body that
    begins like text is not compressed. An unknown label leaves the bytes as they are, for the
    parser to refuse. Beyond `most` bytes the rest is cut off, so more than `most` come back.
    """
    coding = label.strip().lower().removeprefix("x-")
    try:
        if raw.startswith(_GZIP_MAGIC):
            body = _inflated(raw, 31, most)  # packed a second time by a proxy or a cache
            return _inflated(body, 31, most) if body.startswith(_GZIP_MAGIC) else body
        if not raw or raw.lstrip()[:3].startswith(_BEGINS_LIKE_TEXT):
            return raw
        if coding == "deflate":
            is_zlib = len(raw) > 1 and raw[0] & 15 == 8 and (raw[0] << 8 | raw[1]) % 31 == 0
            return _inflated(raw, 15 if is_zlib else -15, most)
        if coding == "br" and HAS_BROTLI:
            return BrotliDecompressor().decompress_sync(raw, most + 1)
        if coding == "zstd" and HAS_ZSTD:
            return ZSTDDecompressor().decompress_sync(raw, most + 1)
    except Exception as problem:  # each library has errors of its own
        raise ProblemError(
            "truncated", "the compressed answer is damaged or breaks off"
        ) from problem
    if coding == "gzip":
        raise ProblemError("truncated", "the answer is labelled gzip, but is not gzip")
    return raw


def _inflated(raw: bytes, window_bits: int, most: int) -> bytes:
    """A zlib, raw deflate or gzip stream, which may have several members."""
    body = b""
    for _ in range(_MOST_MEMBERS):
        member = zlib.decompressobj(window_bits)
        body += member.decompress(raw, most + 1 - len(body))
        if len(body) > most or not member.unused_data.startswith(_GZIP_MAGIC):
            break  # what follows the last member is padding
        raw = member.unused_data
    if len(body) <= most and not member.eof:
        raise EOFError
    return body


_HEAD_END = re.compile(rb"\r?\n\r?\n")
_LONGEST_HEAD = 1 << 18
_FRAMING = re.compile(
    rb"^(content-length|transfer-encoding)[ \t]*+:[ \t]*+([^\r\n]*+)\r?\n",
    re.IGNORECASE | re.MULTILINE,
)
_LENGTH = re.compile(rb"^content-length[ \t]*:[^\r\n]*\r?\n", re.IGNORECASE | re.MULTILINE)


class LenientResponses(ResponseHandler):
    """aiohttp's protocol class for answers, with the headers as `mended`: its parser is strict."""

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
        while self._head and (end := _HEAD_END.search(self._head, looked_at)):
            head, body_start = bytes(self._head[: end.end()]), bytes(self._head[end.end() :])
            if head[9:10] == b"1":  # 100, 103: the answer is still to come
                super().data_received(head)
                self._head, looked_at = bytearray(body_start), 0
                continue
            self._head = None
            if head[9:12] in (b"304", b"204") and (body_start or _FRAMING.search(head)):
                self._discarding = True  # a body may follow: the connection is not used again
                self.force_close()
                head, body_start = _FRAMING.sub(b"", head), b""
            super().data_received(mended(head) + body_start)
        if self._head and (len(self._head) > _LONGEST_HEAD or self._head[:5] not in b"HTTP/"):
            self._hand_on()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Pass incomplete headers on, for the parser to refuse."""
        self._hand_on()
        super().connection_lost(exc)

    def _hand_on(self) -> None:
        held, self._head = self._head, None
        if held:
            super().data_received(bytes(held))


def mended(head: bytes) -> bytes:
    """The headers with one way to find the end of the body; unchanged if lengths differ.

    A repeated, equal Content-Length counts once; it is ignored in a chunked answer (RFC 9112
    section 6.3). Different lengths stay refused: two programs that choose differently between them
    would see different answers.
    """
    framing = _FRAMING.findall(head)
    lengths = {n.strip() for name, value in framing if name[:1] in b"cC" for n in value.split(b",")}
    chunked = any(
        v.strip().lower().endswith(b"chunked") for name, v in framing if name[:1] in b"tT"
    )
    plain = len(framing) == 1 and b"," not in framing[0][1]
    if not lengths or plain or (len(lengths) > 1 and not chunked):
        return head
    line, _, body_start = _LENGTH.sub(b"", head).partition(b"\n")
    length = b"" if chunked else b"Content-Length: " + lengths.pop() + b"\r\n"
    return line + b"\n" + length + body_start
