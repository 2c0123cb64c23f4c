"""Cross-site request forgery: a request that changes something must come from a page of this site.

This is checked besides the form key, by two headers that no page can forge: `Sec-Fetch-Site` (on
https and localhost) and `Origin` (with each POST, in browsers since 2020). A request that names
another site, or has neither header, is refused. Programs use the blueprints of `PROGRAMS`, which
take no cookie and ask for a token, or trust nobody.
"""

from urllib.parse import urlsplit

from flask import Flask, request

from publisher.base.errors import Forbidden
from publisher.web.context import site

_ELSEWHERE = "this was not sent from a page of this site, so nothing was done"
_SAFE = ("GET", "HEAD", "OPTIONS")
# Blueprints that take no cookie: neither the origin nor a form key is checked there.
PROGRAMS = ("micropub", "indieauth", "mirror", "xmlrpc", "reader_api", "reader_test", "webmention")


def prepare(app: Flask) -> None:
    """Check every request before its view runs."""
    app.before_request(_check)


def is_checked() -> bool:
    """Whether this request could change something with only a cookie, and so is checked."""
    return request.method not in _SAFE and request.blueprint not in PROGRAMS


def _check() -> None:
    """Forbidden for a change that no page of this site has sent."""
    if not is_checked():
        return
    fetched, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    if fetched is None and origin is None:
        raise Forbidden(
            "the request has no Origin header, so nothing was done: browsers since 2020 send one; "
            "programs can use Micropub or the command line"
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
