"""HTTP validators and freshness (RFC 9110, 9111): the one place that decides 200 or 304.

All that does not depend on the request is made beforehand: once per document, and once per second
for the dates. What remains for a request is to choose one of a handful of finished answers.
"""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from publisher.base.dates import format_rfc822
from publisher.base.harmless import HARMLESS
from publisher.core.ttl.freshness import Expiries, renewal, with_news
from publisher.dynamic_ttl.validators import (
    SHARED_MAX_AGE_SECONDS,
    http_date,
    preferred_coding,
    tags_in,
)
from publisher.feeds import deltas
from publisher.feeds.feed_answer import NOT_ALLOWED, NOT_THE_SAME, FeedAnswer, Headers
from publisher.feeds.packing import CODINGS, GZIP, packed

_SECOND = timedelta(seconds=1)
# Headers of a whole document that a delta does not have, and what it has instead.
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


@dataclass(frozen=True, slots=True)
class Freshness:
    """What the headers say of a document: to the minute by its `expiries`, or its ttl where there
    are none. `renewed`: in a long silence its tag changes every four hours, so that readers that
    listen to a 200 only hear the long word again."""

    expiries: Expiries | None = None
    renewed: bool = False


@dataclass(frozen=True, slots=True)
class Second:
    """The answers that may be given in one second of the site's clock, and the tag they carry;
    `news` go to those who hold other content; both are there in each coding."""

    begins: datetime
    ends: datetime
    etag: str
    not_modified: FeedAnswer
    known: tuple[FeedAnswer, ...]
    news: tuple[FeedAnswer, ...]

    @property
    def kinds(self) -> "tuple[FeedAnswer, ...]":
        """All answers, in the order of `Served.kind`."""
        return self.not_modified, *self.known, *self.news


