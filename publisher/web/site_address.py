"""The site's address compared with the one that the browser used, to find a wrong setting.

What a browser names as the host is shown and offered, never taken by itself.
"""

import ipaddress
from urllib.parse import urlsplit

from flask import request

from publisher.base import environment
from publisher.base.errors import InvalidInput
from publisher.web.context import site


def asked_at() -> str:
    """Scheme and host of this request as they were sent, with a slash.

    The framework's own makes names of punycode readable, and raises over `xn--` and the like.
    """
    return f"{request.scheme}://{request.host}/"


def of_browser() -> str:
    """The address that this request was sent to; nothing where it makes no sense."""
    try:
        return environment.site_address(asked_at())
    except InvalidInput:
        return ""


def better() -> str:
    """The address that the browser used, where the site's own is another; else nothing.

    A site with a public address is often looked after through another door (a tunnel, a machine's
    own name): this computer's own addresses never replace a public one. The scheme alone is no
    difference, because a proxy may have taken the s away.
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
