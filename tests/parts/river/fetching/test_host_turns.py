"""One gate for the wire: redirects and second tries wait for hosts, whichever process asks."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from publisher.base.environment import Environment
from publisher.feed_fetching.answers import Credentials
from publisher.installation import Site, open_site
from publisher.installation.settings import store_settings
from publisher.parts.river.fetching import frontier
from publisher.parts.river.following import subscriptions
from publisher.parts.river.tables import RiverHost, RiverVisit
from tests.conftest import FakeClock
from tests.databases import database_url
from tests.parts.river.origin import Origin, Reply, rss
from tests.parts.river.politeness_rules import Logged
from tests.parts.river.test_processes import worker
from tests.parts.river.test_worker import OPTIONS, River

FEEDS, PAUSE_SECONDS = 6, 0.5


@pytest.fixture
def origin(everywhere: Origin) -> Origin:
    return everywhere


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Site]:
    instance = tmp_path / "instance"
    site = open_site(Environment(instance, database_url(instance)))
    yield site
    site.database.close()


def wait_for(origin: Origin, host: str, requests: int, seconds: float = 60.0) -> list[Logged]:
    """The finished requests to a host, once there are so many."""
    end = time.monotonic() + seconds
    while True:
        entries = [e for e in origin.log if e.host.startswith(host) and e.ended_at is not None]
        if len(entries) >= requests:
            return sorted(entries, key=lambda entry: entry.at)
        assert time.monotonic() < end, len(entries)
        time.sleep(0.05)


def test_redirects_of_two_processes_share_one_target(own: Site, origin: Origin) -> None:
    """Six feeds on six hosts lead to one: it is asked one at a time, with its pause between."""
    target = f"http://127.0.3.1:{origin.port}"
    now = own.clock()
    with own.database.write() as db:
        store_settings(db, {"river_host_delay_seconds": "1"})
        for number in range(FEEDS):
            origin.serve(f"/{number}", Reply(302, b"", {"Location": f"{target}/t{number}"}))
            origin.serve(f"/t{number}", Reply(200, rss(f"i{number}"), wait_seconds=0.1))
            subscriptions.subscribe(
                db, f"http://127.0.1.{number + 1}:{origin.port}/{number}", now, now
            )
    with worker(own), worker(own):
        requests = wait_for(origin, "127.0.3.1", FEEDS)
    assert sorted(entry.target for entry in requests) == [f"/t{n}" for n in range(FEEDS)]
    for before, after in pairwise(requests):
        assert before.ended_at is not None
        assert after.at - before.ended_at >= 0.9
    with own.database.read() as db:
        feeds = subscriptions.everyone(db)
    assert {feed.leads_to for feed in feeds if feed.status == 200} == {"127.0.3.1"}


def test_one_machine_is_asked_by_one_process_at_a_time(own: Site, origin: Origin) -> None:
    """Names that lead to one machine, polled by two processes: never two requests at once."""
    now = own.clock()
    with own.database.write() as db:
        for number in range(FEEDS):
            origin.serve(f"/{number}", Reply(200, rss(f"i{number}"), wait_seconds=0.3))
            name = "localhost" if number % 2 else "127.0.0.1"
            subscriptions.subscribe(db, f"http://{name}:{origin.port}/{number}", now, now)
        store_settings(db, {"river_host_delay_seconds": "0"})
    with worker(own), worker(own):
        requests = wait_for(origin, "", FEEDS)
    for before, after in pairwise(requests):
        assert before.ended_at is not None
        assert after.at >= before.ended_at - 0.01


@pytest.mark.parametrize(
    "challenge", ['Basic realm="x"', 'Digest realm="x", nonce="n", qop="auth"']
)
def test_a_second_try_waits_for_its_host(
    site: Site, clock: FakeClock, origin: Origin, challenge: str
) -> None:
    """401, then the same with the password: the pause lies between, and both are counted."""

    def route(headers: Mapping[str, str]) -> Reply:
        if headers.get("authorization", "").startswith(challenge[:5]):
            return Reply(200, rss("a"))
        return Reply(401, b"", {"WWW-Authenticate": challenge})

    river = River(site, clock, replace(OPTIONS, host_delay_seconds=PAUSE_SECONDS))
    with site.database.write() as db:
        secret = Credentials("a", "b")
        url = origin.serve("/f", route)
        subscriptions.subscribe(db, url, clock(), clock(), credentials=secret)
    river.poll()
    first, second = origin.log
    assert first.ended_at is not None
    assert second.at - first.ended_at >= PAUSE_SECONDS
    with site.database.read() as db:
        assert [visit.requests for visit in db.query(RiverVisit)] == [2]


def test_feeds_of_one_host_share_a_connection(site: Site, clock: FakeClock, origin: Origin) -> None:
    """One after the other, each in its turn: documents, unchanged ones, errors and moves."""
    river = River(site, clock)
    fixed = [
        Reply(200, rss("a")),
        Reply(304),
        Reply(404, b"no"),
        Reply(302, b"", {"Location": "/0"}),
    ]
    for number, reply in enumerate(fixed):
        river.add(origin.serve(f"/{number}", reply))
    river.poll()
    assert {entry.target for entry in origin.log} == {"/0", "/1", "/2", "/3"}
    assert origin.connections == 1


def test_a_busy_target_is_nobodys_failure(site: Site, clock: FakeClock, origin: Origin) -> None:
    """The feed waits for the turn of the host that it leads to, and is not asked for it again."""
    river = River(site, clock, replace(OPTIONS, patience_real_seconds=0.1))
    target = origin.url.replace("127.0.0.1", "127.0.4.1") + "/t"
    origin.serve("/t", Reply(200, rss("a")))
    url = origin.serve("/f", Reply(302, b"", {"Location": target}))
    river.add(url)
    with site.database.write() as db:
        db.add(RiverHost(name="127.0.4.1"))
        db.flush()
        hour = clock() + timedelta(hours=1)
        assert frontier.lease_host(db, "127.0.4.1", "somebody", clock(), hour)
    river.poll()
    feed = river.feed(url)
    assert (feed.problem, feed.failures, feed.leads_to) == ("busy", 0, "127.0.4.1")
    assert "127.0.4.1" in feed.reasons[0]
    for _ in range(5):
        river.later(minutes=5)
    assert len(origin.log) == 1
    river.later(minutes=60)
    assert [entry.target for entry in origin.log] == ["/f", "/f", "/t"]
    assert river.feed(url).status == 200


def test_a_refusal_is_blamed_on_the_host_that_refused(
    site: Site, clock: FakeClock, origin: Origin
) -> None:
    """A 429 behind a redirect slows down the target, and not the host that sent us there."""
    target = origin.url.replace("127.0.0.1", "127.0.4.1") + "/t"
    origin.serve("/t", Reply(429, b"", {"Retry-After": "600"}))
    river = River(site, clock)
    river.add(origin.serve("/f", Reply(302, b"", {"Location": target})))
    river.poll()
    with site.database.read() as db:
        first, last = db.get(RiverHost, "127.0.0.1"), db.get(RiverHost, "127.0.4.1")
    assert first is not None
    assert last is not None
    assert (first.strikes, first.not_before, last.strikes) == (0, None, 1)
    assert last.not_before is not None
    assert last.owner is None
