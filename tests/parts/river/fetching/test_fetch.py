"""One polite GET, against a real server over real sockets.

The nineteen resources are those of Mark Pilgrim's aggregator client HTTP tests (2003);
the redirect cases are those that feedparser once kept under tests/http.
"""

import asyncio
import base64
import bz2
import gzip
import hashlib
import re
import tracemalloc
from collections.abc import Callable, Mapping
from itertools import pairwise

import brotli
import pytest
from aiohttp import ThreadedResolver
from backports import zstd

from publisher.feed_fetching.address_book import AddressBook
from publisher.feed_fetching.addresses import work_unit
from publisher.feed_fetching.answers import Credentials, HttpResult, Validators
from publisher.feed_fetching.fetch import FetchLimits, open_fetcher
from tests.parts.river.origin import Origin, Reply, conditional, rss

FEED = rss("one", "two")
XML = {"Content-Type": "application/rss+xml"}
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda body: gzip.compress(body, mtime=0),
    "br": lambda body: brotli.compress(body, quality=3),
    "zstd": zstd.compress,
}


def poll(
    url: str,
    validators: Validators | None = None,
    credentials: Credentials | None = None,
    *,
    limits: FetchLimits | None = None,
    allow_private: bool = True,
) -> HttpResult:
    """One poll with a fetcher of its own."""

    async def go() -> HttpResult:
        async with open_fetcher(
            contact_url="https://blog.example/about", allow_private=allow_private, limits=limits
        ) as fetcher:
            return await fetcher.fetch(url, validators, credentials)

    return asyncio.run(go())


@pytest.mark.parametrize("status", [200, 220])
def test_success(origin: Origin, status: int) -> None:
    """200.xml, 220.xml: a 2xx, known or not, brings the document."""
    answer = poll(origin.serve("/f.xml", Reply(status, FEED, XML)))
    assert (answer.ok, answer.body, answer.permanent_url) == (True, FEED, None)


@pytest.mark.parametrize(
    ("status", "stored"),
    [
        (300, False),
        (301, True),
        (302, False),
        (303, False),
        (307, False),
        (308, True),
        (320, False),
    ],
)
def test_redirects(origin: Origin, status: int, stored: bool) -> None:
    """300.xml to 320.xml: every redirect is followed; only 301 and 308 offer a new address."""
    target = origin.serve("/target.xml", Reply(200, FEED, XML))
    answer = poll(origin.serve("/f.xml", Reply(status, b"", {"Location": "/target.xml"})))
    assert (answer.ok, answer.url) == (True, target)
    assert answer.permanent_url == (target if stored else None)


def test_a_temporary_hop_ends_the_permanent_run(origin: Origin) -> None:
    """301 then 302: the stored address may become the first target, never the last."""
    middle = origin.serve("/b", Reply(302, b"", {"Location": "/c"}))
    origin.serve("/c", Reply(200, FEED, XML))
    answer = poll(origin.serve("/a", Reply(301, b"", {"Location": "/b"})))
    assert (answer.ok, answer.permanent_url) == (True, middle)


@pytest.mark.parametrize("status", [400, 403, 404, 410, 420, 500, 520])
def test_errors(origin: Origin, status: int) -> None:
    """400.xml to 520.xml: an error is an answer with a status, and its text is kept."""
    answer = poll(origin.serve("/f.xml", Reply(status, b"the reason")))
    assert (answer.ok, answer.status, answer.body, answer.problem) == (
        False,
        status,
        b"the reason",
        "",
    )


@pytest.mark.parametrize("encoding", PACKERS)
def test_compressed_bodies(origin: Origin, encoding: str) -> None:
    """200_gzip.xml, FRB 140, 141: gzip, br and zstd are offered and decoded."""
    headers = {**XML, "Content-Encoding": encoding}
    answer = poll(origin.serve("/f.xml", Reply(200, PACKERS[encoding](FEED), headers)))
    assert answer.body == FEED
    assert encoding in origin.log[0].headers["accept-encoding"]


@pytest.mark.parametrize(
    ("etag", "modified"),
    [
        ('W/"a\\b-gzip"', ""),
        ("unquoted;gzip", ""),
        ("", "Sat, 07 Sep 2002 00:00:01 GMT"),
        ("", "Sat, 7 Sep 2002 0:0:1 +0200 (odd)"),
        ('"both"', "Sat, 07 Sep 2002 00:00:01 GMT"),
    ],
)
def test_validators_come_back_verbatim(origin: Origin, etag: str, modified: str) -> None:
    """etag.xml, lastmodified.xml: what was received is sent, byte for byte, and earns a 304."""
    url = origin.serve("/f.xml", conditional(FEED, etag, modified))
    first = poll(url)
    second = poll(url, first.validators)
    assert (second.not_modified, second.conditional) == (True, True)
    assert origin.log[1].headers.get("if-none-match", "") == etag
    assert origin.log[1].headers.get("if-modified-since", "") == modified


