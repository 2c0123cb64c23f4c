"""The scheduler process: hourly rebuild, due posts, outgoing pings, poll counts, river, clean-up.

`serve` starts exactly one beside its web workers. Each job is idempotent and looks for itself
whether anything is due, so that sleep, a restart or a second scheduler do no harm.
"""

import os
import signal
import sys
import threading
from datetime import timedelta

import structlog
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler

from publisher.base import logs
from publisher.base.clock import real_seconds
from publisher.base.environment import read_environment
from publisher.base.errors import PublisherError
from publisher.installation import Site, open_site
from publisher.publishing import versions
from publisher.publishing.push import outbox
from publisher.publishing.rebuild import refresh
from publisher.readers import retention
from publisher.readers.counter import LONGEST_FLUSH_SECONDS
from publisher.readers.fold import fold
from publisher.river import service
from publisher.settings import load_settings

TICK_SECONDS, SHORTEST_TICK_SECONDS = 1.0, 0.05
FOLD_SECONDS, PING_SECONDS, HOUR_SECONDS = 2.0, 1.0, 3600.0
FOLD_LAG_SECONDS = LONGEST_FLUSH_SECONDS + 1.0  # by then every worker has flushed

log = structlog.get_logger("jobs")


def refresh_feeds(site: Site) -> None:
    """Publish what is due and rebuild the feeds when an update or a new hour asks for it."""
    try:
        refresh(site, site.clock())
    except PublisherError as error:
        log.warning("rebuild postponed", reason=str(error))


def fold_polls(site: Site) -> None:
    """Bring the polls that the workers have counted into the readers' tables."""
    lag = timedelta(seconds=FOLD_LAG_SECONDS / real_seconds(site.clock, 1.0))
    try:
        with site.database.read() as session:
            smallest = load_settings(session).rule.menu.smallest
        fold(site.database, smallest, site.clock() - lag)
    except PublisherError as error:
        log.warning("polls wait", reason=str(error))


def send_pings(site: Site) -> None:
    """Tell hubs and cloud of new content, and try again where they did not answer."""
    send = outbox.sender(f"Publisher (+{site.site_url}/)", site.environment.allow_private)
    try:
        outbox.deliver(site.database, site.clock(), send)
    except PublisherError as error:
        log.warning("pings wait", reason=str(error))


def prune_polls(site: Site) -> None:
    """Forget counts and versions that are older than the author wants them kept."""
    now = site.clock()
    try:
        with site.database.write() as session:
            days = load_settings(session).readers_days
            retention.prune(session, now, days)
            versions.prune(session, now - timedelta(days=days))
            outbox.prune(session, now - timedelta(days=days))
    except PublisherError as error:
        log.warning("old counts kept for now", reason=str(error))


def make_scheduler(site: Site) -> BackgroundScheduler:
    """APScheduler with every job of a site; not started yet.

    The tick follows the site's clock, so that a fast day has all its hours.
    """
    scheduler = BackgroundScheduler(
        timezone="UTC",
        executors={"default": ThreadPoolExecutor(4)},
        job_defaults={"max_instances": 1, "coalesce": True, "misfire_grace_time": None},
    )
    tick = max(SHORTEST_TICK_SECONDS, min(TICK_SECONDS, real_seconds(site.clock, 60.0)))
    for job, seconds in (
        (refresh_feeds, tick),
        (fold_polls, FOLD_SECONDS),
        (send_pings, PING_SECONDS),
        (prune_polls, HOUR_SECONDS),
        (service.tidy, HOUR_SECONDS),
    ):
        scheduler.add_job(job, "interval", [site], seconds=seconds, id=job.__name__)
    return scheduler


def run_forever(parent_pid: int) -> None:
    """The scheduler process: works until SIGTERM, or until the process that started it is gone."""
    os.umask(0o077)
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which tells us
    logs.configure()
    site = open_site(read_environment())
    scheduler = make_scheduler(site)
    scheduler.start()
    river = threading.Thread(target=service.keep_working, args=[site, stop], name="river")
    river.start()
    while not stop.wait(0.5) and os.getppid() == parent_pid:
        pass
    stop.set()
    scheduler.shutdown(wait=True)
    river.join()
    site.database.close()


if __name__ == "__main__":  # `serve` starts it so, and `ps` shows what it is
    run_forever(parent_pid=int(sys.argv[1]))
