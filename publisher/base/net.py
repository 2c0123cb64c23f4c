"""Outgoing HTTP requests, refused where they would reach private addresses (SSRF guard).

A feed, an image or a hub is fetched because somebody wrote an address into a
document. The guard looks at the address a socket is about to connect to, so a
redirect, a literal address and a DNS answer that changes between a check and the
connection all meet the same test.

The client (aiohttp) is imported at the first request: a process that sends none saves its 7 MB.
"""

from __future__ import annotations  # types of what is imported late

import asyncio
import errno
import ipaddress
import os
import re
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import aiohttp
    from aiohttp.abc import AbstractResolver

SocketFactory = Callable[[tuple[Any, ...]], socket.socket]

# Our message for an error of aiohttp, by the name of its class.
_IN_WORDS = {
    "ClientSSLError": "no encrypted connection could be made",
    "ClientPayloadError": "the answer broke off before its end",
    "ServerDisconnectedError": "the server closed the connection without an answer",
    "ClientResponseError": "the answer does not keep to the rules of HTTP",
}
_CONTROL_OR_SPACE = re.compile(r"[\x00-\x20\x7f]")


class PrivateAddressError(OSError):
    """The address is not on the public internet and private ones are not allowed."""

    def __init__(self, address: str) -> None:
        super().__init__(errno.EACCES, "the address is private, local or reserved")
        self.address = address


class OutgoingError(Exception):
    """A request failed; the message says why in one line."""


def check_public(address: str) -> None:
    """Raise `PrivateAddressError` for a literal address that is not public."""
    if not is_public(address):
        raise PrivateAddressError(address)


def check_url(url: str) -> str:
    """Return the address unchanged when it can be requested; ValueError says why not.

    Only http and https with a host; no spaces, control characters or credentials,
    because what is stored is sent byte for byte.
    """
    if _CONTROL_OR_SPACE.search(url) or not url.isascii():
        raise ValueError("the address contains characters that must be percent-encoded")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as problem:
        raise ValueError("the address is malformed") from problem
    if parts.scheme.lower() not in ("http", "https"):
        raise ValueError("only http and https addresses can be fetched")
    if not parts.hostname or port == 0:
        raise ValueError("the address names no host")
    if "@" in parts.netloc:
        raise ValueError("the address contains a user name; give it separately")
    return url


def guarded_socket_factory(allow_private: bool = False) -> SocketFactory:
    """A socket factory for aiohttp that refuses private destinations at connect time."""

    def make(info: tuple[Any, ...]) -> socket.socket:
        family, kind, proto, _, target = info
        if not allow_private:
            check_public(str(target[0]))
        return socket.socket(family=family, type=kind, proto=proto)

    return make


def guarded_connector(
    *,
    allow_private: bool = False,
    resolver: AbstractResolver | None = None,
    limit: int = 100,
    limit_per_host: int = 0,
    keepalive_seconds: float = 15.0,
) -> aiohttp.TCPConnector:
    """An aiohttp connector behind the guard; needs a running event loop.

    The addresses a name resolved to are the ones connected to, without a second look-up.
    """
    import aiohttp

    return aiohttp.TCPConnector(
        resolver=resolver,
        limit=limit,
        limit_per_host=limit_per_host,
        keepalive_timeout=keepalive_seconds,
        socket_factory=guarded_socket_factory(allow_private),
    )


@asynccontextmanager
async def guarded_session(
    *, user_agent: str, timeout_seconds: float = 30.0, allow_private: bool = False
) -> AsyncIterator[aiohttp.ClientSession]:
    """A client session behind the guard: no cookies, no proxy settings from outside."""
    import aiohttp

    async with aiohttp.ClientSession(
        connector=guarded_connector(allow_private=allow_private),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=timeout_seconds),
        headers={"User-Agent": user_agent},
    ) as session:
        yield session


