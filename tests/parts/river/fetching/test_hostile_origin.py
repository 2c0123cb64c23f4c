"""A hostile origin: answers byte by byte as they were seen in the wild, and how each is taken."""

import asyncio
import errno
import gzip
import re
import socket
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from unittest.mock import Mock

import aiohttp
import pytest

from publisher.base.net import failure_of
from publisher.feed_fetching.answers import (
    LONGEST_SILENCE_SECONDS,
    HttpResult,
    Validators,
    header_hints,
)
from publisher.feed_fetching.fetch import FetchLimits, open_fetcher
from publisher.feed_fetching.http_response import LenientResponses, mended
from publisher.parts.river.polls.due_polls import PollJob
from publisher.parts.river.polls.poll_job import PollResult, run_job
from tests.conftest import MONDAY_MORNING
from tests.parts.river.origin import Origin, Reply, rss

FEED = rss("one", "two")
SIZE = str(len(FEED)).encode()
PACKED = gzip.compress(FEED, mtime=0)
CHUNKED = b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in (FEED[:50], FEED[50:])) + b"0\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\n"
FOUND = b"HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n"
LIBRARY_WORDS = (
    "aiohttp", "message=", "object at", "Error", "Errno", "http_parser", "400,", "IPv6", "0-65535"
)  # fmt: skip


