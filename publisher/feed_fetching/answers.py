"""Plain values of one poll: validators and login that it is sent with, its result, and what that
says about time: freshness and Retry-After (RFC 9110, RFC 9111).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import takewhile

from publisher.base.text import number_up_to
from publisher.dynamic_ttl.core.validators import http_date

PERMANENT = frozenset({301, 308})


@dataclass(frozen=True, slots=True)
class Validators:
    """ETag and Last-Modified as received, both from the same answer.

    They are sent back only to `url`, the address that gave them: a redirect's first address never
    issued them, and a third party could track us by them.
    """

    etag: str | None = None
    last_modified: str | None = None
    url: str | None = None

    def __bool__(self) -> bool:
        return self.etag is not None or self.last_modified is not None

    def headers(self) -> dict[str, str]:
        """The conditional request headers, verbatim."""
        pair = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in pair.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Credentials:
    """A name and password for one origin; `scheme` is remembered once it worked."""

    username: str
    password: str = field(repr=False)
    scheme: str = ""


@dataclass(slots=True)
class HttpResult:
    """The result of one poll. `status` is 0 when no answer came at all.

    `hops` are the redirects: the status that sent us on, and where to. `hosts_asked` are the hosts
    that were sent a request, in order, each by its work unit; `requests` counts redirects and
    second tries too. `waits_for` is the busy host at which the poll was broken off.
    """

    requested_url: str
    url: str
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    hops: tuple[tuple[int, str], ...] = ()
    conditional: bool = False
    problem: str = ""
    detail: str = ""
    auth_scheme: str = ""
    hosts_asked: tuple[str, ...] = ()
    requests: int = 1
    waits_for: str = ""

    @property
    def ok(self) -> bool:
        """A whole 2xx answer; an unknown 2xx counts as 200. Parts and deltas, for which nobody has
        asked, are none."""
        return not self.problem and 200 <= self.status < 300 and self.status not in (206, 226)

    @property
    def not_modified(self) -> bool:
        """The server said that our copy is still the current one."""
        return not self.problem and self.status == 304

    @property
    def validators(self) -> Validators:
        """The pair that this answer carries, for the next request."""
        return Validators(
            _echoable(self.headers.get("etag")),
            _echoable(self.headers.get("last-modified")),
            self.url,
        )

    @property
    def permanent_url(self) -> str | None:
        """Where the permanent redirects (301, 308) before the first temporary one lead, if any."""
        permanent = list(takewhile(lambda hop: hop[0] in PERMANENT, self.hops))
        return permanent[-1][1] if permanent else None


def _echoable(value: str | None) -> str | None:
    """A header value that can be sent back byte for byte, else None."""
    return value if value and value.isascii() and value.isprintable() else None


_DIRECTIVE = re.compile(r'([a-z-]+)(?:\s*=\s*(?:"([^"]*)"|([^\s,;]+)))?', re.IGNORECASE)
_YEAR_SECONDS = 366 * 86400
LONGEST_SILENCE_SECONDS = 7 * 86400
"""The longest Retry-After that is obeyed: more is taken for a mistake, and cut to a week."""


@dataclass(frozen=True, slots=True)
class HeaderHints:
    """Freshness as sent, by the names of `core.polling.Answer`. `expires_at` is seconds since 1970
    by our clock, not the server's."""

    max_age_seconds: int | None = None
    age_seconds: int | None = None
    expires_at: int | None = None
    last_modified_at: int | None = None


def cache_control(value: str) -> dict[str, str]:
    """Directives in lower case with their values; the first of a repeated one counts."""
    directives: dict[str, str] = {}
    for name, quoted, plain in _DIRECTIVE.findall(value):
        directives.setdefault(name.lower(), quoted or plain)
    return directives


def header_hints(headers: Mapping[str, str], now: datetime) -> HeaderHints:
    """Read the freshness headers (names in lower case) of an answer received at `now`.

    Expires counts from the server's own Date, so that a wrong clock there does no harm. An
    answer with no-store or no-cache gives no freshness.
    """
    directives = cache_control(headers.get("cache-control", ""))
    modified = http_date(headers.get("last-modified"))
    modified_at = int(modified.timestamp()) if modified else None
    if "no-store" in directives or "no-cache" in directives:
        return HeaderHints(last_modified_at=modified_at)
    max_age = number_up_to(_YEAR_SECONDS, directives.get("max-age", "").strip())
    expires = http_date(headers.get("expires")) if max_age is None else None
    if expires is not None:
        expires_at = int(now.timestamp() + _lead(expires, headers, now, _YEAR_SECONDS))
    return HeaderHints(
        max_age_seconds=max_age,
        age_seconds=number_up_to(_YEAR_SECONDS, headers.get("age", "").strip()),
        expires_at=expires_at if expires is not None else None,
        last_modified_at=modified_at,
    )


SLOW_DOWN = frozenset({403, 429, 503})
"""Statuses whose Retry-After is obeyed; for all others the freshness headers count. Some servers
refuse with 403 where they mean 429."""


def asked_to_wait_seconds(status: int, headers: Mapping[str, str], now: datetime) -> int | None:
    """How long an answer received at `now` asks to be left alone; None if it says nothing.

    The river obeys it, and the tests judge any reader by it.
    """
    if status in SLOW_DOWN:
        return retry_after_seconds(headers, now)
    if "cache-control" not in headers and "expires" not in headers:
        return None
    hints = header_hints(headers, now)
    if hints.max_age_seconds is not None:
        return max(hints.max_age_seconds - (hints.age_seconds or 0), 0)
    return hints.expires_at - int(now.timestamp()) if hints.expires_at is not None else None


def retry_after_seconds(headers: Mapping[str, str], now: datetime) -> int | None:
    """How long the server asks us to stay away, from either form of Retry-After; a week at most."""
    value = headers.get("retry-after", "").strip()
    if (seconds := number_up_to(LONGEST_SILENCE_SECONDS, value)) is not None:
        return seconds
    moment = http_date(value)
    return int(_lead(moment, headers, now, LONGEST_SILENCE_SECONDS)) if moment else None


def _lead(moment: datetime, headers: Mapping[str, str], now: datetime, most: int) -> float:
    """Seconds from the server's own Date to a moment that it names, at most `most`."""
    lead = (moment - (http_date(headers.get("date")) or now)).total_seconds()
    return min(max(lead, 0), most)