@dataclass(frozen=True, slots=True)
class Reply:
    """A response: final address, status, headers (names in lower case, repeated ones joined by
    commas), body."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes


async def read_bounded(
    response: aiohttp.ClientResponse, max_bytes: int, beginning: bool = False
) -> bytes:
    """The decompressed body. If it is larger than `max_bytes`: its first `max_bytes` where the
    `beginning` is enough, else OutgoingError."""
    parts: list[bytes] = []
    size = 0
    async for chunk in response.content.iter_any():
        size += len(chunk)
        if size > max_bytes:
            response.close()
            if beginning:
                return b"".join([*parts, chunk])[:max_bytes]
            raise OutgoingError(f"the answer is larger than {max_bytes} bytes")
        parts.append(chunk)
    return b"".join(parts)


def explain_failure(problem: BaseException) -> str:
    """One line for a failed connection, without library names in it."""
    import aiohttp

    cause = getattr(problem, "os_error", problem)
    if isinstance(cause, PrivateAddressError) or getattr(cause, "errno", 0) == errno.EACCES:
        return "the address is private, local or reserved, so it was not fetched"
    if isinstance(problem, TimeoutError):
        return "no complete answer in time"
    if isinstance(problem, aiohttp.ClientConnectorDNSError):
        return "the host name could not be resolved"
    if isinstance(problem, aiohttp.ClientConnectorError) and problem.os_error.errno:
        return f"no connection: {os.strerror(problem.os_error.errno)}"
    if isinstance(problem, aiohttp.TooManyRedirects):
        return "redirects go round in circles"
    if isinstance(problem, aiohttp.NonHttpUrlRedirectClientError):
        return "redirected to something that is not http or https"
    if isinstance(problem, aiohttp.ClientConnectorCertificateError):
        why = getattr(problem.certificate_error, "verify_message", "") or "it cannot be checked"
        return f"the server's certificate is not valid: {why}"
    for name, words in _IN_WORDS.items():
        if isinstance(problem, getattr(aiohttp, name)):
            return words
    dropped = isinstance(problem, ConnectionResetError | BrokenPipeError)
    if dropped or getattr(problem, "errno", 0) in (errno.ECONNRESET, errno.EPIPE):
        return "the server dropped the connection"
    return str(problem).splitlines()[0] if str(problem) else type(problem).__name__


def request_public(
    url: str,
    *,
    user_agent: str,
    method: str = "GET",
    form: Mapping[str, str] | bytes | None = None,
    headers: Mapping[str, str] | None = None,
    allow_private: bool = False,
    max_bytes: int = 10_000_000,
    beginning: bool = False,
    timeout_seconds: float = 30.0,
    redirects: bool = True,
) -> Reply:
    """Send one request, from synchronous code; follows at most five `redirects`, or none.

    Returns a `Reply` for any HTTP status. Raises OutgoingError for no answer, a refused address or
    an oversized body (see `read_bounded`). Not for use inside a running event loop.
    """
    import aiohttp

    async def run() -> Reply:
        async with (
            guarded_session(
                user_agent=user_agent, timeout_seconds=timeout_seconds, allow_private=allow_private
            ) as session,
            session.request(
                method,
                check_url(url),
                data=form,
                headers=headers,
                max_redirects=5,
                allow_redirects=redirects,
            ) as response,
        ):
            body = await read_bounded(response, max_bytes, beginning)
            names = {n.lower(): ", ".join(response.headers.getall(n)) for n in response.headers}
            return Reply(str(response.url), response.status, names, body)

    try:
        return asyncio.run(run())
    except (aiohttp.ClientError, OSError, ValueError) as problem:
        raise OutgoingError(explain_failure(problem)) from problem


# Which addresses belong to the public internet: our own lists, the same under every Python, from
# the registries of special-purpose addresses (RFC 6890 and its successors). Of IPv6, only 2000::/3
# is assigned and so public. IPv4-mapped, 6to4 and NAT64 (64:ff9b::/96) addresses are public if the
# IPv4 address inside is; Teredo, ISATAP and local translation prefixes are refused.
V4_SPECIAL = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # shared by a provider's customers
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local, and the clouds' metadata
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocols
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
V6_GIVEN_OUT = ipaddress.IPv6Network("2000::/3")
V6_SPECIAL = tuple(
    ipaddress.IPv6Network(network)
    for network in (
        "2001::/23",  # protocols: Teredo, benchmarks, ORCHID, AMT, AS112
        "2001:db8::/32",  # documentation
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
)
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_ISATAP = (0x00005EFE, 0x02005EFE)  # the third quarter of an address, before an IPv4 address


def is_public(address: str) -> bool:
    """Whether a literal IPv4 or IPv6 address belongs to the public internet."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv4Address):
        return not any(ip in network for network in V4_SPECIAL)
    inner = ip.ipv4_mapped or ip.sixtofour
    if ip in NAT64:
        inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    if inner is not None:
        return is_public(str(inner))
    if (int(ip) >> 32) & 0xFFFFFFFF in _ISATAP or ip not in V6_GIVEN_OUT:
        return False
    return not any(ip in network for network in V6_SPECIAL)