def test_validators_are_a_pair_of_one_answer(origin: Origin) -> None:
    """FRB 014: an answer with an ETag alone leaves no older Last-Modified behind."""
    answer = poll(origin.serve("/f", Reply(200, FEED, {"ETag": '"x"'})))
    assert answer.validators == Validators('"x"', None, origin.url + "/f")


def test_basic_authentication(origin: Origin) -> None:
    """200_basic_auth.xml: 401, then 200; once known the scheme is used at once."""
    expected = "Basic " + base64.b64encode(b"test:basic").decode()

    def route(headers: Mapping[str, str]) -> Reply:
        if headers.get("authorization") == expected:
            return Reply(200, FEED, XML)
        return Reply(401, b"", {"WWW-Authenticate": 'Basic realm="Use test/basic"'})

    url = origin.serve("/f.xml", route)
    answer = poll(url, credentials=Credentials("test", "basic"))
    assert (answer.ok, answer.auth_scheme, len(origin.log)) == (True, "basic", 2)
    assert poll(url, credentials=Credentials("test", "basic", answer.auth_scheme)).ok
    assert len(origin.log) == 3
    assert poll(url).status == 401


def test_digest_authentication(origin: Origin) -> None:
    """200_digest_auth.xml: the server checks the digest of test/digest."""

    def route(headers: Mapping[str, str]) -> Reply:
        fields = dict(re.findall(r'(\w+)="?([^",]*)"?', headers.get("authorization", "")))
        ha1 = hashlib.md5(b"test:DigestTest:digest").hexdigest()  # noqa: S324
        ha2 = hashlib.md5(b"GET:/f.xml").hexdigest()  # noqa: S324
        parts = [ha1, "n0nce", fields.get("nc", ""), fields.get("cnonce", ""), "auth", ha2]
        good = hashlib.md5(":".join(parts).encode()).hexdigest()  # noqa: S324
        if fields.get("response") == good:
            return Reply(200, FEED, XML)
        challenge = 'Digest realm="DigestTest", nonce="n0nce", qop="auth", algorithm=MD5'
        return Reply(401, b"", {"WWW-Authenticate": challenge})

    url = origin.serve("/f.xml", route)
    assert poll(url, credentials=Credentials("test", "digest")).ok
    assert poll(url, credentials=Credentials("test", "wrong")).status == 401


def test_credentials_stay_with_their_origin(origin: Origin) -> None:
    """A redirect to another host is not given the password, nor foreign validators."""
    other_origin = Origin()
    try:
        target = other_origin.serve("/f.xml", Reply(200, FEED, XML))
        url = origin.serve("/go", Reply(302, b"", {"Location": target}))
        validators = Validators('"secret-tag"', None, url)
        assert poll(url, validators, Credentials("u", "p", "basic")).ok
        assert "authorization" in origin.log[0].headers
        assert origin.log[0].headers["if-none-match"] == '"secret-tag"'
        assert "authorization" not in other_origin.log[0].headers
        assert "if-none-match" not in other_origin.log[0].headers
    finally:
        other_origin.close()


def test_redirect_to_304(origin: Origin) -> None:
    """A redirect whose target answers 304 is a 304 with the target's address."""
    target = origin.serve("/target", conditional(FEED, '"t"'))
    url = origin.serve("/go", Reply(302, b"", {"Location": "/target"}))
    first = poll(url)
    second = poll(url, first.validators)
    assert (second.status, second.not_modified, second.url) == (304, True, target)


@pytest.mark.parametrize(
    ("location", "problem"),
    [
        (None, "redirect-nowhere"),
        ("/f", "redirect-loop"),
        ("file:///etc/passwd", "redirect-refused"),
        ("ftp://127.0.0.1/x", "redirect-refused"),
        ("http://user:pw@127.0.0.1/", "redirect-refused"),
        ("http://[bad/", "redirect-refused"),
    ],
)
def test_redirects_that_lead_nowhere(origin: Origin, location: str | None, problem: str) -> None:
    """A 302 without, with a looping or with an impossible Location is an error, not a crash."""
    headers = {"Location": location} if location else {}
    answer = poll(origin.serve("/f", Reply(302, b"", headers)))
    assert (answer.ok, answer.problem) == (False, problem)


def test_endless_redirects_are_bounded(origin: Origin) -> None:
    """A chain of ever new addresses ends after a few requests."""
    for number in range(50):
        origin.serve(f"/{number}", Reply(302, b"", {"Location": f"/{number + 1}"}))
    assert poll(origin.url + "/0").problem == "redirect-loop"
    assert len(origin.log) < 10