class RawOrigin:
    """Sends what it is told, byte for byte; a closed connection is the end unless it is kept."""

    def __init__(self) -> None:
        self.answers: list[bytes] = []
        self.keep = False
        self.requests: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/f"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):  # clients that hang up are part of the tests
            while True:
                request = b""
                while b"\r\n\r\n" not in request:
                    part = connection.recv(65536)
                    if not part:
                        return
                    request += part
                self.requests.append(request)
                answer = self.answers[min(len(self.requests), len(self.answers)) - 1]
                for part in answer.split(b"|pause|"):
                    connection.sendall(part)
                    time.sleep(0.02)
                if not self.keep:
                    return

    def close(self) -> None:
        """Ends the waiting first. A thread that still waited would, after a stop of the process,
        go on with the socket that has this one's number by then: that of the next test."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()


@pytest.fixture
def raw() -> Iterator[RawOrigin]:
    server = RawOrigin()
    yield server
    server.close()


def poll(raw: RawOrigin, times: int = 1, total_seconds: float = 60.0) -> list[HttpResult]:
    """So many polls through one pool of connections."""

    async def go() -> list[HttpResult]:
        limits = FetchLimits(max_bytes=200_000, total_seconds=total_seconds)
        async with open_fetcher(
            contact_url="https://b.example/", allow_private=True, limits=limits
        ) as fetcher:
            return [await fetcher.fetch(raw.url) for _ in range(times)]

    return asyncio.run(go())


@pytest.mark.parametrize(
    "answer",
    [
        OK + b"Content-Length: %s\r\nContent-Length: %s\r\n\r\n" % (SIZE, SIZE) + FEED,
        OK + b"Content-Length: %s, %s\r\n\r\n" % (SIZE, SIZE) + FEED,
        OK + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNKED,
        OK + b"transfer-encoding: chunked\r\ncontent-length: 999999\r\n\r\n" + CHUNKED,
        OK + b"Content-Encoding: x-gzip\r\n\r\n" + PACKED,
        OK + b"Content-Encoding: gzip\r\n\r\n" + FEED,
        OK + b"Content-Encoding: gzip, gzip\r\n\r\n" + gzip.compress(PACKED),
        OK + b"Content-Encoding: gzip\r\n\r\n\xef\xbb\xbf" + FEED,
        OK + b"Content-Encoding: deflate\r\n\r\n" + zlib.compress(FEED),
        OK + b"Content-Encoding: deflate\r\n\r\n" + zlib.compress(FEED)[2:-4],
        OK + b"Content-Encoding: br\r\n\r\n" + FEED,
        OK + b"Content-Type: application/gzip\r\n\r\n" + PACKED,
        OK + b"Content-Encoding: gzip\r\n\r\n" + PACKED + gzip.compress(b"\n") + b"\0\0",
        OK + b"X-Long: " + b"a" * 60_000 + b"\r\n\r\n" + FEED,
        OK[:9] + b"|pause|" + OK[9:] + b"A: b\r\n|pause|\r\n" + FEED[:9] + b"|pause|" + FEED[9:],
        b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + OK + b"\r\n" + FEED,
        b"HTTP/1.1 100 Continue\r\n\r\n|pause|" + OK + b"Content-Length: %s\r\n\r\n" % SIZE + FEED,
        b"HTTP/1.0 200\r\n\r\n" + FEED,
        b"HTTP/1.1 200 OK\nServer: old\n\n" + FEED,
        OK + b"Set-Cookie: a=\xff\xfe\r\n\r\n" + FEED,
    ],
)
def test_read_as_it_was_meant(raw: RawOrigin, answer: bytes) -> None:
    """Mistakes after which there is still one way only to read the document."""
    raw.answers = [answer]
    (fetched,) = poll(raw)
    assert fetched.ok, (fetched.problem, fetched.detail)
    assert FEED in fetched.body


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n" + FEED, "bad-answer"),
        (OK + b"Content-Length: -1\r\n\r\n" + FEED, "bad-answer"),
        (OK + b"Content-Length: ten\r\n\r\n" + FEED, "bad-answer"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n" + FEED, "bad-answer"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n" + CHUNKED[:80], "truncated"),
        (OK + b"Content-Encoding: gzip\r\n\r\n" + PACKED[:-20], "truncated"),
        (OK + b"Content-Encoding: gzip\r\n\r\n" + b"\x1f\x8b" + b"x" * 99, "truncated"),
        (OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"a" * 10_000_000), "too-large"),
        (OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"aaaa") * 200_000, "too-large"),
        (OK + b"\r\n" + gzip.compress(gzip.compress(b"a" * 10_000_000)), "too-large"),
        (OK + b"X: " + b"a" * 400_000 + b"\r\n\r\n" + FEED, "bad-answer"),
        (OK + b"".join(b"X%d: y\r\n" % n for n in range(20_000)) + b"\r\n", "bad-answer"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "bad-answer"),
        (b"\x15\x03\x03\x00\x02\x02\x46", "bad-answer"),
        (b"<rss version='2.0'/>", "bad-answer"),
        (OK + b"Bad Header Name: x\r\n\r\n" + FEED, "bad-answer"),
        (b"HTTP/1.1 OK\r\n\r\n" + FEED, "bad-answer"),
        (b"HTTP/1.1 200 OK\r\nContent-Ty", "connect"),
        (b"", "connect"),
        (FOUND % b"http://[::1", "redirect-refused"),
        (FOUND % b"//", "redirect-loop"),
        (FOUND % b"http://a.example:99999/", "redirect-refused"),
        (FOUND % b"javascript:a", "redirect-refused"),
    ],
)
def test_refused_in_our_own_words(raw: RawOrigin, answer: bytes, problem: str) -> None:
    """What can be read in two ways, or not at all; one request, and no library speaks."""
    raw.answers = [answer]
    (fetched,) = poll(raw)
    assert (fetched.problem, fetched.ok) == (problem, False), fetched.detail
    assert fetched.detail
    assert not any(word in fetched.detail for word in LIBRARY_WORDS), fetched.detail
    assert len(raw.requests) == 1


def test_what_is_said_in_several_lines(raw: RawOrigin) -> None:
    """Lists are joined: `public` in a second line does not hide the max-age of the first. Of a tag
    that is said twice one comes back, as it was."""
    lines = [
        b"Cache-Control: max-age=7200", b"cache-control: public",
        b'Link: <http://h.example/>; rel="hub"', b'Link: <http://a.example/f>; rel="self"',
        b'ETag: "a"', b'ETag: "b"',
    ]  # fmt: skip
    raw.answers = [OK + b"\r\n".join(lines) + b"\r\n\r\n" + FEED]
    (fetched,) = poll(raw)
    assert header_hints(fetched.headers, MONDAY_MORNING).max_age_seconds == 7200
    assert ["hub" in fetched.headers["link"], "self" in fetched.headers["link"]] == [True, True]
    assert fetched.validators.etag == '"b"'


def test_a_connection_that_is_reset() -> None:
    """In words, as everything else."""
    assert failure_of(aiohttp.ClientOSError(errno.ECONNRESET, "x"))[1].startswith("the server")


@pytest.mark.parametrize("body", [b"hello", b"5\r\nhello\r\n0\r\n\r\n", b"|pause|hello", FEED])
def test_a_304_with_a_body(raw: RawOrigin, body: bytes) -> None:
    """It is unchanged; what follows is nobody's answer, also on a connection that is kept."""
    framing = b"Transfer-Encoding: chunked" if body[:1] == b"5" else b"Content-Length: 5"
    raw.keep = True
    raw.answers = [
        b'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n' + framing + b"\r\n\r\n" + body,
        OK + b"Content-Length: " + SIZE + b"\r\n\r\n" + FEED,
    ]
    first, second = poll(raw, times=2)
    assert (first.status, first.problem, first.headers["etag"]) == (304, "", '"a"')
    assert second.body == FEED


