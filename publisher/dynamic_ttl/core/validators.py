"""HTTP helpers for a server of feeds (RFC 9110, 9111): ETags, dates, Accept-Encoding."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache

from .civil import HOUR_SECONDS

SHARED_MAX_AGE_SECONDS = 60  # a surprise post must not be hidden by a shared cache

RENEWAL_SECONDS = 4 * HOUR_SECONDS  # how often a tag is renewed in a long silence

_TAG = re.compile(r'(?:W/)?"([^"]*)"')
# Suffixes that front servers append to an ETag when they compress: Apache -gzip, others the rest.
_GLUED = ("--gzip", "-gzip", ";gzip")


def renewal(max_age_seconds: int, now: int) -> int:
    """What a renewed tag adds to the document's: 0 while max-age is less than half of the time
    between renewals, two hours; in a long silence the number of the present four hours, so that
    readers that ignore a 304's headers get a 200."""
    return now // RENEWAL_SECONDS if 2 * max_age_seconds >= RENEWAL_SECONDS else 0


def tags_in(header: str) -> list[str]:
    """The ETags of an If-None-Match or ETag header, without quotes, `W/` and the suffixes of front
    servers; `*` is the tag ``*``."""
    if header.strip() == "*":
        return ["*"]
    return [unglued(tag) for tag in _TAG.findall(header)]


def unglued(tag: str) -> str:
    """An ETag without the suffix of a front server."""
    suffix = next((glued for glued in _GLUED if tag.endswith(glued)), "")
    return tag.removesuffix(suffix)


def http_date(text: str | None) -> datetime | None:
    """The instant of an HTTP date, in UTC; None for anything else, which is then ignored."""
    try:
        moment = parsedate_to_datetime(text or "")
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def accepts_gzip(header: str) -> bool:
    """Whether an Accept-Encoding header prefers gzip to the plain document."""
    return preferred_coding(header, ("gzip",)) == "gzip"


@lru_cache(maxsize=512)
def preferred_coding(header: str, offered: tuple[str, ...]) -> str:
    """The coding of `offered` that an Accept-Encoding header prefers; empty: the plain document.

    Of equally preferred ones the first in `offered` wins. `*` counts as gzip only: a client that
    does not name a newer coding may not support it.
    """
    wishes: dict[str, float] = {}
    for part in header.lower().split(","):
        coding, _, parameters = part.partition(";")
        wishes[coding.strip().removeprefix("x-")] = _quality(parameters)
    wishes.setdefault("gzip", wishes.get("*", 0.0))
    best = max(offered, key=lambda coding: wishes.get(coding, 0.0))
    wish = wishes.get(best, 0.0)
    return best if wish > 0 and wish >= wishes.get("identity", 0.0) else ""


def _quality(parameters: str) -> float:
    """The q value of one coding; 1 if missing, 0 if invalid."""
    name, _, value = parameters.strip().partition("=")
    if not name:
        return 1.0
    if name.strip() != "q" or not re.fullmatch(r"[01](\.\d{0,3})?", value.strip()):
        return 0.0
    return float(value)
