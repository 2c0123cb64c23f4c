"""HTTP answers to a request for a feed: those without a document, and the compression of documents.

Sizes and costs for a feed of 64 kB: gzip 19.1 kB (5 ms), zstd 18.1 kB (46 ms), br 16.2 kB (127 ms).
So gzip is made with the document, the others later and in a thread, where they are installed.
"""

import gzip
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

Headers = list[tuple[str, str]]

# Cross-origin resource sharing (the Fetch standard): scripts on pages of other sites may read an
# answer with these headers. Never with `Access-Control-Allow-Credentials`: an answer that depends
# on a cookie stays closed to them.
CROSS_ORIGIN: Headers = [
    ("Access-Control-Allow-Origin", "*"),
    ("Access-Control-Expose-Headers", "ETag, Link, Location, Retry-After, WWW-Authenticate"),
]
# Which headers such a script may send. The asterisk leaves Authorization out.
CROSS_ORIGIN_REQUEST: Headers = [
    ("Access-Control-Allow-Headers", "*, Authorization"),
    ("Access-Control-Max-Age", "86400"),
]


@dataclass(frozen=True)
class FeedAnswer:
    """A finished answer; `code` is the number in `status`, `sent_bytes` the length of its body.

    `encoded` is the server's cache of its bytes, by the Connection header.
    """

    code: int
    status: str
    headers: Headers
    body: list[bytes]
    sent_bytes: int = 0
    encoded: dict[str, Any] = field(default_factory=dict)


# What a browser asks before a script's request with headers of its own.
PREFLIGHT = FeedAnswer(
    204,
    "204 No Content",
    [("Access-Control-Allow-Methods", "GET, HEAD"), *CROSS_ORIGIN, *CROSS_ORIGIN_REQUEST],
    [],
)
NOT_ALLOWED = FeedAnswer(
    405, "405 Method Not Allowed", [("Allow", "GET, HEAD"), ("Content-Length", "0")], []
)
NOT_THE_SAME = FeedAnswer(412, "412 Precondition Failed", [("Content-Length", "0")], [])


def without_document(environ: dict[str, Any]) -> FeedAnswer | None:
    """The answer to other methods than GET and HEAD; None for these two."""
    method = environ["REQUEST_METHOD"]
    if method in ("GET", "HEAD"):
        return None
    return PREFLIGHT if method == "OPTIONS" else NOT_ALLOWED


def is_browser_navigation(environ: dict[str, Any]) -> bool:
    """Whether a person opens the address in a browser, which shows a page.

    Browsers say so (Fetch Metadata), except over plain http; there their `Accept` begins with HTML.
    """
    destination = environ.get("HTTP_SEC_FETCH_DEST")
    if destination is None:
        return bool(environ.get("HTTP_ACCEPT", "").startswith("text/html,application/xhtml+xml"))
    return bool(destination == "document")


def as_page(answer: FeedAnswer) -> FeedAnswer:
    """The same bytes as plain XML, which browsers show with the document's style sheet.

    Chromium shows the media types of feeds as text. No shared cache may keep this answer, so the
    others need no `Vary`, and programs are given the feed's own type.
    """
    if answer.code != 200:
        return answer
    before = dict(answer.headers)
    if "json" in before["Content-Type"]:
        return answer
    changed = {
        "Content-Type": "application/xml; charset=utf-8",
        "Cache-Control": before["Cache-Control"].replace("public", "private"),
        "CDN-Cache-Control": "no-store",
        "X-Accel-Expires": "0",
    }
    headers = [(name, changed.get(name, value)) for name, value in answer.headers]
    return replace(answer, headers=headers, encoded={})


class Moved:
    """An old address of a feed, which redirects permanently to `location`."""

    def __init__(self, location: str) -> None:
        text = f"The feed is at {location}\n".encode()
        headers = [
            ("Location", location),
            ("Cache-Control", "public, max-age=86400"),
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Length", str(len(text))),
            *CROSS_ORIGIN,
        ]
        self._answer = FeedAnswer(301, "301 Moved Permanently", headers, [text], len(text))

    def respond(self, environ: dict[str, Any], _now: datetime) -> FeedAnswer:
        """The redirect; 405 for other methods than GET, HEAD and OPTIONS."""
        if (answer := without_document(environ)) is not None:
            return answer
        if environ["REQUEST_METHOD"] == "HEAD":
            return FeedAnswer(301, self._answer.status, self._answer.headers, [])
        return self._answer


def too_soon(wait_seconds: int) -> FeedAnswer:
    """The refusal of a poll that came too early and without validators (RFC 6585)."""
    text = (
        f"Please wait {wait_seconds} seconds. This feed names its ttl and sends an ETag: "
        "ask when the ttl is over, with If-None-Match, and you will never see this.\n"
    ).encode()
    headers = [
        ("Retry-After", str(wait_seconds)),
        ("Cache-Control", "no-store"),
        ("Content-Type", "text/plain; charset=utf-8"),
        ("Content-Length", str(len(text))),
        *CROSS_ORIGIN,
    ]
    return FeedAnswer(429, "429 Too Many Requests", headers, [text], len(text))


GZIP = "gzip"
_MAKERS: dict[str, Callable[[bytes], bytes]] = {}  # the smallest result first

with suppress(ImportError):
    import brotli

    _MAKERS["br"] = lambda body: bytes(brotli.compress(body, mode=brotli.MODE_TEXT, quality=11))
with suppress(ImportError):
    from backports import zstd

    _MAKERS["zstd"] = lambda body: zstd.compress(body, 19)


CODINGS = (*_MAKERS, GZIP)  # the codings that a document is offered in, best first


def gzipped(body: bytes) -> bytes:
    """The body as gzip, the same bytes every time."""
    return gzip.compress(body, compresslevel=9, mtime=0)


def packed(body: bytes) -> dict[str, bytes]:
    """The body in each installed coding except gzip, by the coding's name; the smallest first."""
    return {name: make(body) for name, make in _MAKERS.items()}
