"""The scheduler process: what happens although nobody asks for it.

`serve` starts exactly one beside its web workers. Each job is idempotent and looks for itself
whether anything is due, so that sleep, a restart or a second scheduler do no harm.
"""

from __future__ import annotations

import os
import signal
import sys
import threading

import structlog
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler

from publisher import logs
from publisher.clock import real_seconds
from publisher.errors import PublisherError
from publisher.rebuild import refresh
from publisher.settings import from_environment
from publisher.site import Site, open_site

TICK_SECONDS, SHORTEST_TICK_SECONDS = 1.0, 0.05

log = structlog.get_logger("jobs")


def refresh_feeds(site: Site) -> None:
    """Publish what is due and rebuild the feeds when an update or a new hour asks for it."""
    try:
        refresh(site, site.clock())
    except PublisherError as error:
        log.warning("rebuild postponed", reason=str(error))


def make_scheduler(site: Site) -> BackgroundScheduler:
    """APScheduler with every job of a site; not started yet.

    The tick follows the site's clock, so that a fast day has all its hours.
    """
    scheduler = BackgroundScheduler(timezone="UTC", executors={"default": ThreadPoolExecutor(4)})
    tick = max(SHORTEST_TICK_SECONDS, min(TICK_SECONDS, real_seconds(site.clock, 60.0)))
    scheduler.add_job(
        refresh_feeds, "interval", [site], seconds=tick, id="refresh_feeds",
        max_instances=1, coalesce=True, misfire_grace_time=None,
    )  # fmt: skip
    return scheduler


def run_forever(parent_pid: int) -> None:
    """The scheduler process: works until SIGTERM, or until the process that started it is gone."""
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which tells us
    logs.configure()
    site = open_site(from_environment())
    scheduler = make_scheduler(site)
    scheduler.start()
    while not stop.wait(0.5) and os.getppid() == parent_pid:
        pass
    scheduler.shutdown(wait=True)
    site.database.close()


if __name__ == "__main__":  # `serve` starts it so, and `ps` shows what it is
    run_forever(parent_pid=int(sys.argv[1]))
