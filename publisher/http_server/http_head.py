"""A request's head: checked against RFC 9112, and turned into a WSGI environment.

The parser (httptools) has already refused malformed heads; this refuses well-formed ones that must
not be answered.
"""

import ipaddress
import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote_to_bytes

from publisher.http_server.application import Environ

MOST_HEAD_BYTES, MOST_HEADERS = 32_768, 100

_LABEL = rb"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_HOST = re.compile(
    rb"(?:\[([0-9A-Fa-f:.]+)\]|(%b(?:\.%b)*\.?))(?::([0-9]{0,5}))?" % (_LABEL, _LABEL)
)
_NUMBER = re.compile(rb"[0-9]+|0[xX][0-9A-Fa-f]*")
METHODS = {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"}
ALLOWED = (("Allow", "GET, HEAD"),)
_ABSOLUTE = re.compile(rb"https?://([^/?#]*)([^#]*)", re.IGNORECASE)


class Refused(Exception):
    """The request is answered with `status`, `text` and `headers`, and the connection closed."""

    def __init__(self, status: str, text: str, headers: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.headers = headers


@dataclass(slots=True)
class Head:
    """A head that may be answered; `environ` lacks the peer's address and the body.

    `length` is the body's length in bytes: 0 where there is none, None where it comes in chunks.
    """

    environ: Environ
    keep_alive: bool
    length: int | None

    @property
    def expects_continue(self) -> bool:
        """Whether the body is held back until we say 100 Continue."""
        expected = str(self.environ.get("HTTP_EXPECT", "")).lower()
        return expected == "100-continue" and self.environ["SERVER_PROTOCOL"] == "HTTP/1.1"


def make_head(
    method: str, target: bytes, version: str, headers: list[tuple[bytes, bytes]], keep_alive: bool
) -> Head:
    """The head of one request; raises Refused."""
    if version not in ("1.0", "1.1"):
        raise Refused("400 Bad Request", "This server speaks HTTP/1.1 and HTTP/1.0.")
    host, path, query = _target(method, target)
    if method not in METHODS:
        raise Refused("405 Method Not Allowed", "This method is not supported.", ALLOWED)
    environ: Environ = {
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(path).decode("latin-1") if b"%" in path else path.decode(),
        "QUERY_STRING": query.decode("latin-1"),
        "SERVER_PROTOCOL": f"HTTP/{version}",
        "wsgi.url_scheme": "http",
    }
    _add_headers(environ, headers)
    _check_host(environ, host, [value for name, value in headers if name.lower() == b"host"])
    expected = environ.get("HTTP_EXPECT", "100-continue").lower()
    if expected != "100-continue" and version == "1.1":
        raise Refused("417 Expectation Failed", "Only 100-continue can be expected here.")
    return Head(environ, keep_alive, _length(environ))


def _target(method: str, target: bytes) -> tuple[bytes | None, bytes, bytes]:
    """The authority (in absolute form), path and query of a request target."""
    host = None
    if method == "CONNECT":
        raise Refused("405 Method Not Allowed", "This is not a proxy.", ALLOWED)
    if match := _ABSOLUTE.fullmatch(target):
        host, target = match[1], match[2]
        target = target if target.startswith(b"/") else b"/" + target
    elif target == b"*" and method == "OPTIONS":
        raise Refused("204 No Content", "", (("Allow", "GET, HEAD, POST, OPTIONS"),))
    elif not target.startswith(b"/") or b"#" in target:
        raise Refused("400 Bad Request", "The address cannot be understood.")
    path, _, query = target.partition(b"?")
    return host, path, query


def _add_headers(environ: Environ, headers: list[tuple[bytes, bytes]]) -> None:
    """Add headers under their WSGI names; one with an underscore is dropped: it could fake one."""
    for raw_name, raw_value in headers:
        if b"_" in raw_name:
            continue
        name = raw_name.decode("latin-1").upper().replace("-", "_")
        value = raw_value.decode("latin-1").strip(" \t")
        key = name if name in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{name}"
        if key in environ:
            value = environ[key] + ("; " if name == "COOKIE" else ", ") + value
        environ[key] = value


def _check_host(environ: Environ, host: bytes | None, values: list[bytes]) -> None:
    """RFC 9112 3.2: exactly one Host in HTTP/1.1; an authority in the target overrides it.

    An empty Host is allowed: it is sent where the address has none.
    """
    least = 1 if environ["SERVER_PROTOCOL"] == "HTTP/1.1" else 0
    hosts = [value.strip() for value in values]
    if not least <= len(hosts) <= 1 or not all(not host or _is_host(host) for host in hosts):
        raise Refused("400 Bad Request", "A request needs exactly one valid Host header.")
    if host is not None:
        if not _is_host(host):
            raise Refused("400 Bad Request", "The address cannot be understood.")
        environ["HTTP_HOST"] = host.decode("ascii")


@lru_cache(maxsize=256)  # readers name one and the same
def _is_host(text: bytes) -> bool:
    """Whether this is a name of the DNS or an IP address, perhaps with a port.

    A last label that is a number makes it an IPv4 address for browsers and resolvers: octal, hex
    and short forms of one are refused, since they are another spelling of an address.
    """
    match = _HOST.fullmatch(text)
    if match is None or len(text) > 253 + len(":65535") or int(match[3] or 0) > 65_535:
        return False
    v6, name = match[1], match[2]
    try:
        if v6 is not None:
            ipaddress.IPv6Address(v6.decode())
        elif _NUMBER.fullmatch(name.removesuffix(b".").rpartition(b".")[2]):
            ipaddress.IPv4Address(name.decode())
    except ValueError:
        return False
    return True


def _length(environ: Environ) -> int | None:
    codings = environ.get("HTTP_TRANSFER_ENCODING")
    if codings is None:
        digits: str = environ.get("CONTENT_LENGTH", "").lstrip("0")  # int() refuses 5,000 of them
        return int(digits or 0)
    if codings.lower() != "chunked" or environ["SERVER_PROTOCOL"] != "HTTP/1.1":
        raise Refused("400 Bad Request", "Of transfer codings only chunked is taken, in HTTP/1.1.")
    environ.pop("CONTENT_LENGTH", None)
    return None
