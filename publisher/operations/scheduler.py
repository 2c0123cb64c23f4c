"""The scheduler process: hourly rebuild, due posts, outgoing pings, poll counts, river, clean-up.

`serve` starts exactly one beside its web workers. Each job is idempotent and looks for itself
whether anything is due, so that sleep, a restart or a second scheduler do no harm.
"""

import gc
import logging
import math
import os
import sys
import threading
from collections.abc import Callable
from datetime import timedelta
from functools import partial

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from sqlalchemy import func, select

from publisher.base import heartbeat, logs
from publisher.base.child_process import end_with_parent
from publisher.base.clock import monotonic_seconds, real_seconds
from publisher.base.environment import read_environment
from publisher.base.errors import PublisherError
from publisher.base.logs import get_logger
from publisher.blog import posts
from publisher.foreign import mirror_poll
from publisher.installation import Site, open_site
from publisher.operations import long_work
from publisher.publishing import versions
from publisher.publishing.mentioning import receiving
from publisher.publishing.push import outbox, purge
from publisher.publishing.rebuild import refresh
from publisher.readers import retention
from publisher.readers.counter import LONGEST_FLUSH_SECONDS
from publisher.readers.fold import fold
from publisher.river import service
from publisher.settings import load_settings
from publisher.storage.postgresql import Alone
from publisher.storage.tables.publishing import Delivery
from publisher.storage.tables.readers import PollBatch

HOUR_SECONDS, QUARTER_SECONDS = 3600.0, 900.0
SHORTEST_REST_SECONDS, LONGEST_REST_SECONDS = 0.05, 60.0
AGAIN_SECONDS, FOLD_SECONDS = 1.0, 5.0
LONGEST_JOB_SECONDS = 300.0  # then it is taken to hang, and the heartbeat ends
FOLD_LAG_SECONDS = LONGEST_FLUSH_SECONDS + 1.0  # by then every worker has flushed
_PARENT_SECONDS = 5.0

log = get_logger("jobs")


def refresh_feeds(site: Site) -> float:
    """Publish what is due and rebuild the feeds when an update or a new hour asks for it.

    As of the other errands, the result says in how many seconds of the site's clock to look again.
    """
    now = site.clock()
    refresh(site)
    with site.database.read() as session:
        due = posts.next_due(session)
    # In whatever zone the author lives, an hour begins at a quarter of an hour of UTC.
    rest = QUARTER_SECONDS - now.timestamp() % QUARTER_SECONDS
    if due is not None:  # one that is due already could not be published: again soon
        rest = min(rest, (due - now).total_seconds() if due > now else AGAIN_SECONDS)
    return rest


def fold_polls(site: Site) -> float:
    """Bring the polls that the workers have counted into the readers' tables."""
    speed = real_seconds(site.clock, 1.0)
    with site.database.read() as session:
        if session.scalar(select(PollBatch.id).limit(1)) is None:
            return FOLD_SECONDS / speed
        smallest = load_settings(session).rule.menu.smallest
    fold(site.database, smallest, site.clock() - timedelta(seconds=FOLD_LAG_SECONDS / speed))
    return FOLD_SECONDS / speed


def look_at_origins(site: Site) -> float:
    """Look at the feeds that are mirrored, and build their documents for each hour."""
    return mirror_poll.work(site)


def send_pings(site: Site) -> float:
    """Tell hubs, cloud, linked pages and a CDN, and try again where they did not answer."""
    site_url, private, purging = site.site_url, site.environment.allow_private, None
    if setting := site.environment.purge:
        purging = partial(purge.send, purge=setting, site_url=site_url, allow_private=private)
        purge.request_calls(site)
    send = outbox.sender(site_url, private, purging)
    outbox.deliver(site.database, site.clock(), send)
    with site.database.read() as session:
        due = session.scalar(select(func.min(Delivery.next_at)))
    return math.inf if due is None else (due - site.clock()).total_seconds()


def look_at_mentions(site: Site) -> float:
    """Look at the pages that say they link to a post."""
    due = receiving.look(site, site.clock())
    return math.inf if due is None else (due - site.clock()).total_seconds()


_SHORT = (refresh_feeds, fold_polls, send_pings, look_at_origins, look_at_mentions)