@pytest.mark.parametrize("encoding", PACKERS)
def test_size_is_bounded_after_decompression(origin: Origin, encoding: str) -> None:
    """A bomb of 20 MB is given up at the limit, before much of it has been unpacked."""
    bomb = PACKERS[encoding](b" " * 20_000_000)
    url = origin.serve("/f", Reply(200, bomb, {"Content-Encoding": encoding}))
    tracemalloc.start()
    try:
        assert poll(url, limits=FetchLimits(max_bytes=100_000)).problem == "too-large"
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_a_declared_size_beyond_the_limit(origin: Origin) -> None:
    """A document that claims 2 GB is given up at the limit, not at its end."""
    reply = Reply(200, b"x" * 200_000, declared_length=2_000_000_000)
    url = origin.serve("/f", reply)
    assert poll(url, limits=FetchLimits(max_bytes=100_000)).problem == "too-large"


def test_slow_drip_is_given_up(origin: Origin) -> None:
    """A body that comes byte by byte ends at the total time, whatever each byte took."""
    url = origin.serve("/f", Reply(200, FEED, XML, drip_seconds=0.02))
    assert poll(url, limits=FetchLimits(total_seconds=0.3)).problem == "timeout"


def test_a_host_that_never_answers(origin: Origin) -> None:
    """Silence is a timeout."""
    url = origin.serve("/f", Reply(200, FEED, wait_seconds=1.0))
    assert poll(url, limits=FetchLimits(total_seconds=0.2)).problem == "timeout"


def test_a_truncated_answer(origin: Origin) -> None:
    """A body shorter than its declared length is no document."""
    url = origin.serve("/f", Reply(200, FEED, declared_length=len(FEED) + 10))
    assert poll(url).problem == "truncated"


def test_nobody_listens_and_no_such_name(origin: Origin) -> None:
    """A closed port and an unknown name are told apart."""
    closed = Origin()
    closed.close()
    assert poll(closed.url + "/f").problem == "connect"
    assert poll("http://no-such-host.invalid/f").problem == "dns"


def test_private_addresses_are_refused(origin: Origin) -> None:
    """Without the setting a feed on loopback is not connected to."""
    url = origin.serve("/f", Reply(200, FEED, XML))
    assert poll(url, allow_private=False).problem == "private-address"
    assert origin.log == []


@pytest.mark.parametrize("encoding", PACKERS)
def test_a_body_that_is_not_what_its_encoding_says(origin: Origin, encoding: str) -> None:
    """Noise labelled as compressed is no document, and neither is a part of one."""
    labelled = {"Content-Encoding": encoding}
    noise = bytes(range(200, 256)) * 3
    assert poll(origin.serve("/f", Reply(200, noise, labelled))).problem == "truncated"
    part = PACKERS[encoding](FEED)[:-20]
    answer = poll(origin.serve("/g", Reply(200, part, labelled)))
    assert answer.body != FEED


def test_an_encoding_that_nobody_asked_for(origin: Origin) -> None:
    """What cannot be decoded is handed on as it is, for the parser to refuse."""
    packed = bz2.compress(FEED)
    assert poll(origin.serve("/f", Reply(200, packed, {"Content-Encoding": "bz2"}))).body == packed


def test_what_is_sent(origin: Origin) -> None:
    """FRB 050-090: the target byte for byte, GET, no cookies, no referrer, an honest agent."""
    target = "/Feed%7e/a/../x;y?b=%2F+1&a&&="
    origin.serve(target, Reply(200, FEED, {"Set-Cookie": "id=1"}))
    poll(origin.url + target)
    poll(origin.url + target)
    assert [entry.target for entry in origin.log] == [target, target]
    for entry in origin.log:
        assert entry.method == "GET"
        assert set(entry.headers) == {"host", "accept", "accept-encoding", "user-agent"}
        agent = entry.headers["user-agent"]
        assert re.match(r"Publisher-River/\d+\.\d+\S* \(\+https://blog\.example/about\)$", agent)


@pytest.mark.parametrize(
    ("host", "unit"),
    [
        ("Feeds.Example.org.", "example.org"),
        ("a.b.example.co.uk", "example.co.uk"),
        ("example.org", "example.org"),
        ("localhost", "localhost"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "::1"),
    ],
)
def test_work_unit(host: str, unit: str) -> None:
    """Hosts of one registrable domain share a queue; an address stands for itself."""
    assert work_unit(host) == unit


def test_one_machine_is_asked_by_one_request_at_a_time(origin: Origin) -> None:
    """FRB 035: many names on one address take turns; waiting is not charged to them."""
    url = origin.serve("/f", Reply(200, FEED, XML, wait_seconds=0.1))

    async def go() -> list[HttpResult]:
        book = AddressBook(ThreadedResolver())
        async with open_fetcher(
            contact_url="https://b.example/",
            allow_private=True,
            book=book,
            limits=FetchLimits(total_seconds=0.35),
        ) as fetcher:
            return list(await asyncio.gather(*(fetcher.fetch(url) for _ in range(5))))

    assert all(answer.ok for answer in asyncio.run(go()))
    spans = sorted((entry.at, entry.ended_at or 0.0) for entry in origin.log)
    assert all(before[1] <= after[0] + 0.02 for before, after in pairwise(spans))
