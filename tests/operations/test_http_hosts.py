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

GOOD_LINES = [
    b"GET / HTTP/1.0",
]
BAD_LINES = [
    b"get / HTTP/1.0",
    b"G ET / HTTP/1.0",
    b"G\0ET / HTTP/1.0",
    b"G/T / HTTP/1.0",
    b"GET /\0 HTTP/1.0",
    b"GET / HTTP/1.0\0",
    b"GET\f/ HTTP/1.0",
    b"GET\r/ HTTP/1.0",
    b"GET\t/ HTTP/1.0",
    b"GET / HTT/1.0",
    b"GET / HTTP/2.0\r\nHost: localhost",
    b"GET / HTTP/1.2\r\nHost: localhost",
    b"GET / HTTP/1.11\r\nHost: localhost",
    b"GET / HTTP/10.0\r\nHost: localhost",
    b"GET / HTTP/1.0  \r\nHost: localhost",
    b"GET / HTTP/1.0 x\r\nHost: localhost",
    b"GET / HTTP/\r\nHost: localhost",
    b"GET / HTTP/0.9",
    b"GET / HTTP/0.8",
    b"GET /\x01 HTTP/1.0",
    b"GET /#frag HTTP/1.0",
    b"GET /",
]
GOOD_HEADERS = [
    b"Foo: bar",
    b"Foo:bar",
    b"X: bar",
    b"Fo: b\tar",
]
BAD_HEADERS = [
    b"Foo: b\0ar",
    b"Foo: b\x01ar",
    b"Foo",
    b"Foo bar",
    b": bar",
    b"Foo bar:bash",
    b"Foo :bar",
    b" Foo:bar",
    b"F\x01o: bar",
    b"F\ro: bar",
    b"F\to: bar",
    b"Fo: bar\r",
    b"Host: localhost\r\nHost: localhost",
    b"Host: localhost:80\r\nHost: localhost:80",
]
GOOD_NAMES = [
    b"localhost",
    b"localhost:80",
    b"localhost:",
    b"LocalHost.",
    b"foo:81",
    b"foo-bar.example.com",
    b"foo_bar.example.com",
    b"foo_bar",
    b"xn--bcher-kva.example",
    b"1.example",
    b"127.0.0.1",
    b"10.0.0.1:81",
    b"[::1]",
    b"[::1]:81",
    b"[::1:2]",
    b"[4712::abcd]",
    b"[4712::abcd:1]",
    b"[4711:abcd::]",
    b"[4711::abcd]:8000",
    b"[::ffff:10.0.0.1]",
]
BAD_NAMES = [
    b"[4712::abcd::]",
    b"[4712:abcd::,]",
    b"[1.2.3.4]",
    b"[:]",
    b"[::1",
    b"[fe80::1%25eth0]",
    b"[::ffff:010.0.0.1]",
    b"4713::abcd:8001",
    b"017700000001",
    b"2130706433",
    b"0x7f.1",
    b"0x7f000001",
    b"127.1",
    b"127.01.0.1",
    b"127.0.0.1.",
    b"127.0.0.256",
    b"example.0x",
    b"%3127.0.0.1",
    b"exam%70le.com",
    b"foo@localhost:80",
    b"localhost:80x",
    b"localhost:80:80",
    b"localhost::80",
    b"localhost:65536",
    b"localhost:80 x",
    b":80",
    b"a..b",
    b".a",
    b".",
    b"-a.example",
    b"xn--",
    b"a" * 64 + b".example",
    b".".join([b"a" * 50] * 6),
    b"abc\xa0",
    b"abc\\foo",
    b"a,b",
    b"a(b)",
    b"a;b=c",
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`publisher serve`; no request of this module may have ended in a traceback."""
    with serving(tmp_path_factory.mktemp("hosts") / "instance") as running:
        yield running
        assert "Traceback" not in running.output()


def status(server: Server, head: bytes) -> int:
    """What is answered to these bytes and the end of a head; nothing follows them."""
    received = server.talk(head + b"\r\n\r\n", ends=True)
    match = re.match(rb"HTTP/1\.1 (\d{3}) ", received)
    assert match, received[:200]
    return int(match[1])


def test_a_request_line_is_whole_or_refused(server: Server) -> None:
    """A method that is unknown is another fault."""
    for line in (*GOOD_LINES, *BAD_LINES):
        wanted = 200 if line in GOOD_LINES else 405 if line.startswith(b"get ") else 400
        assert status(server, line) == wanted, line


def test_a_header_is_whole_or_refused(server: Server) -> None:
    for header in (*GOOD_HEADERS, *BAD_HEADERS):
        wanted = 200 if header in GOOD_HEADERS else 400
        assert status(server, b"GET / HTTP/1.0\r\n" + header) == wanted, header


@pytest.mark.parametrize("path", [b"/", b"/rss.xml", b"/studio/login"])
def test_a_host_is_a_name_or_an_address(server: Server, path: bytes) -> None:
    """In the Host header and in the request line alike; a good one is never a failure."""
    for name in (*GOOD_NAMES, *BAD_NAMES):
        request = b"GET " + path + b" HTTP/1.0\r\nHost: " + name
        named = b"GET http://" + name + path + b" HTTP/1.0\r\nHost: bar"
        for answered in (status(server, request), status(server, named)):
            assert answered < 400 if name in GOOD_NAMES else answered == 400, name


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
