"""The visitor's address behind proxies: believed only of those that the site is told to trust.

The host is never taken from a header: links are made from the site's own address.
"""

import ipaddress
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from publisher.base.environment import Network
from publisher.readers.counter import SOURCE
from publisher.readers.poll_sources import PROXY

LOG = "log"

WsgiApp = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def behind_proxies(app: WsgiApp, trusted: Sequence[Network]) -> WsgiApp:
    """`app`, told the visitor's address and scheme by proxies in `trusted`; by nobody if empty."""
    if not trusted:
        return app

    def told(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        believe(environ, trusted)
        return app(environ, start_response)

    return told


def believe(environ: dict[str, Any], trusted: Sequence[Network]) -> None:
    """Put the visitor's address and scheme into `environ` where a proxy in `trusted` says them.

    With `X-Counted-By: log` a proxy says that it counts polls itself, in a log that is read here.
    """
    if trusted and is_trusted(environ.get("REMOTE_ADDR", ""), trusted):
        environ["REMOTE_ADDR"] = _visitor(environ, trusted)
        if environ.get("HTTP_X_COUNTED_BY") == LOG:
            environ[SOURCE] = LOG
        elif "HTTP_X_FORWARDED_FOR" in environ:  # else it asks for itself
            environ[SOURCE] = PROXY
        scheme = environ.get("HTTP_X_FORWARDED_PROTO", "").rpartition(",")[2].strip().lower()
        if scheme in ("http", "https"):
            environ["wsgi.url_scheme"] = scheme


def _visitor(environ: dict[str, Any], trusted: Sequence[Network]) -> str:
    """The address nearest to us in X-Forwarded-For that is not one of our own proxies.

    What stands further left was written by whoever sent the request, and proves nothing.
    """
    address: str = environ["REMOTE_ADDR"]
    for hop in reversed(environ.get("HTTP_X_FORWARDED_FOR", "").split(",")):
        if _parse(hop) is None:
            break
        address = hop.strip()
        if not is_trusted(address, trusted):
            break
    return address


def is_trusted(text: str, trusted: Sequence[Network]) -> bool:
    """Whether an address is one of our own proxies'."""
    address = _parse(text)
    return address is not None and any(address in network for network in trusted)


def _parse(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(text.strip())
    except ValueError:
        return None
    mapped = getattr(address, "ipv4_mapped", None)
    return mapped or address
