"""A simulated week: an author who writes by the hour of the day, and readers with their habits.

Each reader is a generator: it fetches, and yields the minutes until it comes again. The driver
sets the site's clock to each poll's moment, does what the scheduler would have done until then,
and writes down every answer: the record that the report is compared with.
"""

from __future__ import annotations

import heapq
import random
import re
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from flask import Flask

from publisher.jobs import refresh_feeds
from publisher.site import Site
from tests.conftest import FakeClock
from tests.factories import make_post

Fetch = Callable[[dict[str, str]], tuple[int, dict[str, str], bytes]]
Reader = Callable[[Fetch], Generator[float]]

UPDATES_AN_HOUR = {8: 2.0, 9: 3.0, 10: 2.5, 11: 1.0, 14: 0.6, 16: 0.6, 20: 0.3}


@dataclass(frozen=True)
class Record:
    """One answer, as the server's access record has it."""

    at: datetime
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
    records: list[Record] = field(default_factory=list)
    _tick_at: datetime | None = None

    def fetcher(self, agent: str, address: str) -> Fetch:
        """How one reader asks for the feed: in process, and written down."""
        client = self.app.test_client()

        def fetch(headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
            answer = client.get(
                "/rss.xml",
                headers={"User-Agent": agent, **headers},
                environ_base={"REMOTE_ADDR": address, "wsgi.url_scheme": "https"},
            )
            conditional = bool({"If-None-Match", "If-Modified-Since"} & headers.keys())
            self.records.append(
                Record(self.clock(), agent, answer.status_code, len(answer.data), conditional)
            )
            return answer.status_code, dict(answer.headers), answer.data

        return fetch

    def write(self, days: float) -> None:
        """Let the author write for some days, without readers."""
        self.run({}, days)

    def run(self, readers: dict[str, Reader], days: float) -> None:
        """Let time pass, with an author, the scheduler and readers by their agents."""
        end = self.clock() + timedelta(days=days)
        turns = [
            reader(self.fetcher(agent, f"192.0.2.{number + 1}"))
            for number, (agent, reader) in enumerate(readers.items())
        ]
        heap = [
            (self.clock() + timedelta(minutes=self.rng.uniform(0, 15)), number)
            for number in range(len(turns))
        ]
        heapq.heapify(heap)
        while heap and heap[0][0] < end:
            at, number = heapq.heappop(heap)
            self.go_to(at)
            heapq.heappush(heap, (at + timedelta(minutes=next(turns[number])), number))
        self.go_to(end)

    def go_to(self, moment: datetime) -> None:
        """Bring the site to `moment`: each five minutes perhaps a post, then what is due."""
        step = timedelta(minutes=5)
        at = self._tick_at or self.clock()
        while at + step <= moment:
            at += step
            self.clock.moment = at
            if self.rng.random() < UPDATES_AN_HOUR.get(at.hour, 0.02) / 12:
                make_post(self.site, f"A note of {at:%H:%M}.")
            refresh_feeds(self.site)
            self.app.extensions["front"].refresh()
        self._tick_at = at
        self.clock.moment = moment


def strict(fetch: Fetch) -> Generator[float]:
    """Comes when the ttl of its copy is over, with the ETag of that copy."""
    tag, ttl = "", 60
    while True:
        status, headers, body = fetch({"If-None-Match": tag} if tag else {})
        if status == 200:
            tag = headers["ETag"]
            found = re.search(rb"<ttl>(\d+)</ttl>", body)
            assert found is not None
            ttl = int(found[1])
        yield ttl + 0.5


def fixed(minutes: float, conditional: bool = True) -> Reader:
    """Comes at an interval of its own."""

    def reader(fetch: Fetch) -> Generator[float]:
        tag = ""
        while True:
            status, headers, _ = fetch({"If-None-Match": tag} if tag and conditional else {})
            if status == 200:
                tag = headers["ETag"]
            yield minutes

    return reader
