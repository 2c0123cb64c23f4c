"""The river subscribed to our own publisher, over HTTP: it obeys, and the simulator knew when."""

import random
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select
from werkzeug.serving import WSGIRequestHandler, make_server

from publisher.base.environment import Environment
from publisher.blog import update_log
from publisher.feed_fetching.address_book import AddressBook
from publisher.installation import Site, open_site
from publisher.installation.settings import store_setting
from publisher.parts.river import service
from publisher.parts.river.following import subscriptions
from publisher.parts.river.tables import RiverFeed, RiverItem, RiverVisit
from publisher.publishing.rebuild import rebuild_if_due
from publisher.storage.tables.blog import Update
from tests.conftest import FakeClock
from tests.databases import database_url
from tests.factories import make_post
from tests.parts.river.fast import FastRounds
from tests.parts.river.politeness_rules import Logged, judge
from tests.parts.river.resolver import Loopback
from tests.parts.river.test_worker import OPTIONS
from tests.running_site import serving, wait_until

pytestmark = pytest.mark.any_database

ZONE = "America/New_York"
HOUR = timedelta(hours=1)
MONDAY = datetime(2024, 3, 4, 5, tzinfo=UTC)  # midnight in New York
HISTORY_DAYS, DAYS = 21, 7
UPDATES_A_DAY = {7: 2, 9: 3, 12: 1, 16: 1, 20: 2}  # by the author's hour
POLICIES = ("max-age", "attentive")


def updates(rng: random.Random, day: int) -> list[datetime]:
    """What the author does on a day counted from MONDAY; whole seconds."""
    midnight = MONDAY + timedelta(days=day)
    return sorted(
        midnight + timedelta(hours=hour, seconds=rng.randrange(3600))
        for hour, number in UPDATES_A_DAY.items()
        for _ in range(rng.randrange(number + 1))
    )


def words(at: datetime) -> str:
    """What a post says."""
    return f"Words of {at:%d %H:%M:%S}."


