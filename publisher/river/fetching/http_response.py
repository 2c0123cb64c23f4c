"""Reading one HTTP answer: headers, bounded body, redirect target, names of problems."""

import asyncio
import re
import ssl
import zlib
from typing import Any
from urllib.parse import urljoin

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.compression_utils import (
    HAS_BROTLI,
    HAS_ZSTD,
    BrotliDecompressor,
    ZSTDDecompressor,
)
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
        return unpacked(await net.read_bounded(response, most), label, most)
    except (net.OutgoingError, TooLargeBody) as problem:
        raise ProblemError("too-large", str(problem)) from problem
    except DamagedBody as problem:
        raise ProblemError("truncated", str(problem)) from problem


def headers_of(response: aiohttp.ClientResponse) -> dict[str, str]:
    """Headers by lower-case name. Lists sent in several lines are joined (RFC 9110, 5.3); of any
    other repeated header the last one counts."""
    sent = response.headers
    lists = {name: ", ".join(sent.getall(name)) for name in _LISTS if name in sent}
    return {name.lower(): value for name, value in sent.items()} | lists


def target_of(here: str, location: str | None, status: int) -> str:
    """The absolute, checked address a redirect points to."""
    if not location:
        raise ProblemError("redirect-nowhere", f"status {status} without a Location")
    try:
        target = str(URL(urljoin(here, location.strip()).partition("#")[0]))
    except ValueError:
        raise ProblemError("redirect-refused", "redirected to a malformed address") from None
    try:
        return net.check_url(target)
    except ValueError as problem:
        raise ProblemError("redirect-refused", f"redirected to a bad address: {problem}") from None


def name_of(failure: BaseException) -> str:
    """The stored name of a failure; `net.explain_failure` has the sentence."""
    cause = getattr(failure, "os_error", failure)
    if isinstance(cause, net.PrivateAddressError) or getattr(cause, "errno", 0) == 13:
        return "private-address"
    kinds: list[tuple[type[BaseException] | tuple[type[BaseException], ...], str]] = [
        (TimeoutError, "timeout"),
        (aiohttp.ClientConnectorDNSError, "dns"),
        ((aiohttp.ClientConnectorCertificateError, aiohttp.ClientSSLError, ssl.SSLError), "tls"),
        (aiohttp.ClientPayloadError, "truncated"),
        ((aiohttp.ClientConnectorError, aiohttp.ServerDisconnectedError, OSError), "connect"),
    ]
    return next((name for kind, name in kinds if isinstance(failure, kind)), "bad-answer")


_GZIP_MAGIC = b"\x1f\x8b"
_BEGINS_LIKE_TEXT = (b"<", b"{", b"\xef\xbb\xbf")
_MOST_MEMBERS = 100


class DamagedBody(ValueError):
    """The body is not what its label says, or breaks off."""


class TooLargeBody(ValueError):
    """The unpacked body is larger than allowed."""


def unpacked(raw: bytes, label: str, most: int) -> bytes:
    """The bytes of the document in an answer labelled `label` (its Content-Encoding).

    Raises DamagedBody, or TooLargeBody beyond `most` bytes. An unknown label leaves the bytes as
    they are, for the parser to refuse.
    """
    coding = label.strip().lower().removeprefix("x-")
    if raw.startswith(_GZIP_MAGIC):
        body = _inflated(raw, 31, most)  # packed a second time by a proxy or a cache
        return _inflated(body, 31, most) if body.startswith(_GZIP_MAGIC) else body
    if raw.lstrip()[:3].startswith(_BEGINS_LIKE_TEXT):
        return raw
    if coding == "gzip" and raw:
        raise DamagedBody("the answer is labelled gzip, but is not gzip")
    if coding == "deflate" and raw:
        is_zlib = len(raw) > 1 and raw[0] & 15 == 8 and (raw[0] << 8 | raw[1]) % 31 == 0
        return _inflated(raw, 15 if is_zlib else -15, most)
    return _by_library(raw, coding, most)


def _inflated(raw: bytes, window_bits: int, most: int) -> bytes:
    """A zlib, raw deflate or gzip stream, which may have several members."""
    parts: list[bytes] = []
    size = 0
    for _ in range(_MOST_MEMBERS):
        member = zlib.decompressobj(window_bits)
        try:
            parts.append(member.decompress(raw, most + 1 - size))
        except zlib.error as problem:
            raise DamagedBody("the compressed answer is damaged") from problem
        size += len(parts[-1])
        if size > most:
            raise TooLargeBody(f"the answer is larger than {most} bytes")
        if not member.eof:
            raise DamagedBody("the compressed answer breaks off")
        raw = member.unused_data
        if not raw.startswith(_GZIP_MAGIC):  # what follows the last member is padding
            break
    return b"".join(parts)


def _by_library(raw: bytes, coding: str, most: int) -> bytes:
    """Decompress br or zstd with aiohttp's classes; unchanged where they are not installed."""
    decoder: BrotliDecompressor | ZSTDDecompressor
    if coding == "br" and HAS_BROTLI:
        decoder = BrotliDecompressor()
    elif coding == "zstd" and HAS_ZSTD:
        decoder = ZSTDDecompressor()
    else:
        return raw
    try:
        body = decoder.decompress_sync(raw, most + 1)
        while len(body) <= most and decoder.data_available:
            more = decoder.decompress_sync(b"", most + 1 - len(body))
            if not more:
                break
            body += more
    except Exception as problem:  # each library has errors of its own
        raise DamagedBody("the compressed answer is damaged") from problem
    if len(body) > most:
        raise TooLargeBody(f"the answer is larger than {most} bytes")
    return body


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
