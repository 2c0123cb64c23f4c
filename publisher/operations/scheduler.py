"""The jobs of a site: hourly rebuild, due posts, outgoing pings, poll counts, clean-up, and the
jobs of parts.

One process runs them: the scheduler, of which `serve` starts exactly one beside its web workers, or
a web process of another server. Each job is idempotent and checks itself whether anything is due,
so that sleep, a restart or a second scheduler do no harm.
"""

import gc
import logging
import math
import os
import signal
import threading
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from sqlalchemy import func, select

from publisher.base.clock import monotonic_seconds, real_seconds
from publisher.base.environment import Environment, read_environment
from publisher.base.errors import PublisherError
from publisher.base.system import logs, processes
from publisher.base.system.logs import get_logger
from publisher.base.system.processes import end_with_parent
from publisher.blog.writing import autosave, posts
from publisher.installation import Site, open_site, recall, remember
from publisher.installation.settings import load_settings
from publisher.operations import long_jobs
from publisher.part import all_parts
from publisher.publishing import outbox, purge, snapshots
from publisher.publishing.rebuild import rebuild_if_due
from publisher.storage.leader import Lease
from publisher.storage.tables.publishing import Delivery

HOUR_SECONDS, QUARTER_SECONDS = 3600.0, 900.0
SHORTEST_REST_SECONDS, LONGEST_REST_SECONDS = 0.05, 300.0
FEEDS_REST_SECONDS = 60.0  # no post is later, even if the notice of it was lost
JUMP_SECONDS = 1.0
AGAIN_SECONDS = 1.0
LONGEST_JOB_SECONDS = 300.0  # of most jobs; then the heartbeat stops, and the process is replaced
LONGEST_REFRESH_SECONDS, LONGEST_UPKEEP_SECONDS = 60.0, 3600.0
UPKEPT_AT = "upkept_at"  # in `meta`
_PARENT_SECONDS = 5.0
LEAVE_SECONDS = 15  # longer than `serve` waits, so only where that is gone

SENDERS: Mapping[str, outbox.Send] = {
    outbox.WEBSUB: outbox.ping, outbox.RSSCLOUD: outbox.ping, outbox.PURGE: purge.send,
}  # fmt: skip

log = get_logger("jobs")


def refresh_feeds(site: Site) -> float:
    """Publish due posts, and rebuild the feeds after an update or at a new hour.

    Returns, as all jobs do, the seconds by the site's clock until it should run again.
    """
    now = site.clock()
    rebuild_if_due(site)
    with site.database.read() as session:
        due = posts.next_due(session)
    # In every time zone, an hour begins at a quarter of an hour of UTC.
    seconds = QUARTER_SECONDS - now.timestamp() % QUARTER_SECONDS
    if due is not None:  # a post that is still due could not be published: try again soon
        seconds = min(seconds, (due - now).total_seconds() if due > now else AGAIN_SECONDS)
    return seconds


def send_pings(site: Site) -> float:
    """Send what waits in the outbox: pings, purge requests, what parts send; retry what failed.

    What is of a part that is off waits."""
    purge.request_calls(site)
    added = {kind: part.load(send) for part in site.parts for kind, send in part.senders.items()}
    senders = {**SENDERS, **added}
    outbox.deliver(site, senders)
    with site.database.read() as session:
        ours = select(func.min(Delivery.next_at)).where(Delivery.protocol.in_(senders))
        due = session.scalar(ours)
    return math.inf if due is None else (due - site.clock()).total_seconds()


