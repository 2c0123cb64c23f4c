"""In front of Flask: feeds are answered from memory, without routing and without the database.

A thread of each process is told when anything was committed, and loads the documents that are
newer than those held. A worker that has just answered a form looks at once.
"""

import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select

from publisher.base.dates import EPOCH
from publisher.base.errors import PublisherError
from publisher.base.logs import get_logger
from publisher.delivery.tag_feeds import TagFeeds
from publisher.delivery.trusted_proxies import LOG, believe
from publisher.delivery.watch import Watch
from publisher.feeds.conditional import Second, Served
from publisher.feeds.feed_answer import FeedAnswer, Moved, too_soon
from publisher.installation import Site
from publisher.publishing.push.targets import link_headers
from publisher.publishing.rebuild import ADDRESSES, RSS
from publisher.publishing.snapshots import served
from publisher.readers.counter import SOURCE, PollCounter, Ticket
from publisher.readers.fairness import Fairness
from publisher.settings import Settings, load_settings
from publisher.storage.changes import ChangeCounter
from publisher.storage.tables.publishing import Snapshot

UNTOLD_CHECK_SECONDS = 0.025  # where writers cannot tell us
_RECHECK = timedelta(seconds=1)

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
WsgiApp = Callable[[Environ, StartResponse], Iterable[bytes]]

log = get_logger("front")


@dataclass(slots=True)
class Poll:
    """The head of a poll that may come again, with the answer that it got last.

    As long as `document` is served under `etag`, the answer is of this `kind`; the answer itself
    is of one `second`.
    """

    environ: Environ
    path: str
    connection: str = ""  # the Connection header of its answer
    peer: str = ""
    document: Served | None = None
    etag: str = ""
    kind: int = 0
    second: Second | None = None
    answer: FeedAnswer | None = None
    ticket: Ticket | None = None


