"""HTTP validators and freshness (RFC 9110, 9111): the one place that decides 200 or 304.

Everything that does not depend on the request is prepared beforehand: bodies once per document,
headers with dates once per second. A request then only selects one of a few finished answers.
"""

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from publisher.base.dates import format_rfc822
from publisher.base.media_files import SANDBOX
from publisher.dynamic_ttl.core.ttl.headers import Expiries, with_news
from publisher.dynamic_ttl.core.validators import (
    SHARED_MAX_AGE_SECONDS,
    http_date,
    preferred_coding,
    renewal,
    tags_in,
)
from publisher.feeds import deltas
from publisher.feeds.feed_answer import (
    CODINGS,
    CROSS_ORIGIN,
    GZIP,
    NOT_THE_SAME,
    FeedAnswer,
    Headers,
    packed,
    without_document,
)

_SECOND = timedelta(seconds=1)
# A delta is sent without these headers of a whole document, and with those of `_FOR_ONE` instead.
_FOR_ALL = {
    "Cache-Control", "CDN-Cache-Control", "X-Accel-Expires", "Vary", "Content-Encoding",
    "Content-Length",
}  # fmt: skip
_FOR_ONE: Headers = [
    ("IM", "feed"),
    ("Vary", "Accept-Encoding, A-IM, If-None-Match"),
    ("CDN-Cache-Control", "no-store"),
    ("X-Accel-Expires", "0"),
]


@dataclass(frozen=True)
class Freshness:
    """How max-age is found: to the minute from `expiries`, or from the ttl if there are none.
    `renewed`: while the max-age is long, the tag changes every four hours, so that readers that
    take hints from a 200 only get a 200 with it."""

    expiries: Expiries | None = None
    renewed: bool = False


def is_current(
    etag: str,
    last_modified: datetime | None,
    tags: str | None,
    since: str | None,
    second_shared: bool = False,
) -> bool:
    """Whether a reader that sends these If-None-Match and If-Modified-Since holds what is served;
    the tags take precedence. `last_modified`: None where that date says nothing yet;
    `second_shared`: something else was served under it."""
    if tags is not None:
        held = etag.removeprefix("W/").strip('"')
        return tags == etag or not {"*", held}.isdisjoint(tags_in(tags))
    moment = http_date(since) if since is not None else None
    if moment is None or last_modified is None:
        return False
    return moment > last_modified if second_shared else moment >= last_modified


class PreparedAnswers:
    """Responses prepared for one second, because Date and max-age change with it; and their tag.

    Each is made for the first poll that gets it: a second has few polls, a document many codings.
    """

    def __init__(self, begins: datetime, etag: str, make: Callable[[int], FeedAnswer]) -> None:
        self.begins, self.ends = begins, begins + _SECOND
        self.etag = etag
        self._make = make
        self._made: dict[int, FeedAnswer] = {}

    def answer(self, variant: int) -> FeedAnswer:
        """The answer of this `Served.variant`; the same object each time."""
        answer = self._made.get(variant)
        if answer is None:  # threads that make it at once make equal ones; the first one stays
            answer = self._made.setdefault(variant, self._make(variant))
        return answer


