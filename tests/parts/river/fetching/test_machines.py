"""Machines that share a database and are killed, frozen, wrong about the time, cut off.

The judge is the origin's log. `make kills-postgresql` does it many times.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from publisher.base.clock import ShiftedClock
from publisher.base.environment import Environment
from publisher.installation import Site, open_site
from publisher.installation.settings import store_settings
from publisher.parts.river.following import subscriptions
from tests.parts.river.origin import Origin, Reply, rss
from tests.parts.river.politeness_rules import Logged
from tests.postgres import Server

pytestmark = pytest.mark.any_database

KILLS, FREEZES, RESTARTS = (
    int(os.environ.get(name, few)) for name, few in (("KILLS", 2), ("FREEZES", 1), ("RESTARTS", 1))
)
HOSTS, FEEDS_A_HOST = 12, 2
SPEED = 200.0  # an hour, after which a feed is asked again, is 18 s
INTERVAL, PAUSE = 3600 / SPEED, 60 / SPEED
LEASE_SECONDS = 5.0
# What two machines take for the database's time may differ by so much.
SLACK_SECONDS = 1.0
CLOCKS = (-1800, 86400, 1800, -86400)


@pytest.fixture
def shared(tmp_path: Path, server: Server) -> Iterator[Site]:
    """A site whose clock is fast, on a server."""
    url = server.make_database(f"machines_{os.getpid()}_{time.monotonic_ns()}")
    real = open_site(Environment(tmp_path / "parent", url))
    now = real.clock()
    real.database.close()
    clock = ShiftedClock(now, now, SPEED)
    environment = Environment(tmp_path / "parent", url, allow_private=True, clock=clock)
    site = open_site(environment)
    yield site
    site.database.close()


def machine(site: Site, folder: Path, ahead: int) -> subprocess.Popen[bytes]:
    """A worker with a folder and a clock of its own."""
    assert site.environment.clock is not None
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(Path(__file__).parents[4]),
        "PUBLISHER_INSTANCE": str(folder),
        "PUBLISHER_DATABASE_URL": site.environment.database_url,
        "PUBLISHER_SECRET_KEY": "the same on all machines",
        "PUBLISHER_ALLOW_PRIVATE": "1",
        "PUBLISHER_CLOCK": site.environment.clock.to_text(),
    }
    folder.mkdir(exist_ok=True)
    words = [
        sys.executable,
        "-m",
        "tests.parts.river.fetching.machine",
        str(ahead),
        str(LEASE_SECONDS),
    ]
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(words, env=environment, stdout=log, stderr=log)


class Fleet:
    """Three machines that come again when they are killed."""

    def __init__(self, site: Site, folder: Path, origin: Origin) -> None:
        self._site, self._folder, self._origin = site, folder, origin
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        self._rng = random.Random(1)

    def start(self, number: int) -> None:
        ahead = CLOCKS[number % len(CLOCKS)]
        self._running[number] = machine(self._site, self._folder / str(number), ahead)

    def kill(self) -> None:
        """kill -9 of one that works, and another in its place."""
        number = self._rng.choice(list(self._running))
        self.wait_for_requests(1)
        time.sleep(self._rng.random())
        self._running[number].kill()
        self._running.pop(number).wait()
        self.start(number)

    def freeze(self) -> None:
        """One that works stands still for two leases."""
        number = self._rng.choice(list(self._running))
        self.wait_for_requests(3)
        self._running[number].send_signal(signal.SIGSTOP)
        time.sleep(2 * LEASE_SECONDS)
        self._running[number].send_signal(signal.SIGCONT)

    def wait_for_requests(self, more: int) -> None:
        """Until the origin has had so many more."""
        wanted, end = len(self._origin.log) + more, time.monotonic() + 120
        while len(self._origin.log) < wanted:
            assert time.monotonic() < end, "nobody polls any more"
            time.sleep(0.02)

    def all_asked_since(self, moment: float) -> bool:
        return len({e.target for e in self._origin.log if e.at > moment}) == HOSTS * FEEDS_A_HOST

    def wait_until_all_asked(self) -> None:
        """Until each feed has been asked for from now on: none is lost."""
        begun, end = time.time(), time.monotonic() + 3 * (INTERVAL + LEASE_SECONDS) + 60
        while not self.all_asked_since(begun):
            assert time.monotonic() < end, "a feed was lost"
            time.sleep(0.1)

    def end(self) -> None:
        for process in self._running.values():
            process.kill()
            process.wait()


def test_machines_die_and_nobody_is_asked_too_often(
    shared: Site, tmp_path: Path, server: Server, everywhere: Origin
) -> None:
    """Two requests to one host are never open at once, none comes too early, no feed is lost."""
    follow_all(shared, everywhere)
    fleet = Fleet(shared, tmp_path, everywhere)
    troubles = [fleet.kill] * KILLS + [fleet.freeze] * FREEZES + [server.restart] * RESTARTS
    random.Random(2).shuffle(troubles)
    try:
        for number in range(3):
            fleet.start(number)
        fleet.wait_until_all_asked()
        fleet.wait_until_all_asked()
        calm = len(everywhere.log)
        for trouble in troubles:
            trouble()
        fleet.wait_until_all_asked()
    finally:
        fleet.end()
    log = everywhere.log
    print(f"{len(log)} requests; {KILLS} kills, {FREEZES} freezes, {RESTARTS} restarts")
    assert overlapping(log) == []
    assert too_early(log[calm:]) == []


def follow_all(site: Site, origin: Origin) -> None:
    """Some feeds on each of some hosts, all due now."""
    now = site.clock()
    with site.database.write() as db:
        store_settings(db, {"river_host_delay_seconds": "60", "river_policy": "fixed:60"})
        for number in range(HOSTS * FEEDS_A_HOST):
            origin.serve(f"/{number}", Reply(200, rss("a"), {"ETag": '"e"'}, wait_seconds=0.15))
            host = f"127.0.7.{number % HOSTS + 1}"
            subscriptions.subscribe(db, f"http://{host}:{origin.port}/{number}", now, now)


def by(log: list[Logged], key: str) -> Iterator[tuple[Logged, Logged]]:
    """Pairs of requests that followed each other, of one host or one target."""
    groups = defaultdict(list)
    for entry in log:
        groups[getattr(entry, key)].append(entry)
    for group in groups.values():
        yield from pairwise(sorted(group, key=lambda entry: entry.at))


def overlapping(log: list[Logged]) -> list[tuple[Logged, Logged]]:
    """Pairs of requests to one host, the second before the first one's answer or pause was over."""
    return [
        (before, after)
        for before, after in by(log, "host")
        if before.ended_at is None or after.at < before.ended_at + PAUSE - 0.05
    ]


def too_early(log: list[Logged]) -> list[float]:
    """Seconds between two requests for one feed where they are fewer than the interval."""
    gaps = [after.at - before.at for before, after in by(log, "target")]
    return [gap for gap in gaps if gap < INTERVAL - SLACK_SECONDS]