class Errand(threading.Thread):
    """A job that is done at once when somebody asks, and by itself when its time has come.

    What is asked for while it is being done is done once more. A failure is tried again soon.
    """

    def __init__(self, job: Callable[[Site], float], site: Site) -> None:
        super().__init__(name=job.__name__)
        self._job = job
        self._site = site
        self._asked, self._over = threading.Event(), False
        self._begun_at: float | None = None

    @property
    def works(self) -> bool:
        """Whether it waits, or is at a job that has not taken suspiciously long."""
        begun_at = self._begun_at
        hangs = begun_at is not None and monotonic_seconds() - begun_at > LONGEST_JOB_SECONDS
        return self.is_alive() and not hangs

    def ask(self) -> None:
        """Have it done soon."""
        self._asked.set()

    def end(self) -> None:
        """End the thread, and wait for what it is at."""
        self._over = True
        self._asked.set()
        self.join()

    def run(self) -> None:
        """Do the job again and again."""
        while not self._over:
            self._asked.clear()
            self._begun_at = monotonic_seconds()
            try:
                rest = real_seconds(self._site.clock, 1.0) * self._job(self._site)
            except PublisherError as error:
                log.warning("a job is postponed", job=self.name, reason=str(error))
                rest = AGAIN_SECONDS
            except Exception:
                log.exception("a job failed", job=self.name)
                rest = AGAIN_SECONDS
            self._begun_at = None
            self._asked.wait(max(SHORTEST_REST_SECONDS, min(rest, LONGEST_REST_SECONDS)))


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


def make_scheduler(site: Site, refreshing: Errand) -> BackgroundScheduler:
    """APScheduler with what is done by the hour; not started yet."""
    scheduler = BackgroundScheduler(
        timezone="UTC",
        executors={"default": ThreadPoolExecutor(2)},
        job_defaults={"max_instances": 1, "coalesce": True, "misfire_grace_time": None},
    )
    scheduler.add_job(refreshing.ask, "cron", minute="*/15", id="hour")  # see `refresh_feeds`
    for job in (prune_polls, service.tidy):
        scheduler.add_job(job, "interval", [site], seconds=HOUR_SECONDS, id=job.__name__)
    return scheduler


def run_forever(parent_pid: int) -> None:
    """The scheduler process: works until SIGTERM, or until the process that started it is gone.

    It sleeps until something is due, or until the bell says that somebody has written.
    """
    stop = threading.Event()
    logs.configure()
    # A tick that finds the one before still at work is skipped: that is meant, and no news.
    logging.getLogger("apscheduler").setLevel(logging.ERROR)
    site = open_site(read_environment())
    bell = site.database.listen()

    def told(*_: object) -> None:
        stop.set()
        bell.wake()

    end_with_parent(parent_pid, told)
    right = site.database.right_to_schedule()
    if not _alone(site, right, stop):
        return
    long_work.begin(site)
    worker = long_work.LongWork()
    short = [Errand(job, site) for job in _SHORT]
    errands = [*short, Errand(worker.do_jobs, site)]  # which may take hours
    scheduler = make_scheduler(site, errands[0])
    gc.freeze()  # what is loaded stays: not to be looked through in each collection
    river = threading.Thread(target=service.keep_working, args=[site, stop], name="river")
    for work in (scheduler, river, *errands):
        work.start()
    log.info("the scheduler works", pid=os.getpid())
    pause = _PARENT_SECONDS if site.database.tells else AGAIN_SECONDS
    while not stop.is_set() and os.getppid() == parent_pid:
        if all(errand.works for errand in short) and river.is_alive():
            heartbeat.beat(site.environment.instance)
        if right is not None and not right.taken():
            log.warning("the database server broke off; another machine may schedule now")
            break
        if bell.wait(pause) or not site.database.tells:
            for errand in errands:
                errand.ask()
    stop.set()
    worker.stop()
    for errand in errands:
        errand.end()
    scheduler.shutdown(wait=True)
    river.join()
    bell.close()
    if right is not None:
        right.give_up()
    heartbeat.end(site.environment.instance)
    site.database.close()
    log.info("the scheduler ended")


def _alone(site: Site, right: Alone | None, stop: threading.Event) -> bool:
    """Wait until no other machine schedules for this site; False when told to stop meanwhile."""
    while right is not None and not right.taken():
        heartbeat.beat(site.environment.instance)
        if stop.wait(_PARENT_SECONDS):
            return False
    return True


if __name__ == "__main__":  # `serve` starts it so, and `ps` shows what it is
    run_forever(parent_pid=int(sys.argv[1]))