class Served:
    """A document ready to be sent, with its validators.

    `second_shared`: two builds share the second of `last_modified`, so that a reader that names it
    may hold the older one. `links` are values of the Link header. `max_age_seconds` is the
    document's own ttl; `history` says which of its items are new. `untrusted`: a stranger's
    document, sent with headers that keep browsers from running it, and compressed by gzip only.
    """

    _second: PreparedAnswers | None = None

    def __init__(
        self,
        body: bytes,
        body_gzip: bytes,
        content_type: str,
        etag: str,
        last_modified: datetime,
        max_age_seconds: int,
        second_shared: bool = False,
        links: tuple[str, ...] = (),
        freshness: Freshness = Freshness(),
        history: deltas.History | None = None,
        untrusted: bool = False,
    ) -> None:
        self.etag = etag
        self.last_modified = last_modified.replace(microsecond=0)
        self.max_age_seconds = max_age_seconds
        self.freshness = freshness
        self._content, dot, _ = etag.removeprefix('W/"').partition(".")
        self._content += dot
        self._bodies = {"": body, GZIP: body_gzip}
        self._codings: tuple[str, ...] = (GZIP,)
        self._places = {"": 0, GZIP: 1}
        self._history = history
        self._deltas: Mapping[str, deltas.Delta] = {}
        self.is_packed = untrusted
        self._second_shared = second_shared
        # Shared caches get a short max-age, so that they do not hide an unexpected post. Not by
        # s-maxage, which some readers take for their own: by CDN-Cache-Control (RFC 9213) and
        # nginx's X-Accel-Expires.
        self._fixed: Headers = [
            ("CDN-Cache-Control", f"max-age={SHARED_MAX_AGE_SECONDS}"),
            ("X-Accel-Expires", str(SHARED_MAX_AGE_SECONDS)),
            ("Vary", "Accept-Encoding"),
            *CROSS_ORIGIN,
            *(("Link", link) for link in links),
            *(SANDBOX if untrusted else ()),
        ]
        self._content_type = content_type

    @property
    def plain_bytes(self) -> int:
        """Length of the uncompressed body."""
        return len(self._bodies[""])

    @property
    def gzip_bytes(self) -> int:
        """Length of the compressed body."""
        return len(self._bodies[GZIP])

    def packed(self) -> "Served":
        """The same document with the slow parts added: better codings, and deltas.

        Takes up to some 200 ms for a feed of 64 kB.
        """
        body = self._bodies[""]
        newer = deltas.deltas(self._history, self._content_type, body)
        return self._packed_with(self._bodies | packed(body), newer)

    def packed_as(self, before: "Served | None") -> "Served":
        """The same document, packed with the parts of `before` if that is packed and equal."""
        if self.is_packed or before is None or not before.is_packed:
            return self
        if self._bodies[""] != before._bodies[""] or self._history != before._history:
            return self
        return self._packed_with(before._bodies, before._deltas)

    def _packed_with(self, bodies: dict[str, bytes], newer: Mapping[str, deltas.Delta]) -> "Served":
        made = copy(self)
        made._bodies, made._codings, made._deltas = bodies, CODINGS, newer
        made._places = {coding: place for place, coding in enumerate(bodies)}
        made._second = None
        made.is_packed = True
        return made

    def respond(self, environ: dict[str, Any], now: datetime) -> FeedAnswer:
        """The answer to one request; it is 200, 204 (OPTIONS), 226, 304, 405 or 412."""
        if (answer_without := without_document(environ)) is not None:
            return answer_without
        if environ.get("HTTP_IF_MATCH", "*").strip() != "*":
            return NOT_THE_SAME  # RFC 9110 wants strong comparison, which our weak tags never pass
        unmodified = http_date(environ.get("HTTP_IF_UNMODIFIED_SINCE", ""))
        if unmodified and unmodified < self.last_modified and "HTTP_IF_MATCH" not in environ:
            return NOT_THE_SAME
        second = self.second(now)
        answer = second.answer(self.variant(environ, second.etag))
        if answer.code == 304:
            return answer
        if environ["REQUEST_METHOD"] == "HEAD":
            return FeedAnswer(200, answer.status, answer.headers, [])
        newer = self._newer(answer, environ) if "HTTP_A_IM" in environ else None
        return newer or answer

    def _newer(self, answer: FeedAnswer, environ: dict[str, Any]) -> FeedAnswer | None:
        """In place of `answer`, only the items newer than the tag that the reader sent (RFC 3229).

        No shared cache may keep it: it is valid for this tag only.
        """
        held = tags_in(environ.get("HTTP_IF_NONE_MATCH", ""))
        usable = [tag for tag in held if tag[: deltas.CONTENT_DIGITS] in self._deltas]
        if not usable or not deltas.wanted(environ):
            return None
        delta = self._deltas[usable[-1][: deltas.CONTENT_DIGITS]]
        coding = preferred_coding(environ.get("HTTP_ACCEPT_ENCODING", ""), (GZIP,))
        body = delta.body_gzip if coding else delta.body
        headers = [
            *((name, value) for name, value in answer.headers if name not in _FOR_ALL),
            *_FOR_ONE,
            ("Cache-Control", dict(answer.headers)["Cache-Control"].replace("public", "private")),
            ("Delta-Base", f'W/"{usable[-1]}"'),
            *([("Content-Encoding", coding)] if coding else []),
            ("Content-Length", str(len(body))),
        ]
        return FeedAnswer(226, "226 IM Used", headers, [body], len(body))

    def variant(self, environ: dict[str, Any], etag: str) -> int:
        """Which answer a request gets while the tag is `etag`: 0 for a 304, then a 200 for each
        coding, then those for readers whose tag names other content, with a shorter max-age."""
        tags = environ.get("HTTP_IF_NONE_MATCH")
        since = environ.get("HTTP_IF_MODIFIED_SINCE")
        if is_current(etag, self.last_modified, tags, since, self._second_shared):
            return 0
        coding = preferred_coding(environ.get("HTTP_ACCEPT_ENCODING", ""), self._codings)
        place = 1 + self._places[coding]
        return place if tags is None or self._content in tags else place + len(self._places)

    def second(self, now: datetime) -> PreparedAnswers:
        """The answers for the second of `now`; the same object for all calls in one second."""
        second = self._second
        if second is None or not second.begins <= now < second.ends:
            second = self._prepare(now)
        return second

    def _prepare(self, now: datetime) -> PreparedAnswers:
        begins = now.replace(microsecond=0)
        at, expiries = int(begins.timestamp()), self.freshness.expiries
        seconds = expiries.max_age_seconds(at) if expiries else self.max_age_seconds
        etag = self.etag
        if self.freshness.renewed and (block := renewal(seconds, at)):
            etag = f'{etag[:-1]};{block}"'

        def make(variant: int) -> FeedAnswer:
            news = variant > len(self._bodies) and expiries is not None
            headers = self._headers(etag, begins, with_news(seconds) if news else seconds)
            if variant == 0:
                return FeedAnswer(304, "304 Not Modified", headers, [])
            return self._whole(headers, (variant - 1) % len(self._bodies))

        # Threads that prepare the same second at once make equal values; the last one stays.
        self._second = PreparedAnswers(begins, etag, make)
        return self._second

    def _headers(self, etag: str, now: datetime, max_age_seconds: int) -> Headers:
        # Last-Modified is left out where two documents would share it: libcurl, and so newsboat,
        # drops the body of a 200 whose Last-Modified is no later than that of its own copy.
        ambiguous = self._second_shared or self.last_modified > now
        return [
            ("ETag", etag),
            ("Cache-Control", f"public, max-age={max_age_seconds}"),
            *self._fixed,
            *([] if ambiguous else [("Last-Modified", format_rfc822(self.last_modified))]),
            ("Date", format_rfc822(now)),
            ("Expires", format_rfc822(now + timedelta(seconds=max_age_seconds))),
        ]

    def _whole(self, headers: Headers, place: int) -> FeedAnswer:
        """The document in the coding of this place, under those headers."""
        coding, body = list(self._bodies.items())[place]
        headers = [
            *headers,
            *([("Content-Encoding", coding)] if coding else []),
            ("Content-Type", self._content_type),
            ("Content-Length", str(len(body))),
        ]
        return FeedAnswer(200, "200 OK", headers, [body], len(body))
