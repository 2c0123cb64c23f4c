"""The sound that a post carries: what an author types about it, checked."""

import re
from urllib.parse import urlsplit

from publisher.base.errors import FieldErrors
from publisher.blog.drafts import Enclosure

_MAX_URL, _MAX_BYTES, _MAX_SECONDS = 2_000, 2**40, 7 * 86_400


def typed(url: str, content_type: str, size: str, length: str) -> Enclosure | None:
    """An enclosure from four texts; None when there is no address. Raises FieldErrors.

    size: bytes; feeds must name it. length: seconds, or 12:34, or 1:02:03; may be empty.
    """
    if not url.strip():
        return None
    problems = {}
    parts = urlsplit(url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname or len(url) > _MAX_URL:
        problems["enclosure_url"] = "an address that begins with https:// is needed"
    if not re.fullmatch(r"(audio|video)/[a-z0-9.+-]{1,60}", content_type.strip().lower()):
        problems["enclosure_type"] = "a type such as audio/mpeg is needed"
    count = re.sub(r"[\s,._']", "", size)
    if not re.fullmatch(r"[0-9]{1,13}", count) or not 0 < int(count) <= _MAX_BYTES:
        problems["enclosure_bytes"] = "the size in bytes is needed: readers show it"
    seconds = _seconds(length)
    if seconds is None:
        problems["enclosure_length"] = "write it as minutes:seconds, such as 42:10"
    if problems:
        raise FieldErrors(problems)
    return Enclosure(url.strip(), content_type.strip().lower(), int(count), seconds or 0)


def length_text(seconds: int) -> str:
    """A length as people write it: 42:10, 1:02:03; empty for 0."""
    if not seconds:
        return ""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _seconds(length: str) -> int | None:
    if not re.fullmatch(r"\s*(\d{1,7}(:[0-5]?\d){0,2})?\s*", length, re.ASCII):
        return None
    total = 0
    for part in length.strip().split(":"):
        total = total * 60 + int(part or 0)
    return total if total <= _MAX_SECONDS else None
