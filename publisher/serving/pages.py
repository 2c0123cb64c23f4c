"""Public pages from memory: answered in the event loop, without Flask and without the database.

A page is kept once it was made for a visitor without a cookie, until the content changes. Whether
it is one that everybody may be given is said by whoever makes it (`PAGE`); what is looked at in a
request is in `visit_of` alone, so nothing else that a visitor sends can change a page.
"""

import gzip
import re
import threading
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from publisher.base.dates import format_rfc822
from publisher.dynamic_ttl.core.validators import accepts_gzip
from publisher.feeds.conditional import is_current
from publisher.feeds.feed_answer import GZIP, FeedAnswer, Headers
from publisher.http_server.page_threads import LEAST_GZIP_BYTES

# Key in a request's environment: the body of an answer that depends on the content alone, not on
# the time or the visitor.
PAGE = "publisher.page"

MOST_BYTES = 4_000_000  # of the pages that a process keeps
_OF_EACH = 3_000  # bytes of a page's headers and objects, about
_NOT_WITH = {"HTTP_COOKIE", "HTTP_AUTHORIZATION", "HTTP_IF_MATCH", "HTTP_IF_UNMODIFIED_SINCE"}
_LIST_PAGE = re.compile(r"before=[0-9]{1,18}")
# Headers that each answer is given anew, or that belong to one request.
_OF_ANSWERS = {
    "content-length", "content-type", "content-encoding", "date", "last-modified", "vary",
    "x-request-id",
}  # fmt: skip

Address = tuple[str, str]  # path, and what of the query pages read


@dataclass(frozen=True, slots=True)
class Visit:
    """What of a request decides the answer of a remembered page: the memo of its request."""

    address: Address
    head: bool
    gzip: bool
    tags: str | None
    since: str | None


def visit_of(environ: dict[str, Any]) -> Visit | None:
    """A request as a visit; None for one that only Flask may answer: of another method, with a
    cookie, or with a query that may mean something."""
    method = environ["REQUEST_METHOD"]
    if method not in ("GET", "HEAD") or not _NOT_WITH.isdisjoint(environ):
        return None
    fields = environ.get("QUERY_STRING", "").split("&")
    query = "&".join(field for field in fields if field and not field.startswith("utm_"))
    if query and not _LIST_PAGE.fullmatch(query):
        return None
    return Visit(
        (environ["PATH_INFO"], query),
        method == "HEAD",
        accepts_gzip(environ.get("HTTP_ACCEPT_ENCODING", "")),
        environ.get("HTTP_IF_NONE_MATCH"),
        environ.get("HTTP_IF_MODIFIED_SINCE"),
    )


class Page:
    """A page with its answers. From the moment `modified` on, this date tells it from what was
    shown before."""

    def __init__(self, body: bytes, headers: Headers, modified: datetime) -> None:
        self._headers = [(n, v) for n, v in headers if n.lower() not in _OF_ANSWERS]
        self._headers.append(("Vary", "Accept-Encoding"))
        self._etag = dict(headers)["ETag"]
        self._modified = modified
        self._bodies = {"": body}
        if len(body) >= LEAST_GZIP_BYTES:
            self._bodies[GZIP] = gzip.compress(body, 6, mtime=0)
        self._answers: dict[tuple[bool, str, bool, bool], FeedAnswer] = {}
        self.size = sum(map(len, self._bodies.values())) + _OF_EACH

    def answer(self, visit: Visit, now: datetime) -> FeedAnswer:
        """The answer to one visit. It has no Date, so that the server keeps no copies of it."""
        modified = self._modified if now >= self._modified else None
        held = is_current(self._etag, modified, visit.tags, visit.since)
        coding = GZIP if visit.gzip and GZIP in self._bodies else ""
        key = held, coding, visit.head, modified is None
        answer = self._answers.get(key)
        if answer is None:
            answer = self._answers[key] = self._made(held, coding, visit.head, modified)
        return answer

    def _made(self, held: bool, coding: str, head: bool, modified: datetime | None) -> FeedAnswer:
        dated = [("Last-Modified", format_rfc822(modified))] if modified else []
        if held:
            return FeedAnswer(304, "304 Not Modified", [*self._headers, *dated], [])
        body = self._bodies[coding]
        headers = [
            ("Content-Type", "text/html; charset=utf-8"),
            ("Content-Length", str(len(body))),
            *([("Content-Encoding", coding)] if coding else []),
            *self._headers,
            *dated,
        ]
        return FeedAnswer(200, "200 OK", headers, [] if head else [body], len(body))


class Pages:
    """The pages made from one state of the content, those that were asked for last.

    Half of the place is for pages asked for lately, and when it is full they become the other half:
    who asks for many addresses, each once, does not push out those that are asked for again.
    """

    def __init__(self, made_from: object, now: datetime) -> None:
        self.made_from = made_from
        # One second later, so that content of before, seen in the same second, has another date.
        self.modified = now.replace(microsecond=0) + timedelta(seconds=1)
        self._late: dict[Address, Page] = {}
        self._earlier: dict[Address, Page] = {}
        self._late_bytes = 0
        self._keeping = threading.Lock()

    def emptied(self) -> "Pages":
        """None of these pages, for the same state."""
        return Pages(self.made_from, self.modified - timedelta(seconds=1))

    def get(self, address: Address) -> Page | None:
        """The page at an address, if it is kept."""
        page = self._late.get(address)
        if page is None and (page := self._earlier.get(address)) is not None:
            self.keep(address, page)
        return page

    def keep(self, address: Address, page: Page) -> None:
        """Keep a page, unless it takes the place of many."""
        size = page.size + sum(map(len, address))  # a tag has addresses of any length
        if size > MOST_BYTES // 4:
            return
        with self._keeping:
            if self._late_bytes + size > MOST_BYTES // 2:
                self._earlier, self._late, self._late_bytes = self._late, {}, 0
            self._late[address] = page
            self._late_bytes += size
