"""The common part of both middlewares: what a feed announces at any moment, and how a response is
changed to announce it.

Independent of WSGI and ASGI: requests and responses are header lists, bodies are bytes.
"""

import hashlib
import logging
import zlib
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from threading import Lock
from typing import Generic, TypeVar

from .advice import Advice, at_moment
from .core.civil import seconds
from .core.ttl.headers import with_news
from .core.ttl.rule import MENU, TtlRule
from .core.validators import (
    SHARED_MAX_AGE_SECONDS,
    accepts_gzip,
    http_date,
    renewal,
    tags_in,
)
from .feed_head import FEED_TYPES, HeadChange, NotEditable, edit, outline_of

Headers = list[tuple[str, str]]
MOST_BYTES = 16_000_000  # of a document; a longer one gets new headers only
LOOK_AGAIN = timedelta(seconds=60)
_MARK = "~"  # between the application's own ETag and the suffix for the ttl
_SET_ANEW = {
    "etag", "expires", "last-modified", "content-length",
    "content-md5", "digest", "content-digest", "repr-digest",
}  # fmt: skip
_OF_A_BODY = {"content-type", "content-length", "content-encoding", "transfer-encoding"}

log = logging.getLogger("dynamic_ttl")


@dataclass(frozen=True, slots=True)
class Response:
    """The response to the reader: status, headers, body."""

    status: int
    headers: Headers
    body: bytes


class Said:
    """What a feed announces at one moment: the advice, and the suffix (`mark`) of its ETags."""

    def __init__(self, advice: Advice, now: datetime) -> None:
        self.advice, self.now = advice, now
        block = renewal(advice.max_age_seconds, seconds(now))
        self.mark = f"{_MARK}{advice.ttl_minutes}" + (f".{block}" if block else "")

    def fresh(self, headers: Headers, news: bool = False) -> Headers:
        """The headers of a 200 or 304 with our Cache-Control and Expires; unchanged with
        `no-store`. news: the response brings a new post."""
        old = values(headers)
        control = old.get("cache-control", "").lower()
        if "no-store" in control:
            return headers
        age = self.advice.max_age_seconds
        age = with_news(age) if news else age
        scope = "private" if "private" in control else "public"
        expires = format_datetime(self.now + timedelta(seconds=age), usegmt=True)
        unchanged = [
            pair for pair in headers if pair[0].lower() not in ("cache-control", "expires")
        ]
        shared = [
            ("CDN-Cache-Control", f"max-age={SHARED_MAX_AGE_SECONDS}"),
            ("X-Accel-Expires", str(SHARED_MAX_AGE_SECONDS)),  # nginx, which knows only this
        ]
        return [
            *unchanged,
            ("Cache-Control", f"{scope}, max-age={age}"),
            ("Expires", expires),
            *(pair for pair in shared if scope == "public" and pair[0].lower() not in old),
        ]


App = TypeVar("App")


