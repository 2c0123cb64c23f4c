"""A simulated week: an author who writes by the hour of the day, and readers with their habits.

Each reader is a generator: it fetches, and yields the minutes until it comes again. The driver
sets the site's clock to each poll's moment and does what the scheduler would have done until
then. A layer around the application keeps the access record that the report is compared with.
"""

import heapq
import random
import re
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from flask import Flask
from werkzeug.serving import WSGIRequestHandler, make_server

from publisher.blog import update_log
from publisher.installation import Site
from publisher.publishing.rebuild import rebuild, rebuild_if_due
from tests.conftest import FakeClock
from tests.factories import make_post

Reader = Callable[[str], Generator[float]]  # the feed's address -> minutes until the next poll

UPDATES_AN_HOUR = {8: 2.0, 9: 3.0, 10: 2.5, 11: 1.0, 14: 0.6, 16: 0.6}
STEP, STEP_HOURS = timedelta(minutes=15), 0.25


@dataclass(frozen=True)
class Access:
    """One answer to a poll of the feed, as an access record has it."""

    agent: str
    status: int
    bytes: int
    conditional: bool


@dataclass
class Week:
    """The site under simulation."""

    site: Site
    app: Flask
    clock: FakeClock
    rng: random.Random
    log: list[Access] = field(default_factory=list)

    def remember(self, days: int) -> None:
        """Give the author a past: the updates of so many days, loaded."""
        start = self.clock() - timedelta(days=days)
        past = [
            start + timedelta(days=day, hours=hour, minutes=self.rng.uniform(0, 60))
            for day in range(days)
            for hour, rate in UPDATES_AN_HOUR.items()
            for _ in range(round(rate + self.rng.uniform(-0.5, 0.5)))
        ]
        with self.site.database.write() as session:
            update_log.record_all(session, [at for at in past if at < self.clock()], "loaded")
        make_post(self.site, "The first note.")
        rebuild(self.site)
        self.app.extensions["front"].refresh()

    @contextmanager
    def served(self) -> Iterator[str]:
        """The application over real HTTP, behind the layer that keeps the record; its address."""
        server = make_server(
            "127.0.0.1", 0, self._recording, threaded=True, request_handler=_Silent
        )
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.port}/rss.xml"
        server.shutdown()
        thread.join(5)
        server.server_close()

    def run(self, readers: Iterable[Reader], url: str, days: float) -> None:
        """Let time pass, with the author, the scheduler and the readers."""
        end = self.clock() + timedelta(days=days)
        turns = [reader(url) for reader in readers]
        heap = [
            (self.clock() + timedelta(minutes=self.rng.uniform(0, 60)), number)
            for number in range(len(turns))
        ]
        heapq.heapify(heap)
        while heap[0][0] < end:
            at, number = heapq.heappop(heap)
            self.go_to(at)
            heapq.heappush(heap, (at + timedelta(minutes=next(turns[number])), number))
        self.go_to(end)

    def go_to(self, moment: datetime) -> None:
        """Bring the site to `moment`, step by step: perhaps a post, then what is due."""
        while self.clock() < moment:
            self.clock.moment = min(moment, self.clock() + STEP)
            if self.rng.random() < UPDATES_AN_HOUR.get(self.clock().hour, 0.0) * (
                STEP.seconds / 3600
            ):
                make_post(self.site, f"A note of {self.clock():%H:%M}.")
            if rebuild_if_due(self.site):
                self.app.extensions["front"].refresh()

    def _recording(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        statuses: list[str] = []

        def start(status: str, headers: list[tuple[str, str]], *arguments: Any) -> Any:
            statuses.append(status)
            return start_response(status, headers, *arguments)

        body = b"".join(self.app.wsgi_app(environ, start))
        if environ["PATH_INFO"] == "/rss.xml":
            conditional = "HTTP_IF_NONE_MATCH" in environ or "HTTP_IF_MODIFIED_SINCE" in environ
            agent = environ.get("HTTP_USER_AGENT", "")
            self.log.append(Access(agent, int(statuses[0][:3]), len(body), conditional))
        return [body]


def ask(url: str, agent: str, tag: str = "") -> tuple[int, str, bytes]:
    """One GET by the standard library: status, ETag, body."""
    headers = {"User-Agent": agent} | ({"If-None-Match": tag} if tag else {})
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
            return answer.status, answer.headers["ETag"], answer.read()
    except urllib.error.HTTPError as answer:
        return answer.code, answer.headers["ETag"] or "", answer.read()


def strict(url: str) -> Generator[float]:
    """Comes when the ttl of its copy is over, with the ETag of that copy."""
    tag, ttl = "", 60
    while True:
        status, new_tag, body = ask(url, "Strict/1.0", tag)
        if status == 200:
            element = re.search(rb"<ttl>(\d+)</ttl>", body)
            assert element is not None
            tag, ttl = new_tag, int(element[1])
        yield ttl + 0.5


def fixed(agent: str, minutes: float, conditional: bool = True) -> Reader:
    """Comes at an interval of its own."""

    def reader(url: str) -> Generator[float]:
        tag = ""
        while True:
            status, new_tag, _ = ask(url, agent, tag)
            tag = new_tag if conditional and status == 200 else tag
            yield minutes

    return reader


class _Silent(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002 - werkzeug's name
        """Say nothing."""
