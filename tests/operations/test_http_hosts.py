"""Request lines, headers and hosts that are nearly right, on the wire of the real server.

The cases are those of Apache httpd's tests for its strict and unsafe protocol options, and more
hosts of the same kinds. Where the two differ, we answer as strict does.
"""

import re
import socket
from collections.abc import Iterator

import pytest

from tests.running_site import Server, serving

pytestmark = pytest.mark.any_database

GOOD, BAD = {200}, {400}
LINES: list[tuple[bytes, set[int]]] = [
    (b"GET / HTTP/1.0", GOOD),
    (b"get / HTTP/1.0", {400, 405}),
    (b"G ET / HTTP/1.0", BAD),
    (b"G\0ET / HTTP/1.0", BAD),
    (b"G/T / HTTP/1.0", BAD),
    (b"GET /\0 HTTP/1.0", BAD),
    (b"GET / HTTP/1.0\0", BAD),
    (b"GET\f/ HTTP/1.0", BAD),
    (b"GET\r/ HTTP/1.0", BAD),
    (b"GET\t/ HTTP/1.0", BAD),
    (b"GET / HTT/1.0", BAD),
    (b"GET / HTTP/2.0\r\nHost: localhost", BAD),
    (b"GET / HTTP/1.2\r\nHost: localhost", BAD),
    (b"GET / HTTP/1.11\r\nHost: localhost", BAD),
    (b"GET / HTTP/10.0\r\nHost: localhost", BAD),
    (b"GET / HTTP/1.0  \r\nHost: localhost", BAD),
    (b"GET / HTTP/1.0 x\r\nHost: localhost", BAD),
    (b"GET / HTTP/\r\nHost: localhost", BAD),
    (b"GET / HTTP/0.9", BAD),
    (b"GET / HTTP/0.8", BAD),
    (b"GET /\x01 HTTP/1.0", BAD),
    (b"GET /#frag HTTP/1.0", BAD),
    (b"GET /", BAD),
]
HEADERS: list[tuple[bytes, set[int]]] = [
    (b"Foo: bar", GOOD),
    (b"Foo:bar", GOOD),
    (b"X: bar", GOOD),
    (b"Fo: b\tar", GOOD),
    (b"Foo: b\0ar", BAD),
    (b"Foo: b\x01ar", BAD),
    (b"Foo", BAD),
    (b"Foo bar", BAD),
    (b": bar", BAD),
    (b"Foo bar:bash", BAD),
    (b"Foo :bar", BAD),
    (b" Foo:bar", BAD),
    (b"F\x01o: bar", BAD),
    (b"F\ro: bar", BAD),
    (b"F\to: bar", BAD),
    (b"Fo: bar\r", BAD),
    (b"Host: localhost\r\nHost: localhost", BAD),
    (b"Host: localhost:80\r\nHost: localhost:80", BAD),
]
NAMES: list[tuple[bytes, set[int]]] = [
    (b"localhost", GOOD),
    (b"localhost:80", GOOD),
    (b"localhost:", GOOD),
    (b"LocalHost.", GOOD),
    (b"foo:81", GOOD),
    (b"foo-bar.example.com", GOOD),
    (b"foo_bar.example.com", GOOD),
    (b"foo_bar", GOOD),
    (b"xn--bcher-kva.example", GOOD),
    (b"1.example", GOOD),
    (b"127.0.0.1", GOOD),
    (b"10.0.0.1:81", GOOD),
    (b"[::1]", GOOD),
    (b"[::1]:81", GOOD),
    (b"[::1:2]", GOOD),
    (b"[4712::abcd]", GOOD),
    (b"[4712::abcd:1]", GOOD),
    (b"[4711:abcd::]", GOOD),
    (b"[4711::abcd]:8000", GOOD),
    (b"[::ffff:10.0.0.1]", GOOD),
    (b"[4712::abcd::]", BAD),
    (b"[4712:abcd::,]", BAD),
    (b"[1.2.3.4]", BAD),
    (b"[:]", BAD),
    (b"[::1", BAD),
    (b"[fe80::1%25eth0]", BAD),
    (b"[::ffff:010.0.0.1]", BAD),
    (b"4713::abcd:8001", BAD),
    (b"017700000001", BAD),
    (b"2130706433", BAD),
    (b"0x7f.1", BAD),
    (b"0x7f000001", BAD),
    (b"127.1", BAD),
    (b"127.01.0.1", BAD),
    (b"127.0.0.1.", BAD),
    (b"127.0.0.256", BAD),
    (b"example.0x", BAD),
    (b"%3127.0.0.1", BAD),
    (b"exam%70le.com", BAD),
    (b"foo@localhost:80", BAD),
    (b"localhost:80x", BAD),
    (b"localhost:80:80", BAD),
    (b"localhost::80", BAD),
    (b"localhost:65536", BAD),
    (b"localhost:80 x", BAD),
    (b":80", BAD),
    (b"a..b", BAD),
    (b".a", BAD),
    (b".", BAD),
    (b"-a.example", BAD),
    (b"xn--", BAD),
    (b"a" * 64 + b".example", BAD),
    (b".".join([b"a" * 50] * 6), BAD),
    (b"abc\xa0", BAD),
    (b"abc\\foo", BAD),
    (b"a,b", BAD),
    (b"a(b)", BAD),
    (b"a;b=c", BAD),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`publisher serve`; no request of this module may have ended in a traceback."""
    with serving(tmp_path_factory.mktemp("hosts") / "instance") as running:
        yield running
        assert "Traceback" not in running.output()


def status(server: Server, head: bytes) -> int:
    """What is answered to these bytes and the end of a head; nothing follows them."""
    with socket.create_connection(("127.0.0.1", server.port), 10) as connection:
        connection.sendall(head + b"\r\n\r\n")
        connection.shutdown(socket.SHUT_WR)
        received = b""
        while chunk := connection.recv(65536):
            received += chunk
    match = re.match(rb"HTTP/1\.1 (\d{3}) ", received)
    assert match, received[:200]
    return int(match[1])


@pytest.mark.parametrize(("line", "wanted"), LINES)
def test_a_request_line_is_whole_or_refused(server: Server, line: bytes, wanted: set[int]) -> None:
    assert status(server, line) in wanted


@pytest.mark.parametrize(("header", "wanted"), HEADERS)
def test_a_header_is_whole_or_refused(server: Server, header: bytes, wanted: set[int]) -> None:
    assert status(server, b"GET / HTTP/1.0\r\n" + header) in wanted


@pytest.mark.parametrize("path", [b"/", b"/rss.xml", b"/studio/login"])
@pytest.mark.parametrize(("name", "wanted"), NAMES)
def test_a_host_is_a_name_or_an_address(
    server: Server, name: bytes, wanted: set[int], path: bytes
) -> None:
    """In the Host header and in the request line alike; a good one is never a failure."""
    request = b"GET " + path + b" HTTP/1.0\r\nHost: " + name
    named = b"GET http://" + name + path + b" HTTP/1.0\r\nHost: bar"
    for answered in (status(server, request), status(server, named)):
        assert answered == 400 if wanted == BAD else answered < 400


def test_without_a_name(server: Server) -> None:
    """An empty Host is the rule for an address without one; an empty authority is no address."""
    assert status(server, b"GET / HTTP/1.1\r\nHost:\r\nConnection: close") == 200
    assert status(server, b"GET http:/// HTTP/1.0") == 400
    assert status(server, b"GET / HTTP/1.1\r\nConnection: close") == 400


def test_a_line_feed_alone_and_an_unfinished_head(server: Server) -> None:
    """The strict reading of a line end; a head that never ends gets no page."""
    with socket.create_connection(("127.0.0.1", server.port), 10) as connection:
        connection.sendall(b"GET / HTTP/1.0\n\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 400 ")
    with socket.create_connection(("127.0.0.1", server.port), 10) as connection:
        connection.sendall(b"GET / HTTP/1.0\r\r")
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(100)[:12] in (b"", b"HTTP/1.1 400")