@dataclass
class Publisher:
    """The real application on loopback, with an author who keeps to a plan and a scheduler."""

    site: Site
    app: Flask
    clock: FakeClock
    plan: Sequence[datetime]
    log: list[Logged] = field(default_factory=list)

    def live_until(self, moment: datetime) -> None:
        """Publish what is planned by `moment`, and rebuild at each post and each new hour."""
        while (event := self._next()) <= moment:
            self.clock.moment = event
            if event in self.plan:
                make_post(self.site, words(event))
            if rebuild_if_due(self.site):
                self.app.extensions["front"].refresh()

    def _next(self) -> datetime:
        now = self.clock()
        hour = now.replace(minute=0, second=0, microsecond=0) + HOUR
        place = bisect_right(self.plan, now)
        return min(hour, self.plan[place]) if place < len(self.plan) else hour

    @contextmanager
    def served(self) -> Iterator[int]:
        """The port at which it is served until the block ends."""
        server = make_server("127.0.0.1", 0, self._answer, threaded=True, request_handler=_Silent)
        thread = threading.Thread(target=server.serve_forever, args=[0.02], daemon=True)
        thread.start()
        try:
            yield server.port
        finally:
            server.shutdown()
            thread.join(5)
            server.server_close()

    def _answer(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        """The application's own answer, written down for the judge."""
        started: list[tuple[str, list[tuple[str, str]]]] = []

        def start(status: str, headers: list[tuple[str, str]], *options: Any) -> Any:
            started.append((status, headers))
            return start_response(status, headers, *options)

        body = b"".join(self.app.wsgi_app(environ, start))
        (status, headers) = started[0]
        entry = Logged(
            at=self.clock().timestamp(),
            host=environ["HTTP_HOST"],
            target=environ["RAW_URI"],
            status=int(status[:3]),
            method=environ["REQUEST_METHOD"],
            headers={
                name.removeprefix("HTTP_").lower().replace("_", "-"): value
                for name, value in environ.items()
                if name.startswith("HTTP_")
            },
            answer={name.lower(): value for name, value in headers},
        )
        self.log.append(entry)
        return [body]


class _Silent(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002 - werkzeug's name
        """Say nothing."""


@pytest.fixture
def publisher(site: Site, app: Flask, clock: FakeClock) -> Publisher:
    """Three weeks of history, of which the newest twenty posts are in the feed; now MONDAY."""
    rng = random.Random(4)
    days = [updates(rng, day) for day in range(-HISTORY_DAYS, DAYS)]
    past = [at for day in days[:HISTORY_DAYS] for at in day]
    with site.database.write() as db:
        store_setting(db, "timezone", ZONE)
        update_log.record_all(db, past[:-20], "loaded")
    clock.moment = MONDAY
    for at in past[-20:]:
        make_post(site, words(at), at)
    rebuild_if_due(site)
    app.extensions["front"].refresh()
    return Publisher(site, app, clock, [at for day in days[HISTORY_DAYS:] for at in day])


@pytest.fixture
def follower(tmp_path: Path, clock: FakeClock) -> Iterator[Site]:
    """Another installation, which only follows."""
    instance = tmp_path / "follower"
    opened = open_site(Environment(instance, database_url(instance)), clock)
    yield opened
    opened.database.close()


def test_a_week_over_http_is_what_the_simulator_says(
    publisher: Publisher, follower: Site, clock: FakeClock
) -> None:
    """Real worker, real sockets: the instants of all polls are the simulator's, to the second.

    By the policy `ttl` and by the river's default, both at the same site under two names. The
    judge at the server finds nothing to blame, and every post of the week arrived.
    """
    pytest.importorskip("numpy")
    begin = MONDAY + timedelta(minutes=7, seconds=17)
    end = begin + timedelta(days=DAYS)
    publisher.live_until(begin)
    clock.moment = begin
    with publisher.served() as port:
        urls = {policy: f"http://{policy}.example:{port}/rss.xml" for policy in POLICIES}
        with follower.database.write() as db:
            for policy, url in urls.items():
                subscriptions.subscribe(db, url, begin, begin, policy=policy)
        worker = FastRounds(follower, clock, OPTIONS, live=publisher.live_until)
        worker.go(end, AddressBook(Loopback()))
    for policy, url in urls.items():
        polled = _polls(follower, url)
        assert polled == _simulated(publisher, policy, begin, end)
        assert len(polled) > 4 * DAYS
    verdict = judge(publisher.log, ["/rss.xml"])
    assert (verdict.score, verdict.findings) == (100, ())
    assert verdict.requests == sum(len(_polls(follower, url)) for url in urls.values())
    assert {entry.status for entry in publisher.log} == {200, 304}
    _everything_arrived(publisher, follower, end)


def _polls(follower: Site, url: str) -> list[int]:
    mine = select(RiverVisit.at).join(RiverFeed, RiverFeed.id == RiverVisit.feed_id)
    with follower.database.read() as db:
        moments = db.scalars(mine.where(RiverFeed.url == url).order_by(RiverVisit.at)).all()
    return [int(at.timestamp()) for at in moments]


def _simulated(publisher: Publisher, policy: str, begin: datetime, end: datetime) -> list[int]:
    """When the simulator's client polls, from the publisher's update log alone."""
    from publisher.dynamic_ttl.core.polling import parse
    from publisher.simulator.poll_trace import walk
    from publisher.simulator.publishers import parse_publisher
    from publisher.simulator.timelines import from_instants

    with publisher.site.database.read() as db:
        log = [int(at.timestamp()) for at in db.scalars(select(Update.at))]
    line = from_instants("live", log, ZONE, int(end.timestamp()))
    documents = parse_publisher("forward")(line)
    assert len(set(documents[1])) > 1
    return [poll.at for poll in walk(line, documents, parse(policy), int(begin.timestamp()))]


def _everything_arrived(publisher: Publisher, follower: Site, end: datetime) -> None:
    with follower.database.read() as db:
        read = {item.html for item in db.scalars(select(RiverItem))}
    due = [at for at in publisher.plan if at < end - timedelta(hours=8)]
    assert len(due) > 20
    assert {f"<p>{words(at)}</p>" for at in due} <= {html.strip() for html in read}


def test_the_river_of_a_fast_site_polls_in_the_sites_time(tmp_path: Path) -> None:
    """`serve --clock-speed 900`: following itself, it comes back after the ttl's minutes by the
    site's clock, which are seconds by ours; real time would bring one poll only."""
    options = ("--clock-start", "2024-03-04T09:30:00Z", "--clock-speed", "900")
    env = {"PUBLISHER_ALLOW_PRIVATE": "1"}
    with serving(tmp_path / "instance", *options, env=env) as server:
        database = database_url(tmp_path / "instance")
        site = open_site(Environment(tmp_path / "instance", database, allow_private=True))
        make_post(site, "Hello")
        wait_until(lambda: b"Hello" in server.get("/rss.xml")[2], 60, "the feed is stale")
        service.on_demand(site).add(f"{server.url}/rss.xml", policy="max-age")
        wait_until(lambda: len(_visits(site)) >= 4, 40, "too few polls")
        visits = _visits(site)
        site.database.close()
    assert visits[0].at > datetime(2024, 3, 4, 9, 30, tzinfo=UTC)
    assert visits[-1].at < datetime(2024, 3, 6, tzinfo=UTC)
    for before, after in pairwise(visits):
        assert before.told_seconds is not None
        assert 0 < before.told_seconds <= 24 * 3600  # counted down to one instant
        assert (after.at - before.at).total_seconds() >= before.told_seconds
    assert visits[0].status == 200


def _visits(site: Site) -> Sequence[RiverVisit]:
    with site.database.read() as db:
        return db.scalars(select(RiverVisit).order_by(RiverVisit.at)).all()
