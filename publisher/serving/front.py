"""In front of Flask: feeds and pages are answered from memory, without routing and database.

A thread of each process is notified when anything was committed, loads the documents that are newer
than those in memory, and forgets all pages if the content has changed. A worker that has just
answered a form checks at once.
"""

import os
import threading
import weakref
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol
from urllib.parse import parse_qs

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.base.dates import EPOCH
from publisher.base.errors import PublisherError
from publisher.base.system.logs import get_logger
from publisher.feeds.conditional import Served
from publisher.feeds.feed_answer import (
    PREFLIGHT,
    FeedAnswer,
    Headers,
    Moved,
    as_page,
    is_browser_navigation,
    too_soon,
)
from publisher.http_server.application import Environ, Request, StartResponse, WsgiApp
from publisher.installation import Site, content_state
from publisher.installation.settings import allow_invalid, load_settings
from publisher.publishing.outbox import link_headers
from publisher.publishing.rebuild import ADDRESSES, ATOM, JSON, RSS
from publisher.publishing.snapshots import served
from publisher.serving.pages import PAGE, Page, Pages, Visit, visit_of
from publisher.serving.tag_feeds import TagFeeds
from publisher.serving.trusted_proxies import LOG, SOURCE, apply_forwarded_headers
from publisher.serving.watch import Watch
from publisher.storage.commit_notices import ChangeCounter
from publisher.storage.tables.publishing import Snapshot

_RECHECK = timedelta(seconds=1)
DOCTOR = "Publisher-Doctor"  # the User-Agent of our own checks, which listeners are not told of

log = get_logger("front")


class PollListener(Protocol):
    """Told of each poll of a feed after its answer is decided; it never blocks."""

    # Whether each poll has to be examined, as one may have to wait (see `wait_seconds`).
    examines_each: bool

    def start(self) -> None:
        """Begin, in each process at its first request; again after a fork."""

    def stop(self) -> None:
        """End, and store what is left; harmless when nothing runs."""

    def refreshed(self, session: Session) -> None:
        """Something was committed: the settings may be others."""

    def wait_seconds(self, document: Served, environ: dict[str, Any], now: datetime) -> int:
        """How long who is about to get a whole document has to wait instead; 0 for not at all."""

    def count(
        self, document: Served, answer: FeedAnswer, environ: dict[str, Any], now: datetime
    ) -> Hashable:
        """Note one answered poll; returns its group, for `again`."""

    def again(self, group: Any, document: Served, now: datetime) -> None:
        """Note one more poll of a group."""

    def of_peer(self, group: Any, peer: str) -> Hashable:
        """The group of the equal polls of another peer."""


@dataclass(slots=True)
class Poll:
    """What is known about the answer to a poll that may come again: the memo of its request.

    While `document` is served at `path` under `etag`, the answer is of this `variant` (see
    `Served.variant`). The document is not kept alive: for each request it may be another one.
    """

    path: str
    peer: str
    document: weakref.ref[Served]
    etag: str
    variant: int
    group: Hashable | None  # in which it is counted


