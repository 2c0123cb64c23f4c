"""Where a request that changes something comes from: this site's own pages, besides the form key.

A browser says it in two headers that no page can forge: `Sec-Fetch-Site` (on https and localhost)
and `Origin` (everywhere, with each POST). Whatever names another place is refused. A program that
sends neither is no browser that somebody could have tricked; the form key is asked of it all the
same. Programs with a token or a code (Micropub, IndieAuth) may come from anywhere.
"""

from urllib.parse import urlsplit

from flask import Flask, request

from publisher.base.errors import Forbidden
from publisher.web.context import site

_SAFE = ("GET", "HEAD", "OPTIONS")
_BY_TOKEN = ("micropub", "indieauth")


def prepare(app: Flask) -> None:
    """Look at every request before its view does."""
    app.before_request(_check)


def _check() -> None:
    """Forbidden for a change that another site's page asks for."""
    if request.method in _SAFE or request.blueprint in _BY_TOKEN:
        return
    fetched = request.headers.get("Sec-Fetch-Site", "same-origin")
    if fetched not in ("same-origin", "none"):
        raise Forbidden("this was not sent from a page of this site, so nothing was done")
    origin = request.headers.get("Origin")
    if origin is None or (origin == "null" and "Sec-Fetch-Site" in request.headers):
        return
    here = {request.host.lower(), urlsplit(site().site_url).netloc.lower()}
    if urlsplit(origin).netloc.lower() not in here:
        raise Forbidden("this was not sent from a page of this site, so nothing was done")
