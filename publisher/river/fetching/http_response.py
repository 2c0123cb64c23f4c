"""Reading one HTTP answer: headers, bounded body, redirect target, names of problems."""

import ssl
from urllib.parse import urljoin

import aiohttp
from yarl import URL

from publisher.base import net
from publisher.river.fetching.decoding import DamagedBody, TooLargeBody, unpacked

_KEPT_ERROR_BYTES = 2_000
_LISTS = ("cache-control", "link", "www-authenticate")


class ProblemError(Exception):
    """Ends a poll: the stored name of a problem, and words for it."""

    def __init__(self, problem: str, detail: str = "") -> None:
        super().__init__(problem)
        self.problem, self.detail = problem, detail


async def body_of(response: aiohttp.ClientResponse, most: int) -> bytes:
    """The body of a 2xx, at most `most` bytes; of any other status only its beginning."""
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
    """Headers by lower-case name. Lists sent in several lines are joined (RFC 9110, 5.3); of any
    other repeated header the last one counts."""
    sent = response.headers
    lists = {name: ", ".join(sent.getall(name)) for name in _LISTS if name in sent}
    return {name.lower(): value for name, value in sent.items()} | lists


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