class FeedFront:
    """A WSGI application around another one: answers the feeds, passes everything else on.

    `polls`, where given, counts each answer on the hot path, after everything is decided. Our own
    server asks `poll` first, on its event loop, and runs the application for the rest.
    """

    def __init__(self, app: WsgiApp, site: Site, polls: PollCounter | None = None) -> None:
        self._app = app
        self._polls = polls
        self._fairness: Fairness | None = None
        self._site = site
        self.clock = site.clock
        self._documents: dict[str, Served | Moved] = {}
        self._serials: dict[str, int] = {}
        self._snapshots: dict[str, Served] = {}
        self._tags = TagFeeds(site)
        looks = site.database.look_seconds  # besides when a writer has rung
        pause_seconds = looks if site.database.tells else UNTOLD_CHECK_SECONDS
        self._packer: threading.Thread | None = None
        self._watch = Watch(self._looking, pause_seconds, site.database.listen)
        self._refreshing, self._starting = threading.Lock(), threading.Lock()
        self._ready = False
        self._checked_at = self._recheck_at = EPOCH
        forked = weakref.WeakMethod(self._forked)
        os.register_at_fork(after_in_child=lambda: (method := forked()) and method())

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a feed from memory, or hand the request on."""
        if not self._ready:
            self.start()
        now = self.moment()
        answer = self.in_memory(environ, now)
        if answer is None:
            made = self._tags.get(environ["PATH_INFO"], self.serial(RSS))
            if made is None:
                return self._pass_on(environ, start_response)
            answer = self._answer(made, environ, now)[0]
        start_response(answer.status, answer.headers[:])
        return answer.body

    def in_memory(self, environ: Environ, now: datetime) -> FeedAnswer | None:
        """The answer to a poll, counted; None where memory has none. Never waits for anything."""
        document = self._document(environ)
        return None if document is None else self._answer(document, environ, now)[0]

    def poll(self, poll: Poll, peer: str, now: datetime) -> FeedAnswer | None:
        """As `in_memory`, for a poll whose very bytes came before: they are not looked at again."""
        document = poll.document
        if document is not None and document is self._documents.get(poll.path):
            second = document.second(now)
            if second.etag == poll.etag and poll.peer == peer and self._fairness is None:
                if poll.ticket is not None and self._polls is not None:
                    self._polls.again(poll.ticket, now)
                if poll.second is not second:  # the same kind of answer, with new dates
                    poll.second, poll.answer = second, second.kinds[poll.kind]
                return poll.answer
        environ = {**poll.environ, "REMOTE_ADDR": peer}
        believe(environ, self._site.environment.trusted_proxies)
        found = self._document(environ)
        if found is None:
            return None
        answer, poll.ticket = self._answer(found, environ, now)
        poll.document = poll.second = None
        if isinstance(found, Served) and answer.code in (200, 304):
            poll.etag = found.second(now).etag
            if environ["REQUEST_METHOD"] == "GET":
                poll.document, poll.peer, poll.kind = found, peer, found.kind(environ, poll.etag)
        return answer

    def _answer(
        self, document: Served | Moved, environ: Environ, now: datetime
    ) -> tuple[FeedAnswer, Ticket | None]:
        """The answer of one document, and where it was counted."""
        answer = document.respond(environ, now)
        if isinstance(document, Moved):
            return answer, None
        if self._fairness is not None and answer.code == 200:
            wait_seconds = self._fairness.wait_seconds(document, environ, now)
            answer = too_soon(wait_seconds) if wait_seconds else answer
        ticket = None
        if self._polls is not None and environ.get(SOURCE) != LOG:
            ticket = self._polls.count(document, answer, environ, now)
        return answer, ticket

    def moment(self) -> datetime:
        """The site's moment; once a second the watch is looked after."""
        now = self._site.clock()
        if not self._checked_at <= now < self._recheck_at:  # the clock may also go back
            self._watch.ensure()
            self._checked_at, self._recheck_at = now, now + _RECHECK
        return now

    @property
    def watching(self) -> bool:
        """Whether this process would notice a new snapshot; true before it is asked for one."""
        return self._watch.alive or not self._ready

    def close(self) -> None:
        """Stop watching, and wait for it: the application is not needed any more."""
        self._watch.stop()
        if (packer := self._packer) is not None:
            packer.join()

    def serial(self, name: str) -> int:
        """Which build of a document is held; 0 for none."""
        return self._serials.get(name, 0)

    def refresh(self) -> None:
        """Take over the snapshots that are newer than what is held, and the old addresses."""
        with self._refreshing, self._site.database.read() as session:
            current = session.execute(select(Snapshot.name, Snapshot.serial)).all()
            new = [name for name, serial in current if self._serials.get(name) != serial]
            settings = load_settings(session)
            found = select(Snapshot).where(Snapshot.name.in_(new))
            rows = session.scalars(found).all() if new else []
            for row in rows:
                path = ADDRESSES.get(row.name, row.name)  # a mirror's is its name
                links = link_headers(settings.hubs, self._site.site_url + path)
                document = served(row, links, foreign=row.name not in ADDRESSES)
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
        self._be_fair(settings)

    def _pack(self) -> None:
        """In a thread: make what takes long of each document (`Served.packed`), then serve it."""
        while True:
            with self._refreshing:
                new = ((p, d) for p, d in self._snapshots.items() if not d.is_packed)
                path, document = next(new, (None, None))
                if path is None or document is None:
                    self._packer = None
                    return
            packed = document.packed()
            with self._refreshing:
                if self._snapshots.get(path) is document:  # else it has been replaced meanwhile
                    self._snapshots[path] = packed
                if self._documents.get(path) is document:
                    self._documents = {**self._documents, path: packed}

    def _be_fair(self, settings: Settings) -> None:
        """Begin or end to refuse polls that come too early, as the settings want it."""
        least_seconds = settings.rule.menu.smallest * 60
        if settings.fairness == "off":
            self._fairness = None
        elif self._fairness is None or self._fairness.least_seconds != least_seconds:
            self._fairness = Fairness(least_seconds)

    def _old_addresses(self, paths: str) -> dict[str, Moved]:
        """Where the feed was in the blog's former life; the address of today is none of them."""
        now_at = ADDRESSES[RSS]
        moved = Moved(self._site.site_url + now_at)
        return {path: moved for path in paths.split() if path != now_at}

    def _document(self, environ: Environ) -> Served | Moved | None:
        """What memory has for a request: a feed, a tag's feed, an old address (`/?feed=rss2`)."""
        path = environ["PATH_INFO"]
        document: Served | Moved | None = self._documents.get(path)
        if document is None and path.endswith("/rss.xml"):
            document = self._tags.held(path, self.serial(RSS))
        if document is None and (query := environ.get("QUERY_STRING")):
            document = self._documents.get(f"{path}?{query}")
        return document

    def _pass_on(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        body = self._app(environ, start_response)
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            self._try_refresh()
        return body

    def start(self) -> None:
        """Load, watch, count; at the first request at the latest, in the process that serves."""
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
        """A look at the database, with a connection that belongs to the thread that looks."""
        changes = ChangeCounter(self._site.database)

        def look() -> None:
            if changes.changed():
                try:
                    self.refresh()
                except Exception:
                    changes.close()  # forget that it was seen
                    raise

        try:
            yield look
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
        self._ready = False
