"""Small rules of HTTP (RFC 9110, 9111) that everybody needs who sends a feed."""

import re
from functools import lru_cache

SHARED_MAX_AGE_SECONDS = 60  # a surprise post must not be hidden by a shared cache

_TAG = re.compile(r'(?:W/)?"([^"]*)"')
# What front servers glue to a tag when they compress: Apache -gzip, others --gzip or ;gzip.
_GLUED = ("--gzip", "-gzip", ";gzip")


def tags_in(header: str) -> list[str]:
    """The tags of an If-None-Match or ETag header, without quotes, W/ and what was glued to them;
    `*` is the tag ``*``."""
    if header.strip() == "*":
        return ["*"]
    return [_unglued(tag) for tag in _TAG.findall(header)]


def _unglued(tag: str) -> str:
    suffix = next((glued for glued in _GLUED if tag.endswith(glued)), "")
    return tag.removesuffix(suffix)


@lru_cache(maxsize=256)
def accepts_gzip(header: str) -> bool:
    """Whether an Accept-Encoding header prefers gzip to the plain document."""
    wishes: dict[str, float] = {}
    for part in header.lower().split(","):
        coding, _, parameters = part.partition(";")
        wishes[coding.strip()] = _quality(parameters)
    star = wishes.get("*", 0.0)
    gzip = max(wishes.get("gzip", star), wishes.get("x-gzip", 0.0))
    return gzip > 0 and gzip >= wishes.get("identity", 0.0)


def _quality(parameters: str) -> float:
    """The q value of one coding; 1 where there is none, 0 where it makes no sense."""
    name, _, value = parameters.strip().partition("=")
    if not name:
        return 1.0
    if name.strip() != "q" or not re.fullmatch(r"[01](\.\d{0,3})?", value.strip()):
        return 0.0
    return float(value)