def test_a_plain_304_keeps_its_connection(raw: RawOrigin) -> None:
    raw.keep = True
    raw.answers = [b"HTTP/1.1 304 Not Modified\r\n\r\n"]
    assert [fetched.status for fetched in poll(raw, times=3)] == [304, 304, 304]


def test_an_answer_without_end_is_given_up(raw: RawOrigin) -> None:
    """Header after header after header: the time is bounded as well."""
    raw.answers = [OK + b"X: y\r\n|pause|" * 4_000]
    begun = time.monotonic()
    (fetched,) = poll(raw, total_seconds=0.3)
    assert not fetched.ok
    assert time.monotonic() - begun < 60


ENTITY = b"<!DOCTYPE rss [<!ENTITY nbsp '&#160;'>]>"
BOMB = b"<!DOCTYPE rss [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '" + b"&a;" * 10_000 + b"'>]>"
LEFT_OPEN = b"<p>" + b"".join(b"<b title=%d>" % n for n in range(60)) + b"<p>x" * 600


def reply(body: bytes, status: bytes = b"200 OK", *headers: bytes) -> bytes:
    """An answer with nothing wrong in its head."""
    lines = [b"HTTP/1.1 " + status, *headers, b"Content-Length: %d" % len(body), b"", body]
    return b"\r\n".join(lines)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (reply(FEED), ""),
        (reply(FEED.replace(b"About one", b"na\xefve caf\xc3\xa9")), ""),
        (reply(FEED.decode().encode("utf-16-le")), ""),
        (reply(FEED.replace(b"<rss", ENTITY + b"<rss", 1).replace(b"About", b"&nbsp;")), ""),
        (reply(FEED.replace(b"About one", b"a & b <br>")), ""),
        (reply(FEED[:-20]), ""),
        (reply(FEED.replace(b"About one", b"<![CDATA[" + LEFT_OPEN + b"]]>")), ""),
        (reply(FEED, b"206 Partial Content"), "status-206"),
        (reply(FEED.replace(b"<rss", BOMB + b"<rss", 1).replace(b"About", b"&b;")), "unsafe"),
        (reply(FEED.replace(b"<item>", b"<item>" + b"<a>" * 300, 1)), "unsafe"),
        (reply(FEED.replace(b"<item", b"<item " + b"a='b' " * 300, 1)), "unsafe"),
        (reply(b""), "not-a-feed"),
        (reply(b"", b"204 No Content"), "not-a-feed"),
        (reply(b"hello"), "not-a-feed"),
        (reply(b"<!doctype html><title>Are you human?</title>"), "not-a-feed"),
        (reply(b"{}"), "not-a-feed"),
        (reply(b'{"version": "https://jsonfeed.org", "a": ' + b"[" * 9_000), "not-a-feed"),
        (reply(b"\x89PNG\r\n"), "not-a-feed"),
        (reply(b"", b"304 Not Modified"), "status-304"),
        (reply(b"no", b"401 Unauthorized", b"WWW-Authenticate: Digest realm"), "status-401"),
        (reply(b"no", b"403 Forbidden"), "status-403"),
        (reply(b"<html><h1>Not here</h1>", b"404 Not Found"), "status-404"),
        (reply(b"no", b"410 Gone"), "status-410"),
        (reply(b"no", b"429 Slow", b"Retry-After: " + b"9" * 30), "status-429"),
        (reply(b"no", b"503 Later", b"Retry-After: Fri, 31 Dec 9999 23:59:59 GMT"), "status-503"),
        (reply(FEED, b"500 Oops"), "status-500"),
        (reply(FEED, b"999 Odd"), "status-999"),
    ],
)  # fmt: skip
def test_what_becomes_of_an_answer(raw: RawOrigin, answer: bytes, problem: str) -> None:
    """From the wire to what is stored: a document (""), or a problem in our words."""
    raw.answers = [answer]
    job = PollJob(1, "127.0.0.1", raw.url, MONDAY_MORNING, Validators(), None)

    async def go() -> PollResult:
        async with open_fetcher(contact_url="https://b.example/", allow_private=True) as fetcher:
            return await run_job(fetcher, job, lambda: MONDAY_MORNING)

    results = asyncio.run(go())
    assert results.problem == problem, results.detail
    assert "<" not in results.detail
    assert (results.document is None) == bool(problem)
    assert results.document is None or len(results.document.items) > 0
    assert (results.told_seconds or 0) <= LONGEST_SILENCE_SECONDS
    assert len(raw.requests) == 1


