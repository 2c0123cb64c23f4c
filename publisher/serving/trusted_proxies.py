"""The visitor's address behind proxies: taken from headers of trusted proxies only.

The host is never taken from a header: links are made from the site's own address.
"""

from collections.abc import Sequence
from typing import Any

from publisher.base.environment import Network
from publisher.base.net import ip_of, is_trusted

SOURCE = "publisher.source"  # key in a request's environment: who passed it on, if anybody did
PROXY = "proxy"  # a proxy that is trusted
LOG = "log"  # a proxy from whose log this request is counted


def apply_forwarded_headers(environ: dict[str, Any], trusted: Sequence[Network]) -> None:
    """Put the visitor's address and scheme into `environ` if a proxy in `trusted` forwards them.

    With `X-Counted-By: log` a proxy says that this poll is counted from its access log, not here.
    """
    if trusted and is_trusted(environ.get("REMOTE_ADDR", ""), trusted):
        environ["REMOTE_ADDR"] = _visitor(environ, trusted)
        if environ.get("HTTP_X_COUNTED_BY") == LOG:
            environ[SOURCE] = LOG
        elif "HTTP_X_FORWARDED_FOR" in environ:  # without it, the proxy itself is the client
            environ[SOURCE] = PROXY
        scheme = environ.get("HTTP_X_FORWARDED_PROTO", "").rpartition(",")[2].strip().lower()
        if scheme in ("http", "https"):
            environ["wsgi.url_scheme"] = scheme


def _visitor(environ: dict[str, Any], trusted: Sequence[Network]) -> str:
    """The address nearest to us in X-Forwarded-For that is not one of our own proxies.

    Entries further left come from the client, which may write anything.
    """
    address: str = environ["REMOTE_ADDR"]
    for hop in reversed(environ.get("HTTP_X_FORWARDED_FOR", "").split(",")):
        if ip_of(hop) is None:
            break
        address = hop.strip()
        if not is_trusted(address, trusted):
            break
    return address