class FeedMiddleware:
    """A WSGI application around another one: answers feeds and known pages, passes the rest on.

    `polls`, if given, is told of each poll after its answer is decided, `count_page` of the status
    of each page from memory. Our own server calls `at_once` first, on its event loop, and runs the
    application for all other requests.
    """

    def __init__(
        self,
        app: WsgiApp,
        site: Site,
        polls: PollListener | None = None,
        count_page: Callable[[int], object] = lambda _status: None,
    ) -> None:
        self._app = app
        self._polls, self._count_page = polls, count_page
        self._pages = Pages(None, EPOCH)
        self._site = site
        self._documents: dict[str, Served | Moved] = {}
        self._serials: dict[str, int] = {}
        self._snapshots: dict[str, Served] = {}
        self._tags = TagFeeds(site)
        self._packer: threading.Thread | None = None
        self._watch = Watch(self._looking, site.database.look_seconds, site.database.listen)
        self._refreshing, self._starting = threading.Lock(), threading.Lock()
        self._ready = False
        self._checked_at = self._recheck_at = EPOCH
        forked = weakref.WeakMethod(self._forked)
        os.register_at_fork(after_in_child=lambda: (method := forked()) and method())

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a feed from memory, or pass the request on."""
        if not self._ready:
            self.start()
        apply_forwarded_headers(environ, self._site.environment.trusted_proxies)
        now = self.moment()
        answer = self.in_memory(environ, now)
        if answer is None and not self._serials:  # nothing was built; it may be by now
            self._try_refresh()
            answer = self.in_memory(environ, now)
        if answer is None:
            made = self._tags.get(environ["PATH_INFO"], self.serial(RSS))
            if made is not None:
                answer = self._answer(made, environ, now)[0]
            elif (visit := visit_of(environ)) is None:
                return self._pass_on(environ, start_response)
            elif (answer := self._present_page(visit, now)) is None:
                return self._make_page(visit, environ, start_response, now)
        start_response(answer.status, answer.headers[:])
        return answer.body

    def in_memory(self, environ: Environ, now: datetime) -> FeedAnswer | None:
        """The answer to a poll, which is counted; None if memory has no such feed. Never blocks."""
        document = self._document(environ)
        return None if document is None else self._answer(document, environ, now)[0]

    def at_once(self, request: Request, peer: str, now: datetime) -> FeedAnswer | None:
        """As `in_memory`, and pages; what came before with the same bytes is not examined again."""
        memo: Any = request.memo  # a Poll, a Visit or None
        if isinstance(memo, Visit):
            return self._page(memo, now)
        document: Served | None = memo.document() if memo else None
        if document is not None and document is self._documents.get(memo.path):
            second = document.second(now)
            # Another peer gets the same answer, unless it may be a proxy, whose headers count.
            same = memo.peer == peer or not self._site.environment.trusted_proxies
            if same and second.etag == memo.etag and not self._examines_each():
                if memo.group is not None and self._polls is not None:
                    if memo.peer != peer:
                        memo.peer, memo.group = peer, self._polls.of_peer(memo.group, peer)
                    self._polls.again(memo.group, document, now)
                return second.answer(memo.variant)
        environ = {**request.environ, "REMOTE_ADDR": peer}
        apply_forwarded_headers(environ, self._site.environment.trusted_proxies)
        served_document = self._document(environ)
        if served_document is None:
            request.memo = visit_of(environ)
            return self._page(request.memo, now) if request.memo else None
        answer, group = self._answer(served_document, environ, now)
        request.memo = None
        plain = environ["REQUEST_METHOD"] == "GET" and not is_browser_navigation(environ)
        if plain and isinstance(served_document, Served) and answer.code in (200, 304):
            etag = served_document.second(now).etag
            variant, path = served_document.variant(environ, etag), environ["PATH_INFO"]
            request.memo = Poll(path, peer, weakref.ref(served_document), etag, variant, group)
        return answer

    def _answer(
        self, document: Served | Moved, environ: Environ, now: datetime
    ) -> tuple[FeedAnswer, Hashable | None]:
        """The answer of one document, and the group in which it was counted."""
        answer = document.respond(environ, now)
        if isinstance(document, Moved) or answer is PREFLIGHT:
            return answer, None
        polls = self._polls if environ.get("HTTP_USER_AGENT") != DOCTOR else None
        if polls is not None and polls.examines_each and answer.code == 200:
            wait_seconds = polls.wait_seconds(document, environ, now)
            answer = too_soon(wait_seconds) if wait_seconds else answer
        group = None
        if polls is not None and environ.get(SOURCE) != LOG:
            group = polls.count(document, answer, environ, now)
        return as_page(answer) if is_browser_navigation(environ) else answer, group

    def moment(self) -> datetime:
        """The site's time; once a second it also checks that the watch is alive."""
        now = self._site.clock()
        if not self._checked_at <= now < self._recheck_at:  # the clock may also go back
            self._watch.ensure()
            self._checked_at, self._recheck_at = now, now + _RECHECK
        return now

    @property
    def watching(self) -> bool:
        """Whether this process would notice a new snapshot; true before the first request."""
        return self._watch.alive or not self._ready

    def close(self) -> None:
        """Stop the watch and the packer, and wait for both."""
        self._watch.stop()
        if (packer := self._packer) is not None:
            packer.join()

    def serial(self, name: str) -> int:
        """The serial of a document in memory; 0 for none."""
        return self._serials.get(name, 0)

    def refresh(self) -> None:
        """Load the snapshots that are newer than those in memory, and the old addresses."""
        with self._refreshing, self._site.database.read() as session:
            state = content_state(session, self._site.environment)
            if state != self._pages.made_from:
                self._pages = Pages(state, self._site.clock())
            current = session.execute(select(Snapshot.name, Snapshot.serial)).all()
            new = [name for name, serial in current if self._serials.get(name) != serial]
            allow_invalid(session)  # what was built before is served on
            settings = load_settings(session)
            if self._polls is not None:
                self._polls.refreshed(session)
            query = select(Snapshot).where(Snapshot.name.in_(new))
            rows = session.scalars(query).all() if new else []
            for row in rows:
                path = ADDRESSES.get(row.name, row.name)  # a mirror's name is its path
                links = link_headers(settings.hubs, self._site.site_url + path)
                document = served(row, links, untrusted=row.name not in ADDRESSES)
                self._snapshots[path] = document.packed_as(self._snapshots.get(path))
            for name in self._serials.keys() - {name for name, _ in current}:
                self._snapshots.pop(ADDRESSES.get(name, name), None)
                del self._serials[name]
            self._documents = {**self._snapshots, **self._old_addresses(settings.old_feeds)}
            self._serials |= {row.name: row.serial for row in rows}
            unpacked = any(not document.is_packed for document in self._snapshots.values())
            if unpacked and (self._packer is None or not self._packer.is_alive()):
                self._packer = threading.Thread(target=self._pack, name="packing", daemon=True)
                self._packer.start()

    def _pack(self) -> None:
        """In a thread: replace each document by its packed form (`Served.packed`)."""
        while True:
            with self._refreshing:
                new = ((p, d) for p, d in self._snapshots.items() if not d.is_packed)
                path, document = next(new, (None, None))
                if path is None or document is None:
                    self._packer = None
                    return
            packed = document.packed()
            with self._refreshing:
                if self._snapshots.get(path) is document:  # it may have been replaced meanwhile
                    self._snapshots[path] = packed
                if self._documents.get(path) is document:
                    self._documents = {**self._documents, path: packed}

    def _examines_each(self) -> bool:
        return self._polls is not None and self._polls.examines_each

    def _old_addresses(self, paths: str) -> dict[str, Moved]:
        """The feed's former addresses (setting `old_feeds`), with and without a slash at their end;
        the present one is left out."""
        moved = Moved(self._site.site_url + ADDRESSES[RSS])
        named = {path.rstrip("/") or path for path in paths.split()} - {ADDRESSES[RSS]}
        slashed = {f"{path}/" for path in named if "?" not in path}
        return dict.fromkeys(named | slashed, moved)

    def _by_query(self, query: str) -> Moved | None:
        """The feed that `/?feed=rss2` means, WordPress's address for it; never a page."""
        form = parse_qs(query).get("feed", [""])[-1]
        name = {"atom": ATOM, "json": JSON}.get(form, RSS)
        exists = bool(form) and ADDRESSES[name] in self._snapshots
        return Moved(self._site.site_url + ADDRESSES[name]) if exists else None

    def _document(self, environ: Environ) -> Served | Moved | None:
        """The document in memory for a request: a feed, a tag's, an old address (`/?feed=rss2`)."""
        path = environ["PATH_INFO"]
        document: Served | Moved | None = self._documents.get(path)
        if document is None and path.endswith("/rss.xml"):
            document = self._tags.held(path, self.serial(RSS))
        if document is None and (query := environ.get("QUERY_STRING")):
            document = self._documents.get(f"{path}?{query}")
            if document is None and path == "/" and "feed=" in query:
                document = self._by_query(query)
        return document

    def forget_pages(self) -> None:
        """Keep no page of before, as it is not known whether it is still up to date."""
        self._pages = self._pages.emptied()

    def _page(self, visit: Visit, now: datetime) -> FeedAnswer | None:
        """A page from memory, which is counted; None if it is not kept."""
        page = self._pages.get(visit.address)
        if page is None:
            return None
        answer = page.answer(visit, now)
        self._count_page(answer.code)
        return answer

    def _present_page(self, visit: Visit, now: datetime) -> FeedAnswer | None:
        """As `_page`, of the content that the database has now."""
        current = self._pages.get(visit.address) is not None and self._are_present(self._pages)
        return self._page(visit, now) if current else None

    def _are_present(self, pages: Pages) -> bool:
        """Whether pages are of the content that the database has now; else they are forgotten."""
        try:
            with self._site.database.read() as session:
                state = content_state(session, self._site.environment)
            if state == pages.made_from:
                return True
            self.refresh()
        except PublisherError:  # the page of the error is made
            self.forget_pages()
        return False

    def _make_page(
        self, visit: Visit, environ: Environ, start_response: StartResponse, now: datetime
    ) -> Iterable[bytes]:
        """Have a page made; keep it, and answer from it, if it is one for everybody.

        One that was made while the content changed is not kept.
        """
        pages, heads = self._pages, list[Any]()

        def start(*head: Any) -> Any:
            heads.append(head)
            return None if PAGE in environ else start_response(*head)

        body = self._app(environ, start)
        if PAGE not in environ:
            return body
        headers: Headers = heads[-1][1]
        personal = not {"set-cookie", "vary"}.isdisjoint(name.lower() for name, _ in headers)
        if personal or not self._are_present(pages):
            start_response(*heads[-1])
            return body
        if hasattr(body, "close"):
            body.close()
        page = Page(environ[PAGE], headers, pages.modified)
        pages.keep(visit.address, page)
        answer = page.answer(visit, now)
        number = [(name, value) for name, value in headers if name == "X-Request-ID"]
        start_response(answer.status, [*answer.headers, *number])  # a page that is made has one
        return answer.body

    def _pass_on(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        body = self._app(environ, start_response)
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            self._try_refresh()
        return body

    def start(self) -> None:
        """Load the documents, start watch and counter; at the latest at the first request."""
        with self._starting:
            if self._ready:
                return
            self._try_refresh()
            self._watch.ensure()
            if self._polls is not None:
                self._polls.start()
            self._ready = True

    @contextmanager
    def _looking(self) -> Iterator[Callable[[], None]]:
        """For `Watch`: a function that refreshes after changes, on its thread's own connection."""
        changes = ChangeCounter(self._site.database.engine)

        def check() -> None:
            if changes.changed():
                try:
                    self.refresh()
                except Exception:
                    self.forget_pages()
                    changes.close()  # so that the next look sees the change again
                    raise

        try:
            yield check
        finally:
            changes.close()

    def _try_refresh(self) -> None:
        try:
            self.refresh()
        except PublisherError as error:
            log.warning("snapshots not loaded", reason=str(error))

    def _forked(self) -> None:
        """In the child of a fork: leave the parent's connections and locks alone."""
        self._site.database.engine.dispose(close=False)
        self._refreshing, self._starting = threading.Lock(), threading.Lock()
        self._watch.forked()
        self._packer = None
        self.forget_pages()
        self._ready = False