class Searches:
    """Stands for the expression that finds a head's end; counts the bytes that it looks at."""

    def __init__(self) -> None:
        self.bytes = 0

    def search(self, head: bytearray, start: int = 0) -> object:
        self.bytes += len(head) - start
        return re.search(rb"\r?\n\r?\n", head[start:])


def test_a_head_byte_by_byte_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else 256 kB of it, a byte at a time, keep the loop that polls everybody for half a minute."""
    searches = Searches()
    monkeypatch.setattr("publisher.feed_fetching.http_response._HEAD_END", searches)
    reader = LenientResponses(Mock())
    reader._head = bytearray()
    for byte in OK + b"X: " + b"a" * 2_000:
        reader.data_received(bytes([byte]))
    assert searches.bytes < 4 * 2_100


@pytest.mark.parametrize("name", [b"content-length", b"transfer-encoding"])
def test_blanks_in_a_head_cost_nothing(name: bytes) -> None:
    """The head of a feed's server, as long as it may be: it held the scheduler for ten minutes."""
    begun = time.thread_time()
    head = b"HTTP/1.1 200 OK\r\n" + name + b":" + b" " * 200_000 + b"\rX\r\n\r\n"
    assert mended(head) == head
    assert time.thread_time() - begun < 5.0  # it is some milliseconds


def test_a_long_header_line(origin: Origin) -> None:
    """Some servers say a lot; 64 kB a line are listened to."""
    headers = {"Content-Type": "application/rss+xml", "X-Policy": "a" * 40_000}
    url = origin.serve("/f", Reply(200, rss("a"), headers))

    async def fetch() -> HttpResult:
        async with open_fetcher(contact_url="https://b.example/", allow_private=True) as fetcher:
            return await fetcher.fetch(url)

    assert asyncio.run(fetch()).ok


def test_a_head_of_blanks_is_read_at_once() -> None:
    """In the time of its length; by its square, the loop that asks everybody stood for minutes."""
    blanks = b" " * 250_000
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 5" + blanks + b"6\r\nContent-Length:7 \t\r\n\r\n"
    assert mended(head) == head
    equal = b"HTTP/1.1 200 OK\r\ncontent-length \t:\t5 \r\nContent-Length: 5" + blanks + b"\r\n\r\n"
    assert mended(equal) == b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
