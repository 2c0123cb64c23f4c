"""Long jobs that were started in the studio, and due backups, run one by one by the scheduler.

Each runs as a command in a process of its own (`publisher import`, `export`, `backup`), with limits
in case a stranger's file makes a parser hang or grow. Its standard output is the report; lines of
its standard error that begin with `progress:` are its progress.
"""

import json
import math
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from time import monotonic, sleep
from typing import Any

from publisher.base.errors import PublisherError, StorageUnavailable
from publisher.base.system.logs import get_logger
from publisher.blog import update_log
from publisher.exchange import jobs
from publisher.installation import Site, recall, remember
from publisher.installation.settings import Settings, load_settings
from publisher.part import hooked
from publisher.storage.tables.blog import Job

log = get_logger("long jobs")

MOST_SECONDS, MOST_BYTES = 3 * 3600.0, 4 * 1024**3
TOLD_EVERY_SECONDS = 1.0
PROGRESS = "progress:"
AGAIN = timedelta(hours=1)  # after a scheduled backup that failed


class LongJobRunner:
    """Runs one job after another; `stop` ends the one that is running."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[str] | None = None
        self._stopped = False
        self._tried = datetime.min.replace(tzinfo=UTC)

    def do_jobs(self, site: Site) -> float:
        """Do the waiting job or the due backup; returns the seconds until the next check."""
        now = site.clock()
        with site.database.read() as session:
            job = jobs.next_waiting(session)
            settings = load_settings(session)
        if job is not None:
            self._do(site, job)
            return 0.0
        due = jobs.next_backup_due(settings, now)
        if due is None:
            return math.inf
        due = max(due, self._tried + AGAIN) if now - AGAIN < self._tried <= now else due
        if due <= now:
            self._tried = now
            self._back_up(site, settings, now)
            return 0.0
        return (due - now).total_seconds()

    def stop(self) -> None:
        """End the running job; nothing half done is left."""
        self._stopped = True
        if self._child is not None:
            self._child.terminate()

    def _do(self, site: Site, job: Job) -> None:
        with site.database.write() as session:
            jobs.get(session, job.id).state = jobs.WORKING

        def tell(words: str) -> None:
            # While an import stores posts it holds the write lock: then its progress is skipped.
            with suppress(StorageUnavailable), site.database.write() as session:
                jobs.get(session, job.id).told = words

        report, trouble = self._run(command(site, job), tell, site)
        if job.file and job.options.get("source"):  # show the name that its owner gave the file
            trouble = trouble.replace(job.file, job.options["source"])
        while True:
            try:
                _end(site, job.id, report, trouble)
                break
            except StorageUnavailable:
                if self._stopped:
                    raise
                sleep(TOLD_EVERY_SECONDS)
        log.info("a job is done", kind=job.kind, number=job.id, trouble=trouble)

    def _back_up(self, site: Site, settings: Settings, now: datetime) -> None:
        """Make a scheduled backup, then delete the oldest ones beyond the number to keep."""
        target = jobs.backup_path(settings, now)
        _, trouble = self._run(["backup", str(target)], lambda _: None, site)
        with site.database.write() as session:
            if trouble != (recall(session, jobs.BACKUP_TROUBLE) or ""):
                remember(session, jobs.BACKUP_TROUBLE, trouble)
        if trouble:
            log.warning("the scheduled backup failed", reason=trouble)
            return
        jobs.drop_old_backups(settings, now)

    def _run(
        self, arguments: list[str], tell: Callable[[str], None], site: Site
    ) -> tuple[dict[str, Any], str]:
        """Run a command; returns its report (see `_report`), and its error message or ""."""
        with subprocess.Popen(
            [sys.executable, "-m", "publisher", *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=site.environment.variables(),
        ) as child:  # fmt: skip
            self._child = child
            _limit(child.pid)
            if self._stopped:
                child.terminate()
            timer = threading.Timer(MOST_SECONDS, child.kill)
            timer.daemon = True
            timer.start()
            printed: list[str] = []
            reader = threading.Thread(target=lambda: printed.extend(child.stdout or ()))
            reader.start()
            last = _follow(child, tell)
            reader.join()
            timer.cancel()
        self._child = None
        if child.returncode:
            if self._stopped or child.returncode < 0:
                return {}, "it was stopped before it was done; nothing was changed"
            return {}, last.removeprefix("publisher: ") or "it failed without saying why"
        return _report(printed), ""


def _end(site: Site, number: int, report: dict[str, Any], trouble: str) -> None:
    """Store the result of a job; raises StorageUnavailable."""
    with site.database.write() as session:
        row = jobs.get(session, number)
        if trouble:
            jobs.fail(row, trouble, site.clock())
        else:
            jobs.succeed(row, report, site.clock())
        jobs.forget_old(session, site.environment, site.clock())


def command(site: Site, job: Job) -> list[str]:
    """The command that does a job."""
    place = jobs.folder(site.environment) / job.file
    commands = (long_job(job, str(place)) for long_job in hooked(site.parts, "long_job"))
    return next(filter(None, commands), [job.kind, str(place), "--progress"])


def clean_up_at_start(site: Site) -> None:
    """At the scheduler's start: fail jobs left unfinished, and make the log's checkpoint exact."""
    try:
        with site.database.write() as session:
            jobs.interrupted(session, site.clock())
        update_log.fold_anew(site.database)
    except PublisherError as error:
        log.warning("the clean-up at the start failed", reason=str(error))


def _limit(pid: int) -> None:
    """Limit the child's memory, and lower its CPU priority."""
    if sys.platform == "linux":
        resource.prlimit(pid, resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    os.setpriority(os.PRIO_PROCESS, pid, 5)


def _follow(child: subprocess.Popen[str], tell: Callable[[str], None]) -> str:
    """Pass on progress lines, not too often; returns the last line that is none."""
    last, told_at = "", 0.0
    for line in child.stderr or ():
        if not line.startswith(PROGRESS):
            last = line.strip() or last
        elif monotonic() - told_at > TOLD_EVERY_SECONDS:
            told_at = monotonic()
            tell(line.removeprefix(PROGRESS).strip()[:200])
    return last[:500]


def _report(printed: list[str]) -> dict[str, Any]:
    text = "".join(printed)
    try:
        report = json.loads(text)
    except ValueError:
        return {"facts": [line.strip() for line in printed]}
    return report if isinstance(report, dict) else {}
