"""Where a request that changes something comes from: this site's own pages, besides the form key.

A browser says it in two headers that no page can forge: `Sec-Fetch-Site` (on https and localhost)
and `Origin` (everywhere, with each POST, since 2020). One of them has to be there and right; what
names another place is refused, and so is what names none. A program that has no page to come from
uses a door of `PROGRAMS`, which asks for a token or trusts nobody, and takes no cookie.
"""

from urllib.parse import urlsplit

from flask import Flask, request

from publisher.base.errors import Forbidden
from publisher.web.context import site

_ELSEWHERE = "this was not sent from a page of this site, so nothing was done"
_SAFE = ("GET", "HEAD", "OPTIONS")
# Blueprints that no cookie opens: neither the origin nor a form key is asked for there.
PROGRAMS = ("micropub", "indieauth", "mirror", "xmlrpc", "reader_api", "webmention")


def prepare(app: Flask) -> None:
    """Look at every request before its view does."""
    app.before_request(_check)


def is_checked() -> bool:
    """Whether this request may change something with nothing but a cookie."""
    return request.method not in _SAFE and request.blueprint not in PROGRAMS


def _check() -> None:
    """Forbidden for a change that is not asked for by a page of this site."""
    if not is_checked():
        return
    fetched, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    if fetched is None and origin is None:
        raise Forbidden(
            "the request does not say which page sent it (no Origin header), so nothing was done: "
            "every browser since 2020 says so; programs can use Micropub or the command line"
        )
    if fetched not in (None, "same-origin", "none"):
        raise Forbidden(_ELSEWHERE)
    if origin is None or (origin == "null" and fetched is not None):
        return
    here = {request.host.lower(), urlsplit(site().site_url).netloc.lower()}
    if _netloc(origin) not in here:
        raise Forbidden(_ELSEWHERE)


def _netloc(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:  # an unclosed bracket
        return ""
