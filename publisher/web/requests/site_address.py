"""Compares the site's address with the one that the browser used, to find a wrong setting.

The host that a browser sends is offered to an author, but never used without their consent.
"""

import ipaddress
from urllib.parse import urlsplit

from flask import request

from publisher.base import environment
from publisher.base.errors import InvalidInput
from publisher.web.context import site


def asked_at() -> str:
    """Scheme and host of this request as they were sent, with a slash.

    The framework's own function decodes punycode, and raises for invalid names such as `xn--`.
    """
    return f"{request.scheme}://{request.host}/"


def of_browser() -> str:
    """The address that this request was sent to; "" if it is not valid."""
    try:
        return environment.site_address(asked_at())
    except InvalidInput:
        return ""


def better() -> str:
    """The address that the browser used, if it differs from the site's own; else "".

    A loopback address never replaces a public one: a public site is often managed through a tunnel
    or on the server itself. A different scheme alone does not count, because a TLS proxy passes on
    http.
    """
    used, own = of_browser(), site().site_url
    if not used or _host(used) == _host(own):
        return ""
    if loopback(used) and (not loopback(own) or _port(used) == _port(own)):
        return ""
    return used


def _host(address: str) -> str:
    return urlsplit(address).netloc


def _port(address: str) -> int | None:
    return urlsplit(address).port


def loopback(address: str) -> bool:
    """Whether an address leads to this computer itself."""
    name = urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")