class Middleware(Generic[App]):
    """An application around another one.

    path: the feed's path, or several with the same updates. updates: a callable that returns the
    aware datetimes of what was published; called once a minute at most. scheduled: one that returns
    those of posts still to come. If they fail, their last result stays in use; if there is none,
    the feed passes unchanged. A feed's document is held in memory as a whole (16 MB at most; a
    longer one gets new headers only); all other responses pass unchanged, errors included.
    """

    def __init__(
        self,
        app: App,
        path: str | Iterable[str],
        updates: Callable[[], Iterable[datetime]],
        timezone: str = "UTC",
        menu: str = MENU,
        scheduled: Callable[[], Iterable[datetime]] = tuple,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        self._app = app
        self._paths = {path} if isinstance(path, str) else set(path)
        self._updates, self._scheduled = updates, scheduled
        self._timezone, self._rule = timezone, TtlRule.parse(menu=menu)
        self._clock = clock or _utc_now
        self._known: tuple[tuple[datetime, ...], tuple[datetime, ...]] | None = None
        self._looked_at: datetime | None = None
        self._first_look = Lock()  # threads that come meanwhile wait; later ones use what is known
        at_moment((), self._clock(), timezone, (), self._rule)  # fails at once for an unknown zone

    def said(self) -> Said | None:
        """What the feed announces at this moment; None while no usable updates are known."""
        now = self._clock()
        with self._first_look if self._known is None else nullcontext():
            self._look(now)
        if self._known is None:
            return None
        updates, scheduled = self._known
        queue = tuple(at for at in scheduled if at > now)
        try:
            return Said(at_moment(updates, now, self._timezone, queue, self._rule), now)
        except (ValueError, TypeError):
            log.exception("the feed's updates are invalid; it passes unchanged")
            return None

    def _look(self, now: datetime) -> None:
        """Ask for the updates, unless that was done less than a minute ago."""
        if self._looked_at is None or not self._looked_at <= now < self._looked_at + LOOK_AGAIN:
            self._looked_at = now
            try:
                self._known = tuple(sorted(self._updates())), tuple(sorted(self._scheduled()))
            except Exception:
                log.exception("the feed's updates could not be read; the last known ones are used")


@dataclass(frozen=True, slots=True)
class RequestHeaders:
    """The request headers that we read; "" where one is missing."""

    if_none_match: str = ""
    if_modified_since: str = ""
    accept_encoding: str = ""

    def passed_on(self, said: Said) -> dict[str, str]:
        """The headers for the application in place of the reader's; "" for one to be removed.

        An ETag with the present mark is passed without it, so that the application can answer 304
        as cheaply as before; one with another mark is removed, as the ttl has changed.
        """
        tags = [_theirs(tag, said.mark) for tag in tags_in(self.if_none_match)]
        shown = [tag if tag == "*" else f'"{tag}"' for tag in tags if tag]
        since = http_date(self.if_modified_since)
        unchanged = since is not None and since >= said.advice.since.replace(microsecond=0)
        return {
            "if-none-match": ", ".join(shown),
            "if-modified-since": self.if_modified_since if not tags and unchanged else "",
            "accept-encoding": "gzip" if accepts_gzip(self.accept_encoding) else "identity",
            "range": "",
            "if-range": "",
        }


def is_feed(headers: Headers) -> bool:
    """Whether a 200 carries a feed, by its media type."""
    media = values(headers).get("content-type", "").partition(";")[0].strip().lower()
    return media in FEED_TYPES


def is_editable(headers: Headers) -> bool:
    """Whether the body of a feed may be edited: XML, plain or gzip, not too long, and without
    `no-transform`."""
    known = values(headers)
    coding = known.get("content-encoding", "").strip().lower()
    length = known.get("content-length", "")
    too_long = length.isdigit() and int(length) > MOST_BYTES
    return (
        is_feed(headers)
        and coding in ("", "identity", "gzip")
        and not too_long
        and "json" not in known.get("content-type", "").lower()
        and "no-transform" not in known.get("cache-control", "").lower()
    )


def answer(asked: RequestHeaders, said: Said, headers: Headers, body: bytes) -> Response:
    """The response in place of the application's 200: with the edited document, validators and
    freshness; or a 304 if the reader has this document."""
    packed = values(headers).get("content-encoding", "").strip().lower() == "gzip"
    plain, new, mark = body, body, ""
    try:
        plain = unpacked(body) if packed else body
        outline = outline_of(plain)
        edited = edit(plain, HeadChange(ttl_minutes=said.advice.ttl_minutes), outline)
        mark = said.mark if outline.kind != "atom" else ""  # nothing in Atom moves with the ttl
        new = pack(edited) if packed else edited
    except NotEditable as problem:
        log.warning("the feed was not changed: %s", problem)
    # Of the plain text: many programs write the time, Django random bytes, into what they compress.
    return _validated(asked, said, headers, plain, new, mark)


def _validated(
    asked: RequestHeaders, said: Said, headers: Headers, plain: bytes, new: bytes, mark: str
) -> Response:
    known = values(headers)
    theirs = (
        next(iter(tags_in(known.get("etag", ""))), "") or hashlib.sha256(plain).hexdigest()[:32]
    )
    tag = f"{theirs}{mark}"
    named = tags_in(asked.if_none_match)
    modified = _modified(known.get("last-modified"), said, changed=bool(mark))
    news = bool(named) and not any(held.partition(_MARK)[0] == theirs for held in named)
    unchanged = [pair for pair in headers if pair[0].lower() not in _SET_ANEW]
    validators = [("ETag", f'W/"{tag}"')]
    if modified is not None:
        validators.append(("Last-Modified", format_datetime(modified, usegmt=True)))
    fresh = said.fresh([*unchanged, *validators], news)
    if _is_current(asked, named, tag, modified):
        return Response(304, without_body(fresh), b"")
    return Response(200, [*fresh, ("Content-Length", str(len(new)))], new)


def not_modified(asked: RequestHeaders, said: Said, headers: Headers) -> Response:
    """The response in place of the application's 304: with the ETag that the reader sent and our
    freshness."""
    theirs = next(iter(tags_in(values(headers).get("etag", ""))), "")
    ours = [held for held in tags_in(asked.if_none_match) if held.endswith(said.mark)]
    unchanged = without_body(headers)
    if ours and theirs in ("", ours[0].removesuffix(said.mark)):
        unchanged = [pair for pair in unchanged if pair[0].lower() != "etag"]
        unchanged.append(("ETag", f'W/"{ours[0]}"'))
    modified = _modified(values(unchanged).get("last-modified"), said, changed=bool(ours))
    if modified is not None:
        unchanged = [pair for pair in unchanged if pair[0].lower() != "last-modified"]
        unchanged.append(("Last-Modified", format_datetime(modified, usegmt=True)))
    return Response(304, said.fresh(unchanged), b"")


def values(headers: Headers) -> dict[str, str]:
    """The headers by name in lower case; the last one of equal names."""
    return {name.lower(): value for name, value in headers}


def without_body(headers: Headers) -> Headers:
    """The headers without those that describe a body."""
    return [pair for pair in headers if pair[0].lower() not in _OF_A_BODY]


def unpacked(body: bytes) -> bytes:
    """A gzip body decompressed; NotEditable if it is damaged or longer than `MOST_BYTES`."""
    reader = zlib.decompressobj(31)
    try:
        plain = reader.decompress(body, MOST_BYTES + 1)
    except zlib.error as error:
        raise NotEditable(f"its compression is damaged: {error}") from None
    if len(plain) > MOST_BYTES or not reader.eof:
        raise NotEditable("it is too long, or its compression breaks off")
    return plain


def pack(document: bytes) -> bytes:
    """The document compressed with gzip; without a timestamp, so equal input gives equal bytes."""
    writer = zlib.compressobj(6, zlib.DEFLATED, 31)
    return writer.compress(document) + writer.flush()


def _is_current(
    asked: RequestHeaders, named: list[str], tag: str, modified: datetime | None
) -> bool:
    """Whether the reader has this document: by If-None-Match if it was sent, else by date."""
    if named:
        return tag in named or "*" in named
    since = http_date(asked.if_modified_since)
    return since is not None and modified is not None and since >= modified


def _modified(text: str | None, said: Said, changed: bool) -> datetime | None:
    """When the document last changed, its ttl included; None if the application sends no
    Last-Modified."""
    content = http_date(text)
    if content is None or not changed:
        return content
    return max(content, said.advice.since).replace(microsecond=0)


def _theirs(tag: str, mark: str) -> str:
    """The application's own ETag in a reader's; "" if the ttl has changed since."""
    own, found, of_ttl = tag.rpartition(_MARK)
    if not found or not of_ttl.replace(".", "").isdigit():
        return tag
    return own if tag.endswith(mark) and f"{_MARK}{of_ttl}" == mark else ""


def _utc_now() -> datetime:
    return datetime.now(UTC)
