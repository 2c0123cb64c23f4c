"""The guard on outgoing requests, over real sockets."""

import asyncio
import gzip
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import aiohttp
import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from publisher.base import net

PUBLIC = ["8.8.8.8", "2606:4700::1", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::"]
NOT_PUBLIC = [
    "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
    "0.0.0.0",  # noqa: S104
    "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.0.8", "198.18.0.1",
    "::1", "::", "fe80::1%eth0", "fc00::1", "fec0::1", "ff02::1", "2001:db8::1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2002:a00:1::",
    "::127.0.0.1", "::8.8.8.8",  # compatible
    "64:ff9b:1::808:808", "64:ff9b:1:ffff::1", "::ffff:0:127.0.0.1", "::ffff:0:8.8.8.8",  # SIIT
    "2606:4700::5efe:7f00:1", "2606:4700::200:5efe:808:808", "fe80::5efe:a00:1",  # ISATAP
    "192.88.99.1", "2002:c058:6301::", "3fff::1", "3fff:fff::1", "5f00::1", "192.0.2.1",
    "198.51.100.7", "203.0.113.9", "2001:2::1", "2001::1", "2001:10::1", "2001:20::1", "100::1",
    "100:0:0:1::1", "192.31.196.1", "192.52.193.1", "192.175.48.1", "2620:4f:8000::1", "4000::1",
    "e000::1", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1",
]  # fmt: skip


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_pass(address: str) -> None:
    """An address of the public internet is let through, wrapped or not."""
    assert net.is_public(address)


def test_private_addresses_are_refused() -> None:
    """Private, local, metadata and reserved addresses are refused, wrapped or not."""
    assert not [address for address in NOT_PUBLIC if net.is_public(address)]


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org/feed",
        "file:///etc/passwd",
        "gopher://h/",
        "http:///feed",
        "http://user:secret@example.org/",
        "http://example.org/a b",
        "http://example.org/a\r\nX: y",
        "http://exämple.org/",
        "http://example.org:0/",
        "http://example.org:99999/",
        "http://[::1/",
    ],
)
def test_addresses_that_cannot_be_requested(url: str) -> None:
    """Other schemes, missing hosts, credentials and raw bytes never reach the wire."""
    with pytest.raises(ValueError, match=r".+"):
        net.check_url(url)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    seen: list[str]

    def do_GET(self) -> None:
        type(self).seen.append(self.path)
        if self.path.startswith("/to/"):
            self.send_response(302)
            self.send_header("Location", self.path[4:])
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        body = gzip.compress(b"a" * 5_000_000) if self.path == "/bomb" else b"hello"
        self.send_response(200)
        if self.path == "/bomb":
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    handler = type("Handler", (_Handler,), {"seen": []})
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    httpd.daemon_threads = True
    thread = threading.Thread(target=httpd.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{httpd.server_port}", handler.seen  # type: ignore[attr-defined]
    httpd.shutdown()
    thread.join()
    httpd.server_close()


def test_loopback_is_refused_unless_allowed(server: tuple[str, list[str]]) -> None:
    """A loopback address is not even connected to, and is fetched when the setting says so."""
    base, seen = server
    with pytest.raises(net.OutgoingError, match="private"):
        net.request_public(base + "/x", user_agent="t")
    assert seen == []
    reply = net.request_public(base + "/x", user_agent="t", allow_private=True)
    assert (reply.status, reply.body) == (200, b"hello")


def test_decompressed_size_is_bounded(server: tuple[str, list[str]]) -> None:
    """A small compressed body that inflates beyond the bound is refused."""
    with pytest.raises(net.OutgoingError, match="larger"):
        net.request_public(
            server[0] + "/bomb", user_agent="t", allow_private=True, max_bytes=1_000_000
        )


class _Rebinding(AbstractResolver):
    """A name server in hostile hands: every name is this machine."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host, host="127.0.0.1", port=port, family=family, proto=0, flags=0
            )
        ]

    async def close(self) -> None:
        pass


def test_a_name_that_resolves_to_loopback_is_refused(server: tuple[str, list[str]]) -> None:
    """The guard looks at the address of the socket, so a rebound name does not help."""
    port = int(server[0].rsplit(":", 1)[1])

    async def go() -> None:
        connector = net.guarded_connector(resolver=_Rebinding())
        async with aiohttp.ClientSession(connector=connector) as session:
            await session.get(f"http://rebound.example:{port}/")

    with pytest.raises(aiohttp.ClientConnectorError) as caught:
        asyncio.run(go())
    assert "private" in net.failure_of(caught.value)[1]
    assert server[1] == []


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("198.51.100.1", "198.51.100.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("fe80::1%eth0", "fe80::"),
        ("::ffff:198.51.100.1", "198.51.100.1"),
        ("", ""),
        ("unix:", "unix:"),
    ],
)
def test_what_counts_as_one_place(address: str, place: str) -> None:
    """A household has 2^64 addresses of IPv6: they are one."""
    assert net.network_of(address) == place