class RepeatingJob(threading.Thread):
    """A thread that runs a job when asked to, and when the time has come that the job returned.

    If it is asked while the job runs, the job runs once more. After a failure it is retried soon.
    """

    def __init__(
        self,
        job: Callable[[Site], float],
        site: Site,
        most_seconds: float = LONGEST_JOB_SECONDS,
        rest_seconds: float = LONGEST_REST_SECONDS,
    ) -> None:
        """`most_seconds`: how long the job may run until it counts as hanging; `rest_seconds`: how
        long it may rest, whatever it returned."""
        super().__init__(name=job.__name__, daemon=True)
        self._job, self._most_seconds, self._rest_seconds = job, most_seconds, rest_seconds
        self._site = site
        self._requested, self._over = threading.Event(), False
        self._begun_at: float | None = None

    @property
    def works(self) -> bool:
        """Whether the thread lives, and its job has not run longer than it may."""
        begun_at = self._begun_at
        hangs = begun_at is not None and monotonic_seconds() - begun_at > self._most_seconds
        return self.is_alive() and not hangs

    def run_soon(self) -> None:
        """Run the job soon."""
        self._requested.set()

    def end(self) -> None:
        """End the thread, after its present job."""
        self._over = True
        self._requested.set()
        self.join()

    def run(self) -> None:
        """Run the job again and again."""
        while not self._over:
            self._requested.clear()
            self._begun_at = monotonic_seconds()
            try:
                seconds = real_seconds(self._site.clock, 1.0) * self._job(self._site)
            except PublisherError as error:
                log.warning("a job is postponed", job=self.name, reason=str(error))
                seconds = AGAIN_SECONDS
            except Exception:
                log.exception("a job failed", job=self.name)
                seconds = AGAIN_SECONDS
            self._begun_at = None
            self._requested.wait(max(SHORTEST_REST_SECONDS, min(seconds, self._rest_seconds)))


def tidy_up(site: Site) -> None:
    """Delete versions and messages older than the setting `readers_days`, and unsaved texts that
    were offered long enough."""
    now = site.clock()
    with site.database.write() as session:
        days = load_settings(session).readers_days
        snapshots.prune_versions(session, now - timedelta(days=days))
        outbox.prune(session, now - timedelta(days=days))
        autosave.prune(session, now)


def run_upkeep(site: Site) -> float:
    """Delete by age and tidy, every hour by the site's clock; when it was last done is stored, so
    that a site that never runs for an hour does it too."""
    now = site.clock()
    with site.database.read() as session:
        last = recall(session, UPKEPT_AT)
    since = (now - datetime.fromisoformat(last)).total_seconds() if last else HOUR_SECONDS
    if 0.0 <= since < HOUR_SECONDS:  # else the clock went back
        return HOUR_SECONDS - since
    upkeep = (part.load(job) for part in all_parts().values() for job in part.upkeep)
    for job in (tidy_up, *upkeep):
        try:
            job(site)
        except PublisherError as error:
            log.warning("old rows were not deleted", job=job.__name__, reason=str(error))
        except Exception:
            log.exception("a job failed", job=job.__name__)
    with site.database.write(quiet=True) as session:
        remember(session, UPKEPT_AT, now.isoformat())
    return HOUR_SECONDS


def make_scheduler(site: Site, refreshing: RepeatingJob) -> BackgroundScheduler:
    """APScheduler, which asks for the feeds' rebuild at each new hour; not started yet."""
    scheduler = BackgroundScheduler(
        timezone="UTC",
        executors={"default": ThreadPoolExecutor(2)},
        job_defaults={"max_instances": 1, "coalesce": True, "misfire_grace_time": None},
    )
    scheduler.add_job(refreshing.run_soon, "cron", minute="*/15", id="hour")  # see `refresh_feeds`
    return scheduler


