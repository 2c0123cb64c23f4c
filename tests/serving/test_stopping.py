"""The application is started and stopped while it is polled: no connection is closed in use."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from publisher.installation import Site
from publisher.publishing.rebuild import rebuild
from tests.conftest import FakeClock
from tests.databases import settings_of

pytestmark = pytest.mark.any_database

ROOT = Path(__file__).parents[2]
LIVES = int(os.environ.get("STRESS_LIVES", "100"))  # `make stress` has a thousand

# In a process of its own, because what may happen is a segmentation fault. Each life has a front,
# a counter and a database of its own; they end while two threads go on polling.
_LIVES = """
import sys, threading
from dataclasses import replace
from publisher.base.environment import read_environment
from publisher.serving import front as module
from publisher.parts.readers import poll_batches
from publisher.parts.readers.counter import PollCounter
from publisher.installation import open_site
from publisher.storage.database import Database

Database.look_seconds = 0.0
site = open_site(read_environment())
for life in range(int(sys.argv[1])):
    lived = replace(site, database=Database(site.environment.database_url))
    polls = PollCounter(lambda counted: poll_batches.store(lived.database, counted, lived.clock()))
    front = module.FeedMiddleware(lambda *_: [], lived, polls)
    over, seen = threading.Event(), threading.Event()

    def poll():
        while not over.wait(0.0002):
            asked = {"REQUEST_METHOD": "GET", "PATH_INFO": "/rss.xml"}
            front(asked, lambda status, _: status == "200 OK" and seen.set())

    pollers = [threading.Thread(target=poll) for _ in range(2)]
    for poller in pollers:
        poller.start()
    assert seen.wait(60)
    polls.stop()
    front.close()
    lived.database.close()
    over.set()
    for poller in pollers:
        poller.join()
left = {thread.name for thread in threading.enumerate()} - {"MainThread"}
print("lived", left or "and ended")
"""


def test_started_and_stopped_while_it_is_polled(site: Site, clock: FakeClock) -> None:
    """Front, counter and database end beside requests: no crash, no thread left, no word."""
    rebuild(site)
    environment = {
        "PATH": "",
        "PYTHONPATH": str(ROOT),
        **settings_of(site.environment.instance),
    }
    run = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", _LIVES, str(LIVES)],
        env=environment, capture_output=True, text=True, check=False, timeout=60 + LIVES,
    )  # fmt: skip
    assert (run.returncode, run.stdout) == (0, "lived and ended\n"), run.stderr[-3000:]
    assert run.stderr == ""
