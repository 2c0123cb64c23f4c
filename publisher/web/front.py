"""In front of Flask: feeds are answered from memory, without routing and without the database.

A thread of each process looks for a new snapshot every 50 ms; what it costs is one query of
the database's change counter, and the documents themselves only when they changed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import structlog
from sqlalchemy import select

from publisher.errors import PublisherError
from publisher.feeds.conditional import Served, respond
from publisher.site import Site
from publisher.storage.models import Snapshot

CHECK_SECONDS = 0.05
PATHS = {"/rss.xml": "rss"}

StartResponse = Callable[..., Any]
WsgiApp = Callable[[dict[str, Any], StartResponse], Iterable[bytes]]

log = structlog.get_logger("front")


@dataclass(frozen=True)
class _Version:
    serial: int
    built_at: datetime


class FeedFront:
    """A WSGI application around another one: answers the feeds, passes everything else on."""

    def __init__(self, app: WsgiApp, site: Site) -> None:
        self._app = app
        self._site = site
        self._documents: dict[str, Served] = {}
        self._versions: dict[str, _Version] = {}
        self._started = threading.Lock()
        self._watching = False

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        """Answer a feed from memory, or hand the request on."""
        if environ["PATH_INFO"] not in PATHS:
            return self._app(environ, start_response)
        if not self._watching:
            self._start_watching()
        document = self._documents.get(environ["PATH_INFO"])
        if document is None:
            return self._app(environ, start_response)
        status, headers, body = respond(document, environ, self._site.clock())
        start_response(status, headers)
        return [body]

    def refresh(self) -> None:
        """Take over the snapshots that are newer than what is held."""
        with self._site.database.read() as session:
            for path, name in PATHS.items():
                serial = session.scalar(select(Snapshot.serial).where(Snapshot.name == name))
                held = self._versions.get(path)
                if serial is None or (held and held.serial == serial):
                    continue
                row = session.get_one(Snapshot, name)
                self._documents[path] = Served.of(row)
                self._versions[path] = _Version(row.serial, row.built_at)

    def _start_watching(self) -> None:
        """Once per process, at the first request: a thread at import would not survive a fork."""
        with self._started:
            if self._watching:
                return
            self.refresh()
            threading.Thread(target=self._watch, name="snapshots", daemon=True).start()
            self._watching = True

    def _watch(self) -> None:
        pause = threading.Event()
        while not pause.wait(CHECK_SECONDS):
            try:
                self.refresh()
            except PublisherError as error:
                log.warning("snapshot check failed", reason=str(error))
