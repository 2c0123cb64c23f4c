"""HTTP validators and freshness (RFC 9110, 9111): the one place that decides 200 or 304."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from publisher.dates import format_rfc822
from publisher.storage.models import Snapshot

SHARED_MAX_AGE_SECONDS = 60
Answer = tuple[str, list[tuple[str, str]], bytes]


@dataclass(frozen=True)
class Served:
    """A document ready to be sent."""

    body: bytes
    body_gzip: bytes
    content_type: str
    etag: str
    last_modified: datetime
    second_shared: bool
    max_age_seconds: int

    @property
    def cache_control(self) -> str:
        """How long a reader may keep the copy; a shared cache must not hide a surprise post."""
        return f"public, max-age={self.max_age_seconds}, s-maxage={SHARED_MAX_AGE_SECONDS}"

    @classmethod
    def of(cls, row: Snapshot) -> Served:
        """What a stored snapshot says."""
        return cls(
            row.body, row.body_gzip, row.content_type, row.etag, row.last_modified,
            row.second_shared, row.ttl_minutes * 60,
        )  # fmt: skip


def respond(document: Served, environ: dict[str, Any], now: datetime) -> Answer:
    """The answer to one request for `document`."""
    method = environ["REQUEST_METHOD"]
    if method not in ("GET", "HEAD"):
        return "405 Method Not Allowed", [("Allow", "GET, HEAD"), ("Content-Length", "0")], b""
    headers = [
        ("ETag", document.etag),
        ("Last-Modified", format_rfc822(min(document.last_modified, now))),
        ("Cache-Control", document.cache_control),
        ("Expires", format_rfc822(now + timedelta(seconds=document.max_age_seconds))),
        ("Date", format_rfc822(now)),
        ("Vary", "Accept-Encoding"),
    ]  # fmt: skip
    if _not_modified(document, environ):
        return "304 Not Modified", headers, b""
    body = document.body
    if "gzip" in environ.get("HTTP_ACCEPT_ENCODING", ""):
        body = document.body_gzip
        headers.append(("Content-Encoding", "gzip"))
    headers += [("Content-Type", document.content_type), ("Content-Length", str(len(body)))]
    return "200 OK", headers, b"" if method == "HEAD" else body


def _not_modified(document: Served, environ: dict[str, Any]) -> bool:
    tags = environ.get("HTTP_IF_NONE_MATCH")
    if tags is not None:
        return document.etag.removeprefix("W/") in tags or tags.strip() == "*"
    since = environ.get("HTTP_IF_MODIFIED_SINCE")
    if not since:
        return False
    try:
        moment = parsedate_to_datetime(since)
    except ValueError:
        return False
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    if document.second_shared:
        return moment > document.last_modified
    return moment >= document.last_modified
