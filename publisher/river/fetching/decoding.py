"""Decompression of response bodies, whose Content-Encoding is not always true.

The bytes decide before the label: gzip is recognised by its first two bytes, and a body that
begins like text is not compressed. The size after decompression is bounded.
"""

import zlib

from aiohttp.compression_utils import (
    HAS_BROTLI,
    HAS_ZSTD,
    BrotliDecompressor,
    ZSTDDecompressor,
)

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
