"""The whole blog as one WSGI application, for servers that are not ours (`app.py`).

Each process waits, from its first request on, for the lock of the instance folder: the one that has
it runs the jobs. A `publisher scheduler` beside them gets the lock before any of them.
"""

import atexit
import logging
import os
import sys
import threading
from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIEnvironment

from flask import Flask

from publisher.base.environment import Environment
from publisher.base.errors import Conflict, PublisherError
from publisher.base.system import logs
from publisher.base.system.logs import get_logger
from publisher.installation import (
    Site,
    is_waited_for,
    keep_address,
    recall,
    serving_lock,
    setup_path,
)
from publisher.operations.scheduler import Jobs
from publisher.operations.start import bring_up_to_date, make_ready, say
from publisher.web import application

_PAUSE_SECONDS, _END_SECONDS = 5.0, 10.0
_NO_START = 3  # gunicorn ends too, where a worker ends with this; with another it tries for ever

log = get_logger("jobs")


def create_app() -> Flask:
    """The application, and at its first request in a process that process's share of the jobs.

    No thread is started before. Where the site cannot be opened, one line says why.
    """
    try:
        logs.configure()
        logging.getLogger("werkzeug").propagate = False  # `flask run` writes its lines itself
        app = application.create_app()
        site = application.current_site(app)
        try:
            with serving_lock(site.environment):
                make_ready(site)
        except Conflict:  # another process has done it, or does it now
            bring_up_to_date(site)
        _greet(site)
    except PublisherError as error:
        print(f"publisher: {error}", file=sys.stderr)
        sys.exit(_NO_START)
    app.wsgi_app = FirstRequest(app)  # type: ignore[method-assign]
    return app


def _greet(site: Site) -> None:
    """Print the link to create the first author while there is none; the port may be unknown."""
    if path := setup_path(site, keep=True):
        with site.database.read() as session:
            base = site.environment.site_url or recall(session, "site_url")
        where = f"{base}{path}" if base else f"{path} at the address of this server"
        say(f"Create the first author (this link works once): {where}")


class FirstRequest:
    """A WSGI application around another one, which begins the jobs at a process's first request."""

    def __init__(self, app: Flask) -> None:
        self._app, self._site = app.wsgi_app, application.current_site(app)
        self._lock, self._begun_in = threading.Lock(), 0

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Pass a request on."""
        if self._begun_in != os.getpid():  # a server may have forked this one
            with self._lock:
                if self._begun_in != os.getpid():
                    self._start_jobs(environ["SERVER_PORT"])
                    self._begun_in = os.getpid()
        return self._app(environ, start_response)

    def _start_jobs(self, port: str) -> None:
        """Keep the address of the site where none is known, as `serve` does, and begin the jobs."""
        environment = self._site.environment
        try:
            keep_address(self._site.database, environment, f"http://127.0.0.1:{port}")
            bring_up_to_date(self._site)
        except PublisherError as error:
            log.warning("the feed is served as it was", reason=str(error))
        leader = Leader(environment)
        leader.start()
        atexit.register(leader.end)


class Leader(threading.Thread):
    """A thread that waits for the lock of the instance folder, and then runs the jobs."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(name="leader", daemon=True)
        self._environment = environment
        self._over = threading.Event()
        self._jobs: Jobs | None = None

    def end(self) -> None:
        """End the jobs, if this process runs them; those that hang are left to themselves."""
        self._over.set()
        if (jobs := self._jobs) is not None:
            jobs.stop()
            self.join(_END_SECONDS)

    def run(self) -> None:
        """Run the jobs whenever it is this process's turn."""
        while not self._over.is_set():
            try:
                is_waited_for(self._environment, wait=True)
                with serving_lock(self._environment, wait=True):
                    if self._goes_on():
                        self._jobs = Jobs(self._environment)
                        self._jobs.run(self._goes_on)
            except PublisherError as error:
                log.warning("the jobs wait", reason=str(error))
            except Exception:
                log.exception("the jobs ended, and begin again in a moment")
            self._jobs = None
            self._over.wait(_PAUSE_SECONDS)

    def _goes_on(self) -> bool:
        return not self._over.is_set() and not is_waited_for(self._environment)
