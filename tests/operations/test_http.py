"""HTTP as the RFCs have it, on the wire of the real server: what is answered, what refused."""

import gzip
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from tests.running_site import Server, serving, wait_until

pytestmark = pytest.mark.any_database

H = b"Host: blog.example\r\n"
CLOSE = H + b"Connection: close\r\n"
UPGRADE = b"Connection: Upgrade\r\nUpgrade: h2c\r\n"
FEED = b"GET /rss.xml HTTP/1.1\r\n"
SETUP = b"POST /setup/x HTTP/1.1\r\n" + CLOSE  # where the fewest bytes are taken
LOGIN = b"POST /studio/login HTTP/1.1\r\n" + CLOSE


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`publisher serve` with one post."""
    with serving(tmp_path_factory.mktemp("http") / "instance") as running:
        added = running.command(
            "post", "add", "--title", "One", "--tag", "web", text="Text. " * 500
        )
        assert added.returncode == 0
        media = running.instance / "media" / f"{'e' * 20}.mp3"
        media.write_bytes(bytes(range(250)) * 4)
        yield running


def statuses(answer: bytes) -> list[int]:
    return [int(code) for code in re.findall(rb"HTTP/1\.1 (\d{3}) ", answer)]


@pytest.mark.parametrize(
    ("request_bytes", "expected"),
    [
        (FEED + CLOSE + b"\r\n", [200]),
        (b"HEAD /rss.xml HTTP/1.1\r\n" + CLOSE + b"\r\n", [200]),
        (b"\r\n\r\n" + FEED + CLOSE + b"\r\n", [200]),
        (FEED + CLOSE + b"Content-Length: " + b"0" * 5_000 + b"\r\n\r\n", [200]),
        # Host (RFC 9112 3.2)
        (FEED + b"Connection: close\r\n\r\n", [400]),
        (FEED + CLOSE + b"Host: other\r\n\r\n", [400]),
        (FEED + b"Host: a b\r\nConnection: close\r\n\r\n", [400]),
        (FEED + b"Host: [::1\r\nConnection: close\r\n\r\n", [400]),
        (FEED + b"Host: a:1:2\r\nConnection: close\r\n\r\n", [400]),
        (FEED + b"Host: a:999999\r\nConnection: close\r\n\r\n", [400]),
        (FEED + b"Host: [::1]:80\r\nConnection: close\r\n\r\n", [200]),
        (b"GET /rss.xml HTTP/1.0\r\n\r\n", [200]),
        # Forms of the target
        (b"GET http://blog.example/rss.xml HTTP/1.1\r\n" + CLOSE + b"\r\n", [200]),
        (b"GET http:///rss.xml HTTP/1.1\r\n" + CLOSE + b"\r\n", [400]),
        (b"OPTIONS * HTTP/1.1\r\n" + CLOSE + b"\r\n", [204]),
        (b"GET * HTTP/1.1\r\n" + CLOSE + b"\r\n", [400]),
        (b"GET rss.xml HTTP/1.1\r\n" + CLOSE + b"\r\n", [400]),
        (b"GET /rss.xml#x HTTP/1.1\r\n" + CLOSE + b"\r\n", [400]),
        (b"CONNECT blog.example:80 HTTP/1.1\r\n" + H + b"\r\n", [405]),
        # Methods
        (b"BREW /rss.xml HTTP/1.1\r\n" + H + b"\r\n", [405]),
        (b"get /rss.xml HTTP/1.1\r\n" + H + b"\r\n", [405]),
        (b"get / HTTP/1.1\r\n" + H + b"\r\n", [405]),
        (b"TRACE / HTTP/1.1\r\n" + H + b"\r\n", [405]),
        (b"PROPFIND / HTTP/1.1\r\n" + H + b"\r\n", [405]),
        (b"OPTIONS rtsp://b/x RTSP/1.0\r\nCSeq: 1\r\n\r\n", [400]),
        (b"GET ftp://blog.example/ HTTP/1.1\r\n" + CLOSE + b"\r\n", [400]),
        (b"GET http://u:p@b/rss.xml HTTP/1.1\r\n" + CLOSE + b"\r\n", [400]),
        (b"GET /rss.xml x HTTP/1.1\r\n" + CLOSE + b"\r\n", [400]),
        (b"GET /posts/%c0%af%ed%a0%80%00 HTTP/1.1\r\n" + CLOSE + b"\r\n", [404]),
        (b"GET /media/%2e%2e%2fpublisher.db HTTP/1.1\r\n" + CLOSE + b"\r\n", [404]),
        (b"GET /sitemap-" + b"9" * 40 + b".xml HTTP/1.1\r\n" + CLOSE + b"\r\n", [404]),
        (b"PUT /rss.xml HTTP/1.1\r\n" + CLOSE + b"Content-Length: 2\r\n\r\nab", [405]),
        # Heads that are none
        (FEED + b"Host: x\r\nX: a\r\n b\r\n\r\n", [400]),
        (FEED + b"Host : x\r\n\r\n", [400]),
        (FEED + b"Host: x\r\nno colon\r\n\r\n", [400]),
        (FEED + b"Host: x\r\nX: a\0b\r\n\r\n", [400]),
        (b"GET /rss.xml HTTP/1.1\nHost: x\n\n", [400]),
        (b"GET /rss.xml HTTP/2.0\r\n" + H + b"\r\n", [400]),
        (b"GET /rss.xml\r\n\r\n", [400]),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", [400]),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [400]),
        (FEED + H + b"X: y\r\n" * 101 + b"\r\n", [431]),
        (b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n" + CLOSE + b"\r\n", [414]),
        # Bodies and their lengths (RFC 9112 6)
        (LOGIN + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", [400]),
        (LOGIN + b"Content-Length: 3, 3\r\n\r\nabc", [400]),
        (LOGIN + b"Content-Length: -3\r\n\r\nabc", [400]),
        (LOGIN + b"Content-Length: +3\r\n\r\nabc", [400]),
        (LOGIN + b"Content-Length: 1_0\r\n\r\nabcdeabcde", [400]),
        (LOGIN + b"Content-Length: \r\n\r\n", [400]),
        (LOGIN + b"Content-Length: 18446744073709551616\r\n\r\n", [400]),
        (LOGIN + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n", [400]),
        (LOGIN + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", [400]),
        (LOGIN + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n", [400]),
        (LOGIN + b"Transfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n", [400]),
        (LOGIN + b"Transfer-Encoding: chunked\r\n\r\n3\nabc\n0\n\n", [400]),
        (LOGIN + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n", [400]),
        (LOGIN + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", [400]),
        (LOGIN + b"Transfer-Encoding: gzip\r\n\r\n", [400]),
        (LOGIN + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", [400]),
        (LOGIN + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", [400]),
        (LOGIN.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", [400]),
        (SETUP + b"Content-Length: 17000\r\n\r\n", [413]),
        (SETUP + b"Transfer-Encoding: chunked\r\n\r\n5000\r\n" + b"a" * 0x5000 + b"\r\n", [413]),
        (FEED + CLOSE + b"Content-Length: 3\r\n\r\nabc", [200]),
        (FEED + CLOSE + b"Transfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\n\r\n", [200]),
        # Expect
        (FEED + CLOSE + b"Expect: 100-continue\r\nContent-Length: 3\r\n\r\nabc", [100, 200]),
        (FEED + CLOSE + b"Expect: miracles\r\n\r\n", [417]),
        # Nothing is upgraded to
        (FEED + H + b"Connection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n", [200]),
        (
            LOGIN.replace(CLOSE, H)
            + UPGRADE
            + b"Content-Length: 3\r\n\r\nabc"
            + FEED
            + CLOSE
            + b"\r\n",
            [400],
        ),
        (
            LOGIN.replace(CLOSE, H)
            + UPGRADE
            + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
            + FEED,
            [400],
        ),
        (FEED + H + UPGRADE + b"\r\n" + FEED + CLOSE + b"\r\n", [200, 200]),
        # Conditions
        (FEED + CLOSE + b'If-Match: "other"\r\n\r\n', [412]),
        (FEED + CLOSE + b"If-Match: *\r\n\r\n", [200]),
        (FEED + CLOSE + b"If-Unmodified-Since: Mon, 01 Jan 1990 00:00:00 GMT\r\n\r\n", [412]),
        (FEED + CLOSE + b"If-Unmodified-Since: nonsense\r\n\r\n", [200]),
        (FEED + CLOSE + b"If-None-Match: *\r\n\r\n", [304]),
        # Several requests at once
        (FEED + H + b"\r\n" + FEED + H + b"\r\n" + FEED + CLOSE + b"\r\n", [200, 200, 200]),
        (FEED + H + b"\r\nGET / HTTP/1.1\r\n" + H + b"\r\n" + FEED + CLOSE + b"\r\n", [200] * 3),
        (FEED + CLOSE + b"\r\n" + FEED + CLOSE + b"\r\n", [200]),
        (FEED + H + b"\r\nnonsense\r\n\r\n", [200, 400]),
        (b"GET /about HTTP/1.1\r\n" + H + b"\r\nnonsense\r\n\r\n", [200, 400]),
    ],
)
def test_answers(server: Server, request_bytes: bytes, expected: list[int]) -> None:
    """Each request gets what the RFC says, then the connection ends; a feed is there after it."""
    assert statuses(server.talk(request_bytes)) == expected
    assert server.get("/rss.xml")[0] == 200


def test_a_request_in_single_bytes(server: Server) -> None:
    """However the bytes are cut, the answer is the same."""
    login = b"GET /studio/login HTTP/1.1\r\n" + H + b"\r\n"
    sent = FEED + H + b"\r\n" + login + FEED + CLOSE + b"\r\n"
    assert statuses(server.talk(*(bytes([byte]) for byte in sent))) == [200, 200, 200]


@pytest.mark.parametrize("path", [b"/rss.xml", b"/about"])
def test_who_sends_no_more_is_answered(server: Server, path: bytes) -> None:
    """A client may close its half of the connection with its request (`nc -N` does)."""
    for following in (0, 100):
        request = b"GET " + path + b" HTTP/1.1\r\n" + H + b"\r\n"
        received = server.talk(request + (FEED + H + b"\r\n") * following, ends=True)
        assert statuses(received) == [200] * (1 + following)


def test_a_thousand_polls_at_once(server: Server) -> None:
    """Pipelined polls are all answered, in their order."""
    sent = (FEED + H + b"\r\n") * 999 + FEED + CLOSE + b"\r\n"
    assert statuses(server.talk(sent)) == [200] * 1000


def test_a_body_in_chunks_is_the_body(server: Server) -> None:
    """A form in chunks arrives like one with a length."""
    head = b"POST /micropub HTTP/1.1\r\n" + CLOSE
    kind = b"Content-Type: application/x-www-form-urlencoded\r\n"
    form = b"h=entry&content=x"
    whole = server.talk(head + kind + b"Content-Length: %d\r\n\r\n" % len(form) + form)
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in form) + b"0\r\n\r\n"
    parts = server.talk(head + kind + b"Transfer-Encoding: chunked\r\n\r\n" + chunks)
    assert statuses(whole) == statuses(parts) == [401]


def test_http_1_0(server: Server) -> None:
    """A client of HTTP/1.0 is told whether the connection stays; it gets no chunks."""
    once = server.talk(b"GET /rss.xml HTTP/1.0\r\n\r\n")
    assert b"Connection: close" in once
    keep_alive = b"GET /rss.xml HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
    answer = server.talk(keep_alive, b"GET / HTTP/1.0\r\n\r\n")
    assert statuses(answer) == [200, 200]
    assert b"Connection: keep-alive" in answer
    assert b"Transfer-Encoding" not in answer


@pytest.mark.parametrize("path", [b"/", b"/rss.xml", b"/about", b"/nothing-here"])
def test_head_is_get_without_a_body(server: Server, path: bytes) -> None:
    """The same headers, length included: those of the GET before or of the one after it.

    A page's Last-Modified, as much else, begins with a second, which may be between any two.
    """
    end = path + b" HTTP/1.1\r\n" + CLOSE + b"\r\n"
    before, head, after = (
        server.talk(method + end).partition(b"\r\n\r\n") for method in (b"GET ", b"HEAD ", b"GET ")
    )
    assert head[2] == b""
    for response in (before, after):
        assert f"Content-Length: {len(response[2])}".encode() in response[0]
    lines = [
        re.sub(rb"(Date|Expires|Set-Cookie|X-Request-ID): [^\r]*|max-age=\d+", b"", text[0])
        for text in (before, head, after)
    ]
    assert lines[1] in (lines[0], lines[2])


@pytest.mark.parametrize(
    ("wanted", "status", "body"),
    [
        ("bytes=0-9", 206, bytes(range(10))),
        ("bytes=-5", 206, bytes(range(245, 250))),
        ("bytes=995-", 206, bytes(range(245, 250))),
        ("bytes=2000-", 416, None),
        ("bytes=-5000", 206, bytes(range(250)) * 4),
        ("nonsense", 200, bytes(range(250)) * 4),
        ("lines=1-2", 200, bytes(range(250)) * 4),
        ("bytes=0-1,5-6", 200, bytes(range(250)) * 4),
    ],
)
def test_ranges(server: Server, wanted: str, status: int, body: bytes | None) -> None:
    """A player seeks in an episode."""
    answer = server.get(f"/media/{'e' * 20}.mp3", {"Range": wanted})
    assert answer[0] == status
    assert body is None or answer[2] == body
    assert status != 206 or answer[1]["content-range"].endswith("/1000")


def test_pages_are_compressed_for_strangers(server: Server) -> None:
    """Not beside a cookie: the length of a page with a secret in it would betray it."""
    plain = server.get("/")
    packed = server.get("/", {"Accept-Encoding": "gzip"})
    assert packed[1]["content-encoding"] == "gzip"
    assert packed[1]["vary"] == plain[1]["vary"] == "Accept-Encoding"
    assert gzip.decompress(packed[2]) == plain[2]
    with_cookie = server.get("/", {"Accept-Encoding": "gzip", "Cookie": "a=b"})
    assert "content-encoding" not in with_cookie[1]
    again = server.get("/", {"Accept-Encoding": "gzip", "If-None-Match": packed[1]["etag"]})
    assert (again[0], again[2]) == (304, b"")


def test_a_visit_is_answered_from_memory(server: Server) -> None:
    """An address with what campaigns add too; one that is from memory has no number of a request.
    A post of another process, and a scheduled one, appear although the page is asked for all the
    time."""
    wait_until(lambda: "x-request-id" not in server.get("/")[1], 30)
    _, headers, page = server.get("/?utm_source=feed")
    assert "x-request-id" not in headers
    status, of_head, nothing = server.get("/", method="HEAD")
    assert (status, nothing) == (200, b"")
    assert of_head.items() - headers.items() <= {("date", of_head["date"])}
    assert server.get("/", {"If-None-Match": headers["etag"]})[0] == 304
    zipped = server.get("/", {"Accept-Encoding": "gzip"})
    assert gzip.decompress(zipped[2]) == page
    assert b"Connection: keep-alive" in server.talk(
        b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", FEED + CLOSE + b"\r\n"
    )
    soon = (datetime.now(UTC) + timedelta(seconds=4)).isoformat()
    assert server.command("post", "add", text="From elsewhere.").returncode == 0
    assert server.command("post", "add", "--at", soon, text="Of its hour.").returncode == 0
    wait_until(lambda: b"From elsewhere." in server.get("/")[2], 10)
    wait_until(lambda: b"Of its hour." in server.get("/")[2], 60)
    wait_until(lambda: "x-request-id" not in server.get("/")[1], 30)
