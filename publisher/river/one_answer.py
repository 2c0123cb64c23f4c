"""What counts as an answer: its headers, its bounded body, the names of what went wrong."""

import ssl
from urllib.parse import urljoin

import aiohttp
from yarl import URL

from publisher.base import net
from publisher.river.decoding import DamagedBody, TooLargeBody, unpacked

_KEPT_ERROR_BYTES = 2_000
_LISTS = ("cache-control", "link", "www-authenticate")


class ProblemError(Exception):
    """What ends a poll: the stored name of a problem, and words for it."""

    def __init__(self, problem: str, detail: str = "") -> None:
        super().__init__(problem)
        self.problem, self.detail = problem, detail


async def body_of(response: aiohttp.ClientResponse, most: int) -> bytes:
    """The whole body of a 2xx, `most` bytes; of anything else only its beginning."""
    if response.status == 304:
        return b""
    label = response.headers.get("Content-Encoding", "")
    if not 200 <= response.status < 300:
        start = await response.content.read(_KEPT_ERROR_BYTES)
        if not response.content.at_eof():
            response.close()
        return b"" if label else start
    try:
        return unpacked(await net.read_bounded(response, most), label, most)
    except (net.OutgoingError, TooLargeBody) as problem:
        raise ProblemError("too-large", str(problem)) from problem
    except DamagedBody as problem:
        raise ProblemError("truncated", str(problem)) from problem


def headers_of(response: aiohttp.ClientResponse) -> dict[str, str]:
    """By names in lower case. Lists that are said in several lines are joined (RFC 9110, 5.3); of
    anything else the last one counts."""
    said = response.headers
    lists = {name: ", ".join(said.getall(name)) for name in _LISTS if name in said}
    return {name.lower(): value for name, value in said.items()} | lists


def target_of(here: str, location: str | None, status: int) -> str:
    """The absolute, checked address a redirect points to."""
    if not location:
        raise ProblemError("redirect-nowhere", f"status {status} without a Location")
    try:
        target = str(URL(urljoin(here, location.strip()).partition("#")[0]))
    except ValueError:
        raise ProblemError("redirect-refused", "redirected to a malformed address") from None
    try:
        return net.check_url(target)
    except ValueError as problem:
        raise ProblemError("redirect-refused", f"redirected to a bad address: {problem}") from None


def name_of(failure: BaseException) -> str:
    """The stored name of a failure; `net.explain_failure` has the sentence."""
    cause = getattr(failure, "os_error", failure)
    if isinstance(cause, net.PrivateAddressError) or getattr(cause, "errno", 0) == 13:
        return "private-address"
    kinds: list[tuple[type[BaseException] | tuple[type[BaseException], ...], str]] = [
        (TimeoutError, "timeout"),
        (aiohttp.ClientConnectorDNSError, "dns"),
        ((aiohttp.ClientConnectorCertificateError, aiohttp.ClientSSLError, ssl.SSLError), "tls"),
        (aiohttp.ClientPayloadError, "truncated"),
        ((aiohttp.ClientConnectorError, aiohttp.ServerDisconnectedError, OSError), "connect"),
    ]
    return next((name for kind, name in kinds if isinstance(failure, kind)), "bad-answer")
