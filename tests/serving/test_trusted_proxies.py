"""Whose forwarded headers count."""

import ipaddress

import pytest

from publisher.serving.trusted_proxies import apply_forwarded_headers

TRUSTED = (ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_network("::1/128"))


def seen(remote: str, forwarded: str, proto: str = "") -> tuple[str, str]:
    """What the application is told about a request."""
    environ = {"REMOTE_ADDR": remote, "wsgi.url_scheme": "http"}
    environ |= {"HTTP_X_FORWARDED_FOR": forwarded, "HTTP_X_FORWARDED_PROTO": proto}
    apply_forwarded_headers(environ, TRUSTED)
    return environ["REMOTE_ADDR"], environ["wsgi.url_scheme"]


@pytest.mark.parametrize(
    ("remote", "forwarded", "visitor"),
    [
        ("203.0.113.9", "198.51.100.1", "203.0.113.9"),  # not a proxy of ours: not believed
        ("10.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("10.0.0.1", "6.6.6.6, 198.51.100.1", "198.51.100.1"),  # the left part proves nothing
        ("10.0.0.1", "198.51.100.1, 10.2.3.4", "198.51.100.1"),  # two proxies of ours
        ("10.0.0.1", "6.6.6.6, nonsense", "10.0.0.1"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("::1", "2001:db8::7", "2001:db8::7"),
        ("::ffff:10.0.0.1", "198.51.100.1", "198.51.100.1"),
    ],
)
def test_visitor(remote: str, forwarded: str, visitor: str) -> None:
    """The visitor is the nearest hop that no trusted proxy answers for."""
    assert seen(remote, forwarded)[0] == visitor


def test_scheme() -> None:
    """A trusted proxy says whether the visitor came by https; nobody else can."""
    assert seen("10.0.0.1", "", "https")[1] == "https"
    assert seen("10.0.0.1", "", "gopher")[1] == "http"
    assert seen("203.0.113.9", "", "https")[1] == "http"