class Served:
    """A document ready to be sent, with its validators.

    `second_shared` says that two builds fell into the second of `last_modified`, so that a reader
    who names this second may hold the older one. `links` are values of the Link header.
    `max_age_seconds` is the document's own ttl; `history` tells which of its items are new.
    A `foreign` one is a stranger's: no browser runs what stands in it, and it is packed no further.
    """

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
        foreign: bool = False,
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
        self.is_packed = foreign
        self._second_shared = second_shared
        # A surprise post must not be hidden by a shared cache. Not s-maxage: some readers take it
        # for theirs. CDN-Cache-Control is RFC 9213; X-Accel-Expires is nginx's, which keeps it.
        self._fixed: Headers = [
            ("CDN-Cache-Control", f"max-age={SHARED_MAX_AGE_SECONDS}"),
            ("X-Accel-Expires", str(SHARED_MAX_AGE_SECONDS)),
            ("Vary", "Accept-Encoding"),
            *(("Link", link) for link in links),
            *(HARMLESS if foreign else ()),
        ]
        self._content_type = content_type
        self._second: Second | None = None

    @property
    def plain_bytes(self) -> int:
        """Length of the body as it is."""
        return len(self._bodies[""])

    @property
    def gzip_bytes(self) -> int:
        """Length of the compressed body."""
        return len(self._bodies[GZIP])

    def packed(self) -> "Served":
        """The same document with all that takes time: better codings, the newer items alone.

        Costs up to some 200 ms for a feed of 64 kB.
        """
        body = self._bodies[""]
        newer = deltas.deltas(self._history, self._content_type, body)
        return self._packed_with(self._bodies | packed(body), newer)

    def packed_as(self, before: "Served | None") -> "Served":
        """The same document; packed at once where it says what `before` says, which is packed."""
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
        """The answer to one request; it is 200, 226, 304, 405 or 412."""
        method = environ["REQUEST_METHOD"]
        if method not in ("GET", "HEAD"):
            return NOT_ALLOWED
        if environ.get("HTTP_IF_MATCH", "*").strip() != "*":
            return NOT_THE_SAME  # compared strongly, as RFC 9110 has it, a weak tag equals none
        unmodified = http_date(environ.get("HTTP_IF_UNMODIFIED_SINCE", ""))
        if unmodified and unmodified < self.last_modified and "HTTP_IF_MATCH" not in environ:
            return NOT_THE_SAME
        second = self.second(now)
        answer = second.kinds[self.kind(environ, second.etag)]
        if answer is second.not_modified:
            return answer
        if method == "HEAD":
            return FeedAnswer(200, answer.status, answer.headers, [])
        newer = self._newer(answer, environ) if "HTTP_A_IM" in environ else None
        return newer or answer

    def _newer(self, answer: FeedAnswer, environ: dict[str, Any]) -> FeedAnswer | None:
        """Instead of `answer` the items that are newer than what the reader names (RFC 3229).

        No shared cache may keep it: it is an answer to this one validator.
        """
        held = tags_in(environ.get("HTTP_IF_NONE_MATCH", ""))
        known = [tag for tag in held if tag[: deltas.CONTENT_DIGITS] in self._deltas]
        if not known or not deltas.wanted(environ):
            return None
        delta = self._deltas[known[-1][: deltas.CONTENT_DIGITS]]
        coding = preferred_coding(environ.get("HTTP_ACCEPT_ENCODING", ""), (GZIP,))
        body = delta.body_gzip if coding else delta.body
        headers = [
            *((name, value) for name, value in answer.headers if name not in _FOR_ALL),
            *_FOR_ONE,
            ("Cache-Control", dict(answer.headers)["Cache-Control"].replace("public", "private")),
            ("Delta-Base", f'W/"{known[-1]}"'),
            *([("Content-Encoding", coding)] if coding else []),
            ("Content-Length", str(len(body))),
        ]
        return FeedAnswer(226, "226 IM Used", headers, [body], len(body))

    def kind(self, environ: dict[str, Any], etag: str) -> int:
        """Which of `Second.kinds` a request gets while the tag is `etag`."""
        tags = environ.get("HTTP_IF_NONE_MATCH")
        if self._is_current(tags, environ.get("HTTP_IF_MODIFIED_SINCE"), etag):
            return 0
        coding = preferred_coding(environ.get("HTTP_ACCEPT_ENCODING", ""), self._codings)
        place = 1 + self._places[coding]
        return place if tags is None or self._content in tags else place + len(self._places)

    def second(self, now: datetime) -> Second:
        """The answers of this second; the same object for as long as they hold."""
        second = self._second
        if second is None or not second.begins <= now < second.ends:
            second = self._prepare(now)
        return second

    def _is_current(self, tags: str | None, since: str | None, etag: str) -> bool:
        """Whether the reader holds this document: If-None-Match decides alone where it is given."""
        if tags is not None:
            held = etag.removeprefix("W/").strip('"')
            return tags == etag or not {"*", held}.isdisjoint(tags_in(tags))
        if since is None:
            return False
        moment = http_date(since)
        if moment is None:
            return False
        if self._second_shared:
            return moment > self.last_modified
        return moment >= self.last_modified

    def _prepare(self, now: datetime) -> Second:
        begins = now.replace(microsecond=0)
        at, expiries = int(begins.timestamp()), self.freshness.expiries
        seconds = expiries.max_age_seconds(at) if expiries else self.max_age_seconds
        etag = self.etag
        if self.freshness.renewed and (block := renewal(seconds, at)):
            etag = f'{etag[:-1]};{block}"'
        usual = self._headers(etag, now, seconds)
        short = with_news(seconds) if expiries else seconds
        known = self._bodies_with(usual)
        news = known if short == seconds else self._bodies_with(self._headers(etag, now, short))
        not_modified = FeedAnswer(304, "304 Not Modified", usual, [])
        # Threads that prepare the same second at once make equal values; the last one stays.
        self._second = Second(begins, begins + _SECOND, etag, not_modified, known, news)
        return self._second

    def _headers(self, etag: str, now: datetime, max_age_seconds: int) -> Headers:
        # Left out where it tells two documents apart in nothing: libcurl, and so newsboat, throws
        # away the body of a 200 whose Last-Modified is no later than that of its own copy.
        ambiguous = self._second_shared or self.last_modified > now
        return [
            ("ETag", etag),
            ("Cache-Control", f"public, max-age={max_age_seconds}"),
            *self._fixed,
            *([] if ambiguous else [("Last-Modified", format_rfc822(self.last_modified))]),
            ("Date", format_rfc822(now)),
            ("Expires", format_rfc822(now + timedelta(seconds=max_age_seconds))),
        ]

    def _bodies_with(self, headers: Headers) -> tuple[FeedAnswer, ...]:
        """The document in each coding, under those headers."""
        return tuple(
            FeedAnswer(
                200,
                "200 OK",
                [
                    *headers,
                    *([("Content-Encoding", coding)] if coding else []),
                    ("Content-Type", self._content_type),
                    ("Content-Length", str(len(body))),
                ],
                [body],
                len(body),
            )
            for coding, body in self._bodies.items()
        )
