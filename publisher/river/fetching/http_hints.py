"""What an HTTP answer says about time: freshness and Retry-After (RFC 9110, RFC 9111)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from publisher.base.numerals import number_up_to
from publisher.dynamic_ttl.validators import http_date

_DIRECTIVE = re.compile(r'([a-z-]+)(?:\s*=\s*(?:"([^"]*)"|([^\s,;]+)))?', re.IGNORECASE)
_YEAR_SECONDS = 366 * 86400
LONGEST_SILENCE_SECONDS = 7 * 86400
"""The longest Retry-After that is obeyed: more is taken for a mistake, and cut to a week."""


@dataclass(frozen=True, slots=True)
class HeaderHints:
    """Freshness as sent. `expires_at` is seconds since 1970 by our clock, not the server's."""

    max_age_seconds: int | None = None
    age_seconds: int | None = None
    expires_at: int | None = None
    last_modified_at: int | None = None


def cache_control(value: str) -> dict[str, str]:
    """Directives in lower case with their values; the first of a repeated one counts."""
    found: dict[str, str] = {}
    for name, quoted, plain in _DIRECTIVE.findall(value):
        found.setdefault(name.lower(), quoted or plain)
    return found


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
        lead = (expires - (http_date(headers.get("date")) or now)).total_seconds()
        expires_at = int(now.timestamp() + min(max(lead, 0), _YEAR_SECONDS))
    return HeaderHints(
        max_age_seconds=max_age,
        age_seconds=number_up_to(_YEAR_SECONDS, headers.get("age", "").strip()),
        expires_at=expires_at if expires is not None else None,
        last_modified_at=modified_at,
    )


SLOW_DOWN = frozenset({429, 503})
"""Statuses whose Retry-After is obeyed; for all others the freshness headers count."""


def asked_to_wait_seconds(status: int, headers: Mapping[str, str], now: datetime) -> int | None:
    """How long an answer received at `now` asks to be left alone; None if it says nothing.

    The river obeys it, and `politeness` judges any reader by it.
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
    if moment is None:
        return None
    lead = (moment - (http_date(headers.get("date")) or now)).total_seconds()
    return int(min(max(lead, 0), LONGEST_SILENCE_SECONDS))