class Jobs:
    """All jobs of a site, in threads of this process. They use and close a database of their own:
    who writes for another leader is refused, and a person's page must not be."""

    def __init__(self, environment: Environment, pipe: int | None = None) -> None:
        """`pipe` is written to as long as the jobs make progress."""
        self._site = open_site(environment)
        self._listener = self._site.database.listen()
        self._stop = threading.Event()
        self._beat = partial(processes.beat, environment.instance, pipe)

    def stop(self) -> None:
        """End `run`, which another thread or this one is in."""
        self._stop.set()
        self._listener.wake()

    def run(self, goes_on: Callable[[], bool]) -> None:
        """Run the jobs until `stop`, until `goes_on` says no, or until another machine leads.

        It sleeps until something is due, or until a notice says that something was written. As long
        as the jobs make progress it renews its lease among the machines.
        """
        # APScheduler warns when it skips a job that still runs from the last time: as intended.
        logging.getLogger("apscheduler").setLevel(logging.ERROR)
        database = self._site.database
        lease = Lease(database) if database.on_server else None
        if self._leads(lease, goes_on):
            self._work(lease, goes_on)
        self._listener.close()
        database.close()

    def _work(self, lease: Lease | None, goes_on: Callable[[], bool]) -> None:
        site, stop = self._site, self._stop
        long_jobs.clean_up_at_start(site)
        long_job_runner = long_jobs.LongJobRunner()
        jobs = (send_pings, *(part.load(job) for part in site.parts for job in part.jobs))
        short = [
            RepeatingJob(refresh_feeds, site, LONGEST_REFRESH_SECONDS, FEEDS_REST_SECONDS),
            *(RepeatingJob(job, site) for job in jobs),
            RepeatingJob(run_upkeep, site, LONGEST_UPKEEP_SECONDS),
        ]
        long_job = RepeatingJob(long_job_runner.do_jobs, site)  # may take hours
        repeating = [*short, long_job]
        scheduler = make_scheduler(site, repeating[0])
        workers = _workers(site, stop)
        now, now_at = site.clock(), monotonic_seconds()
        for work in (scheduler, *workers, *repeating):
            work.start()
        log.info("the scheduler works", pid=os.getpid())
        while not stop.is_set() and goes_on():
            if all(job.works for job in short) and all(work.is_alive() for work in workers):
                if lease is not None and not lease.held():
                    log.warning("another machine may schedule now")
                    break
                self._beat()
            came = self._listener.wait(_PARENT_SECONDS)
            before, before_at, now, now_at = now, now_at, site.clock(), monotonic_seconds()
            passed = real_seconds(site.clock, (now - before).total_seconds())
            # The clock may be set, and a machine that was asleep has counted no seconds.
            if came or abs(passed - (now_at - before_at)) > JUMP_SECONDS:
                for job in repeating:
                    job.run_soon()
        stop.set()
        site.database.wake()  # what listens in the workers' threads
        long_job_runner.stop()
        for job in repeating:
            job.end()
        scheduler.shutdown(wait=True)
        for work in workers:
            work.join()
        if lease is not None:
            lease.give_up()
        processes.end_heartbeat(site.environment.instance)
        log.info("the scheduler ended")

    def _leads(self, lease: Lease | None, goes_on: Callable[[], bool]) -> bool:
        """Wait until no other machine schedules for this site; False if stopped meanwhile."""
        self._beat()
        while lease is not None and not lease.held():
            self._beat()
            if self._stop.wait(_PARENT_SECONDS) or not goes_on():
                return False
        return True


def run_forever(pipe: int, parent_pid: int) -> None:
    """The scheduler process: works until SIGTERM, or until the process that started it is gone."""
    logs.configure()
    jobs = Jobs(read_environment(), pipe)

    def on_stop(*_: object) -> None:
        jobs.stop()
        signal.alarm(LEAVE_SECONDS)  # ends the process where a job still waits for something

    end_with_parent(parent_pid, on_stop)
    os.set_blocking(pipe, False)
    gc.freeze()  # loaded modules stay: collections need not scan them
    jobs.run(lambda: os.getppid() == parent_pid)


def _workers(site: Site, stop: threading.Event) -> list[threading.Thread]:
    """The threads of parts, which work until `stop` is set; not started yet."""
    return [
        threading.Thread(target=part.load(worker), args=[site, stop], name=part.name, daemon=True)
        for part in site.parts
        for worker in part.workers
    ]
