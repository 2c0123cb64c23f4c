"""Inputs made of real samples: bytes changed, cut out, doubled, swapped, spliced, nested."""

import random
from collections.abc import Sequence

# What parsers stumble over, of all formats: each sample meets all of them.
PIECES = (
    b"<", b">", b"&", b"&amp;", b"&#0;", b"&#x110000;", b"<![CDATA[", b"]]>", b"<!--", b"-->", b"<?",
    b"<!DOCTYPE a [", b"<item>", b"</item>", b"<entry>", b"<outline xmlUrl='http://a'>", b"\x00",
    b"\xff", b"\xc3\x28", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xf4\x90\x80\x80", b"\\ud800", b"\\u0000",
    b"{", b"}", b"[", b"]", b'"', b"'", b",", b":", b"null", b"true", b"-1", b"1e999", b"9" * 40,
    b"[]", b"{}", b"\n", b"\r\n", b"\r", b"\t", b";", b"=", b"%", b"%00", b"%ff", b"..", b"/../",
    b"---\n", b"+++\n", b"- ", b"> ", b"    ", b"```\n", b"~~~", b"*", b"_", b"**", b"![", b"](", b"[^a]",
    b"[a]: ", b"<a ", b"|", b"|---|", b"www.a.b/", b"mailto:a@", b"http://[", b"javascript:", b"\xe2\x80\xae",
    b"0000-00-00", b"2024-02-30T25:61:61Z", b"Mon, 99 Foo 20244 00:00:00 -9999", b"!!python/object", b"&a *a",
    b"W/", b'W/"', b"Bearer ", b"session=", b"Basic ", b"gzip;q=", b"bytes=0-", b"AND", b"NEAR(", b"OR NOT", b"*",
)  # fmt: skip
MOST_BYTES = 20_000


def mutated(samples: Sequence[bytes], rng: random.Random) -> bytes:
    """One input: a sample with one to a dozen changes."""
    body = bytearray(rng.choice(samples))
    for _ in range(rng.randint(1, 12)):
        _change(body, samples, rng)
    return bytes(body[:MOST_BYTES])


def _change(body: bytearray, samples: Sequence[bytes], rng: random.Random) -> None:
    at = rng.randrange(len(body) + 1)
    end = min(len(body), at + rng.choice((1, 4, 30, 300)))
    match rng.randrange(8):
        case 0 if at < len(body):
            body[at] = rng.randrange(256)
        case 1:
            del body[at:end]
        case 2:
            body[at:at] = body[at:end]
        case 3:
            body[at:at] = rng.choice(PIECES)
        case 4:
            body[at:at] = rng.choice(PIECES) * rng.choice((2, 50, 400))
        case 5:
            other = rng.choice(samples)
            start = rng.randrange(len(other) + 1)
            body[at:at] = other[start : start + rng.choice((10, 100, 1000))]
        case 6:
            body[at:end] = rng.choice(PIECES)
        case _:
            body[at:at] = rng.randbytes(rng.choice((1, 8, 40)))
