"""Real processes on one database: leases, kill -9, restarts."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from sqlalchemy import delete, select

from publisher.base.environment import Environment
from publisher.installation import Site, open_site
from publisher.parts.river.following import subscriptions
from publisher.parts.river.tables import RiverFeed, RiverHost, RiverMachine
from tests.databases import database_url, settings_of
from tests.parts.river.origin import Origin, Reply, rss

FEEDS = 12


@pytest.fixture
def own(tmp_path: Path, origin: Origin) -> Iterator[Site]:
    """A site on the real clock that follows slow feeds, each on a host of its own."""
    instance = tmp_path / "instance"
    site = open_site(Environment(instance, database_url(instance)))
    now = site.clock()
    with site.database.write() as db:
        for number in range(FEEDS):
            reply = Reply(200, rss(f"i{number}"), {"ETag": '"e"'}, wait_seconds=0.2)
            origin.serve(f"/{number}", reply)
            # 127.0.0.0/8 is all loopback: as many machines as are wanted.
            subscriptions.subscribe(
                db, f"http://127.0.1.{number + 1}:{origin.port}/{number}", now, now
            )
    yield site
    site.database.close()


@contextmanager
def worker(site: Site) -> Iterator[subprocess.Popen[bytes]]:
    """`publisher river run` as a process of its own; ended by SIGTERM at the end."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PUBLISHER_")}
    environment |= {
        **settings_of(site.environment.instance),
        "PUBLISHER_ALLOW_PRIVATE": "1",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "publisher", "river", "run"],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(60)


def wait_until(origin: Origin, requests: int, seconds: float = 40.0) -> None:
    """Until the server has seen that many requests."""
    end = time.monotonic() + seconds
    while len(origin.log) < requests and time.monotonic() < end:
        time.sleep(0.02)
    assert len(origin.log) >= requests


def wait_until_asked(origin: Origin, target: str, seconds: float = 40.0) -> None:
    """Until somebody has asked for `target`: the worker is at work."""
    end = time.monotonic() + seconds
    while target not in targets(origin) and time.monotonic() < end:
        time.sleep(0.02)
    assert target in targets(origin)


def follow_a_new_one(site: Site, origin: Origin) -> None:
    """One more feed, /new, which is due now."""
    url = origin.serve("/new", Reply(200, rss("new"))).replace("127.0.0.1", "127.0.2.1")
    with site.database.write() as db:
        subscriptions.subscribe(db, url, site.clock(), site.clock())


def targets(origin: Origin) -> Counter[str]:
    return Counter(entry.target for entry in origin.log)


@pytest.fixture
def origin(everywhere: Origin) -> Origin:
    return everywhere


def test_two_processes_poll_each_feed_once(own: Site, origin: Origin) -> None:
    """Two workers on one database share the feeds; none is lost, none polled twice."""
    with worker(own), worker(own):
        wait_until(origin, FEEDS)
        time.sleep(1.0)
    assert set(targets(origin).values()) == {1}
    assert len(targets(origin)) == FEEDS
    with own.database.read() as db:
        rows = db.scalars(select(RiverFeed)).all()
        owners = db.scalars(select(RiverHost.owner)).all()
    assert all(feed.status == 200 and feed.next_poll_at is not None for feed in rows)
    assert set(owners) == {None}


def test_kill_in_the_middle_of_a_round(own: Site, origin: Origin) -> None:
    """After kill -9 a second process goes on: first answers that were lost are asked for again.

    They alone: no feed whose answer was stored is asked twice, and none waits.
    """
    with worker(own) as first:
        wait_until(origin, 3)
        first.send_signal(signal.SIGKILL)
        first.wait(60)
    with own.database.read() as db:
        held = RiverFeed.host.in_(select(RiverHost.name).where(RiverHost.owner.is_not(None)))
        stored = {feed.url for feed in db.scalars(select(RiverFeed).where(RiverFeed.status == 200))}
        lost = {feed.url for feed in db.scalars(select(RiverFeed).where(held))} - stored
    assert lost
    _let_leases_end(own)
    follow_a_new_one(own, origin)
    with worker(own):
        wait_until_asked(origin, "/new")
        time.sleep(1.0)
    twice = {target for target, count in targets(origin).items() if count > 1}
    assert set(targets(origin).values()) <= {1, 2}
    assert twice <= {urlsplit(url).path for url in lost}
    with own.database.read() as db:
        rows = db.scalars(select(RiverFeed)).all()
    assert len(rows) == FEEDS + 1
    assert {feed.status for feed in rows} == {200}


def _let_leases_end(site: Site) -> None:
    """As if 90 seconds had passed: what the dead process held becomes free."""
    with site.database.write() as db:
        for host in db.scalars(select(RiverHost).where(RiverHost.owner.is_not(None))):
            host.free_at = site.clock()
        db.execute(delete(RiverMachine))


def test_a_restart_within_the_hour_asks_for_nothing(own: Site, origin: Origin) -> None:
    """FRB 037: starting again, as cron does, makes no second request; a new feed has its first."""
    with worker(own):
        wait_until(origin, FEEDS)
        time.sleep(0.5)
    follow_a_new_one(own, origin)
    with worker(own):
        wait_until_asked(origin, "/new")
        time.sleep(0.5)
    assert set(targets(origin).values()) == {1}
