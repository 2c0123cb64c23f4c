"""The queue of long jobs: requested in the studio, done one after the other by the scheduler.

No HTTP request waits for a job. Uploaded and created files are in the folder `jobs` of the
instance, under names that are made here.
Automatic backups need no request: where they are, and when the next one is due.
"""

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.base.environment import Environment
from publisher.base.errors import Conflict, must_exist
from publisher.installation.settings import Settings
from publisher.storage.tables.blog import Job, JobKind, JobState

WAITING: JobState = "waiting"
WORKING: JobState = "working"
DONE: JobState = "done"
FAILED: JobState = "failed"
MOST_WAITING = 20
KEPT = timedelta(days=7)  # files and report of a job
ENDINGS = {"export": ".zip", "backup": ".tar.gz"}


def folder(environment: Environment) -> Path:
    """The folder for files of jobs, which no other user may read."""
    place = environment.instance / "jobs"
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    return place


def new_name(kind: JobKind, ending: str = "") -> str:
    """A name for a file that nobody can guess and no upload can choose."""
    return f"{kind}-{secrets.token_hex(8)}{ENDINGS.get(kind, ending)}"


def add(
    session: Session,
    kind: JobKind,
    author_id: int | None,
    now: datetime,
    options: dict[str, Any] | None = None,
    file: str = "",
) -> Job:
    """Add a job to the queue; Conflict when too many are waiting already."""
    waiting = session.scalars(select(Job.id).where(Job.state == WAITING).limit(MOST_WAITING))
    if len(waiting.all()) >= MOST_WAITING:
        raise Conflict("too many jobs are waiting already; try again when one is done")
    job = Job(
        kind=kind,
        state=WAITING,
        author_id=author_id,
        options=options or {},
        report={},
        file=file or (new_name(kind) if kind in ENDINGS else ""),
        created_at=now,
    )
    session.add(job)
    session.flush()
    return job


def get(session: Session, number: int) -> Job:
    """One job; NotFound when there is none."""
    return must_exist(session.get(Job, number), "there is no such job, or not any more")


def latest(session: Session, limit: int = 20) -> Sequence[Job]:
    """The newest jobs."""
    return session.scalars(select(Job).order_by(Job.id.desc()).limit(limit)).all()


def next_waiting(session: Session) -> Job | None:
    """The job to be done next."""
    query = select(Job).where(Job.state == WAITING).order_by(Job.id).limit(1)
    return session.scalar(query)


def interrupted(session: Session, now: datetime) -> None:
    """At the start of the scheduler: mark jobs as failed that an earlier one had begun."""
    for job in session.scalars(select(Job).where(Job.state == WORKING)):
        fail(job, "the server was stopped during this; start it again", now)


def fail(job: Job, reason: str, now: datetime) -> None:
    """Mark a job as failed: nothing was changed."""
    job.state, job.told, job.finished_at = FAILED, reason, now


def succeed(job: Job, report: dict[str, Any], now: datetime) -> None:
    """Mark a job as done."""
    job.state, job.told, job.report, job.finished_at = DONE, "", report, now


def forget_old(session: Session, environment: Environment, now: datetime) -> None:
    """Remove old jobs with their files, and old files that belong to no job."""
    for job in session.scalars(select(Job).where(Job.created_at < now - KEPT)):
        if job.state not in (WAITING, WORKING):
            session.delete(job)
    session.flush()
    files = set(session.scalars(select(Job.file)))
    for path in folder(environment).iterdir():
        old = path.stat().st_mtime < (now - KEPT).timestamp()
        if old and path.name not in files:
            path.unlink(missing_ok=True)


BACKUP_TROUBLE = "backup_trouble"  # why the last backup failed, "" if it did not
_NAME = "publisher-%Y%m%d-%H%M%S.tar.gz"
_BACKUPS = f"publisher-{'[0-9]' * 8}-{'[0-9]' * 6}.tar.gz"


def backup_path(settings: Settings, now: datetime) -> Path:
    """The path for a backup made now."""
    return Path(settings.backup_folder) / now.strftime(_NAME)


def _backups(settings: Settings, now: datetime) -> list[Path]:
    """The automatic backups in the folder, the oldest first. Those of the future, made while the
    clock was ahead, are passed over."""
    files = sorted(Path(settings.backup_folder).glob(_BACKUPS))
    return [path for path in files if path.name <= now.strftime(_NAME)]


def newest_backup(settings: Settings, now: datetime) -> datetime | None:
    """When the newest backup in the folder was begun, by its name; None where there is none."""
    if not settings.backup_folder:
        return None
    try:
        return datetime.strptime(_backups(settings, now)[-1].name, _NAME).replace(tzinfo=UTC)
    except (OSError, LookupError, ValueError):
        return None


def next_backup_due(settings: Settings, now: datetime) -> datetime | None:
    """When the next one is due; None where none are wanted."""
    if not settings.backup_folder:
        return None
    last = newest_backup(settings, now)
    return now if last is None else last + timedelta(hours=settings.backup_hours)


def drop_old_backups(settings: Settings, now: datetime) -> None:
    """Remove the oldest backups beyond the number to be kept."""
    for old in _backups(settings, now)[: -settings.backup_keep]:
        old.unlink(missing_ok=True)
