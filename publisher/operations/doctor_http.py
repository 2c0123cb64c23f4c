"""The doctor's checks over HTTP: requests as feed readers send them, and what proxies may break."""

import http.client
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlsplit

from publisher.base.clock import utc_now
from publisher.base.environment import Environment
from publisher.dynamic_ttl.validators import http_date
from publisher.web.application import close_app, create_app

FEED = "/rss.xml"
CLOCK_TOLERANCE = timedelta(minutes=2)
TIMEOUT_SECONDS = 10
_SELF = re.compile(rb'<atom:link(?=[^>]* rel="self")[^>]* href="([^"]*)"')
_THROUGH = "does a proxy or CDN between change the headers? See docs/deploy.md"


@dataclass(frozen=True)
class Finding:
    """The result of one check; `mend` says what to do if it failed."""

    what: str
    good: bool
    detail: str
    mend: str = ""


@dataclass(frozen=True)
class HttpAnswer:
    """An HTTP response; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


Ask = Callable[[str, str, Mapping[str, str]], HttpAnswer]


def examine_http(ask: Ask, url: str | None = None) -> Iterator[Finding]:
    """The checks of the feed; with `url`, also those that only the public address can show."""
    plain = ask("GET", FEED, {})
    found = f"{plain.status}, {len(plain.body):,} bytes"
    yield Finding("feed is served", plain.status == 200, found, "look into the log of `serve`")
    if plain.status != 200:
        return
    media_type = plain.headers.get("content-type", "(none)")
    right = media_type == "application/rss+xml; charset=utf-8"
    yield Finding("its content type", right, media_type, _THROUGH)
    yield from _address(plain, url)
    yield from _conditional(ask, plain)
    head = ask("HEAD", FEED, {})
    yield Finding("HEAD", head.status == 200 and not head.body, f"{head.status}", _THROUGH)
    packed = ask("GET", FEED, {"Accept-Encoding": "gzip"})
    same = packed.headers.get("etag") == plain.headers.get("etag")
    gzip = packed.headers.get("content-encoding") == "gzip" and same
    detail = f"{len(packed.body):,} bytes, {'the same' if same else 'another'} ETag"
    yield Finding("compression", gzip, detail, _THROUGH)
    post = ask("POST", FEED, {})
    refused = post.status == 405 and "GET" in post.headers.get("allow", "")
    detail = f"{post.status}, Allow: {post.headers.get('allow')}"
    yield Finding("other methods are refused", refused, detail, _THROUGH)
    garbage = ask("GET", FEED, {"If-None-Match": '"', "If-Modified-Since": "yesterday"})
    yield Finding("garbage is ignored", garbage.status == 200, f"{garbage.status}", _THROUGH)
    if url and not is_local(url):
        yield _behind_proxy(ask)
    if url:
        yield _clock(plain)


def _address(plain: HttpAnswer, url: str | None) -> Iterator[Finding]:
    """Whether the feed's self link is the address that it was requested at."""
    named = _SELF.search(plain.body)
    own = named.group(1).decode("utf-8", "replace") if named else "(none)"
    if url is None:
        note = " (only this machine can read it)" if is_local(own) else ""
        yield Finding("its address", named is not None, own + note)
        return
    wanted = url.rstrip("/") + FEED
    mend = f"`publisher settings site_url {url.rstrip('/')}`, or ask at the address it names"
    detail = own if own == wanted else f"the feed names {own}, you asked {wanted}"
    yield Finding("its address", own == wanted, detail, mend)


def _conditional(ask: Ask, plain: HttpAnswer) -> Iterator[Finding]:
    """Whether a reader that has the feed already gets a 304."""
    etag, modified = plain.headers.get("etag", ""), plain.headers.get("last-modified", "")
    detail = f"{etag} {modified}".strip() or "(none)"
    yield Finding("its validators", bool(etag), detail, _THROUGH)
    matched = ask("GET", FEED, {"If-None-Match": etag})
    good = matched.status == 304 and not matched.body
    yield Finding("304 for its ETag", good, f"{matched.status}", _THROUGH)
    for name in ("etag", "cache-control", "vary"):
        same = matched.headers.get(name) == plain.headers.get(name) is not None
        detail = matched.headers.get(name, "(none)")
        yield Finding(f"{name} on the 304", same, detail, _THROUGH)
    glued = ask("GET", FEED, {"If-None-Match": etag.removesuffix('"') + '-gzip"'})
    # A cache may send the whole document: that wastes bytes, but is correct.
    whole = glued.status == 200 and glued.body == plain.body
    detail = "200: a cache answers in full, which costs bytes alone" if whole else f"{glued.status}"
    yield Finding("304 for Apache's ETag-gzip", glued.status == 304 or whole, detail, _THROUGH)
    if not modified:
        # Two builds within one second: a date cannot tell them apart, so it is left out.
        yield Finding("Last-Modified", True, "left out: two versions share its second")
        return
    since = ask("GET", FEED, {"If-Modified-Since": modified})
    yield Finding("304 for its Last-Modified", since.status == 304, f"{since.status}", _THROUGH)
    date, last = http_date(plain.headers.get("date")), http_date(modified)
    ordered = date is not None and last is not None and last <= date
    detail = f"{modified} / {plain.headers.get('date')}"
    yield Finding("Last-Modified before Date", ordered, detail, "set the machine's clock (NTP)")


def _behind_proxy(ask: Ask) -> Finding:
    """Whether the proxy forwards the visitor's address: /metrics is open to this machine only."""
    status = ask("GET", "/metrics", {}).status
    if status == 200:
        detail = "/metrics takes a stranger for this machine: no X-Forwarded-For reaches the site"
        mend = "let the proxy send X-Forwarded-For and set PUBLISHER_TRUSTED_PROXIES"
        return Finding("strangers are strangers", False, detail, mend)
    return Finding("strangers are strangers", True, f"/metrics is closed to them ({status})")


def _clock(plain: HttpAnswer) -> Finding:
    date = http_date(plain.headers.get("date"))
    good = date is not None and abs(date - utc_now()) <= CLOCK_TOLERANCE
    detail = f"the server says {plain.headers.get('date')}, this machine {utc_now():%H:%M:%S} UTC"
    return Finding("its clock", good, detail, "set the clock of the one that is wrong (NTP)")


def is_local(url: str) -> bool:
    """Whether an address leads to this machine alone."""
    host = urlsplit(url).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


@contextmanager
def ask_app(environment: Environment) -> Iterator[Ask]:
    """Send requests to an application in this process, which is closed at the block's end."""
    app = create_app(environment)
    client = app.test_client()

    def ask(method: str, path: str, headers: Mapping[str, str]) -> HttpAnswer:
        got = client.open(path, method=method, headers=dict(headers))
        return HttpAnswer(got.status_code, {k.lower(): v for k, v in got.headers.items()}, got.data)

    try:
        yield ask
    finally:
        close_app(app)


def ask_url(url: str) -> Ask:
    """Send requests to a running server at `url`."""
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection

    def ask(method: str, path: str, headers: Mapping[str, str]) -> HttpAnswer:
        connection = kind(parts.netloc, timeout=TIMEOUT_SECONDS)
        try:
            connection.request(method, parts.path.rstrip("/") + path, headers=dict(headers))
            got = connection.getresponse()
            return HttpAnswer(got.status, {k.lower(): v for k, v in got.getheaders()}, got.read())
        finally:
            connection.close()

    return ask
