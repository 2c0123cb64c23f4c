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
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import aiohttp
    from aiohttp.abc import AbstractResolver

_CONTROL_OR_SPACE = re.compile(r"[\x00-\x20\x7f]")


class OutgoingError(Exception):
    """A request failed; the message says why in one line."""


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


def guarded_connector(
    *,
    allow_private: bool = False,
    resolver: AbstractResolver | None = None,
    limit: int = 100,
) -> aiohttp.TCPConnector:
    """An aiohttp connector that refuses private destinations as it connects to them; needs a
    running event loop.

    The addresses a name resolved to are the ones connected to, without a second look-up.
    """
    import aiohttp

    def make(info: tuple[Any, ...]) -> socket.socket:
        family, kind, proto, _, target = info
        if not (allow_private or is_public(str(target[0]))):
            raise OSError(errno.EACCES, "the address is private, local or reserved")
        return socket.socket(family=family, type=kind, proto=proto)

    return aiohttp.TCPConnector(resolver=resolver, limit=limit, socket_factory=make)


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


def failure_of(problem: BaseException) -> tuple[str, str]:
    """A failed connection as a short name, and in one line without library names."""
    import aiohttp

    cause = getattr(problem, "os_error", problem)
    number = getattr(cause, "errno", 0) or 0
    why = getattr(getattr(problem, "certificate_error", None), "verify_message", "")
    kinds: tuple[tuple[type[BaseException] | bool, str, str], ...] = (
        (number == errno.EACCES, "private-address",
         "the address is private, local or reserved, so it was not fetched"),
        (TimeoutError, "timeout", "no complete answer in time"),
        (aiohttp.ClientConnectorDNSError, "dns", "the host name could not be resolved"),
        (aiohttp.ClientConnectorCertificateError, "tls",
         f"the server's certificate is not valid: {why or 'it cannot be checked'}"),
        (aiohttp.ClientSSLError, "tls", "no encrypted connection could be made"),
        (ssl.SSLError, "tls", "no encrypted connection could be made"),
        (isinstance(problem, aiohttp.ClientConnectorError) and number > 0, "connect",
         f"no connection: {os.strerror(number)}"),
        (aiohttp.TooManyRedirects, "bad-answer", "redirects go round in circles"),
        (aiohttp.NonHttpUrlRedirectClientError, "bad-answer",
         "redirected to something that is not http or https"),
        (aiohttp.ClientPayloadError, "truncated", "the answer broke off before its end"),
        (aiohttp.ServerDisconnectedError, "connect",
         "the server closed the connection without an answer"),
        (aiohttp.ClientResponseError, "bad-answer",
         "the answer does not keep to the rules of HTTP"),
        (number in (errno.ECONNRESET, errno.EPIPE), "connect",
         "the server dropped the connection"),
        (ConnectionError, "connect", "the server dropped the connection"),
        (OSError, "connect", ""),
        (BaseException, "bad-answer", ""),
    )  # fmt: skip
    name, words = next(
        (name, words) for kind, name, words in kinds
        if kind is True or (isinstance(kind, type) and isinstance(problem, kind))
    )  # fmt: skip
    lines = str(problem).splitlines()
    return name, words or (lines[0] if lines else type(problem).__name__)


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
            aiohttp.ClientSession(  # no cookies, no proxy settings from outside
                connector=guarded_connector(allow_private=allow_private),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=timeout_seconds),
                headers={"User-Agent": user_agent},
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
        raise OutgoingError(failure_of(problem)[1]) from problem


# The standard library knows the registries of special-purpose addresses, since 3.11.9 and 3.12.4 as
# they are now; these older and smaller ones are not for requests either.
_REFUSED = tuple(
    map(
        ipaddress.ip_network,
        ("192.0.0.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.175.48.0/24",
         "2001::/23", "2620:4f:8000::/48", "3fff::/20"),
    )
)  # fmt: skip
_GIVEN_OUT = ipaddress.IPv6Network("2000::/3")  # of IPv6 nothing else is assigned, and so public
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_ISATAP = (0x00005EFE, 0x02005EFE)  # the third quarter of an address, before an IPv4 address


def ip_of(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The IP address that `text` is, or the IPv4 address mapped into it; else None."""
    try:
        address = ipaddress.ip_address(text.strip())
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def is_trusted(text: str, trusted: Sequence[ipaddress.IPv4Network | ipaddress.IPv6Network]) -> bool:
    """Whether an address is one of our own proxies'."""
    address = ip_of(text)
    return address is not None and any(address in network for network in trusted)


@lru_cache(maxsize=4096)
def network_of(address: str) -> str:
    """The place that an address is counted as: of IPv6 the network of a household (/64), which has
    addresses without number; IPv4, and what is no address, as it is."""
    ip = ip_of(address) if ":" in address else None
    if ip is not None and ip.version == 6:
        ip = ipaddress.IPv6Address(int(ip) >> 64 << 64)
    return str(ip or address)


def is_public(address: str) -> bool:
    """Whether a literal IPv4 or IPv6 address belongs to the public internet.

    IPv4-mapped, 6to4 and NAT64 addresses are public if the IPv4 address inside is; Teredo, ISATAP
    and local translation prefixes are refused.
    """
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        low = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if (inner := ip.ipv4_mapped or ip.sixtofour or (low if ip in _NAT64 else None)) is not None:
            return is_public(str(inner))
        if (int(ip) >> 32) & 0xFFFFFFFF in _ISATAP or ip not in _GIVEN_OUT:
            return False
    return ip.is_global and not ip.is_multicast and not any(ip in network for network in _REFUSED)
