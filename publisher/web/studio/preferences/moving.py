"""`/studio/moving`: export and backups, as jobs that the scheduler runs (`exchange.jobs`), and what
parts add.

The page of a job reloads itself until the job is done.
"""

import os
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from flask import Blueprint, redirect, render_template, request, send_file, url_for
from werkzeug.wrappers import Response

from publisher.base.errors import FieldErrors, NotFound
from publisher.blog.members import authors
from publisher.exchange import jobs
from publisher.installation import recall
from publisher.installation.settings import load_settings, store_settings
from publisher.storage.tables.blog import JobKind
from publisher.web.context import me, need_admin, now, site
from publisher.web.studio.preferences.setting_controls import BACKUPS

blueprint = Blueprint("moving", __name__)
blueprint.before_request(need_admin)

RELOAD_SECONDS = "2"


@blueprint.get("/moving")
def page(errors: Mapping[str, str] | None = None) -> str:
    """The forms, and the recent jobs."""
    with site().database.read() as db:
        settings = load_settings(db)
        backups = {name: str(getattr(settings, name)) for name in BACKUPS}
        newest = jobs.newest_backup(settings, now())
        people = ((person.name, person.display_name) for person in authors.everyone(db))
        return render_template(
            "settings/moving.html",
            errors=errors or {},
            on_server=site().database.on_server,
            values={"address": "", "heir": me().name, **backups, **request.form.to_dict()},
            people=[("", "nobody"), *people],
            newest=newest,
            # Older than two intervals: something prevents backups.
            late=newest is not None and now() - newest > 2 * timedelta(hours=settings.backup_hours),
            trouble=recall(db, jobs.BACKUP_TROUBLE) or "",
            latest=jobs.latest(db, 10),
        )


@blueprint.post("/moving/export", defaults={"kind": "export"})
@blueprint.post("/moving/backup", defaults={"kind": "backup"})
def ask(kind: JobKind) -> Response:
    """Request an export or a backup, to be downloaded."""
    with site().database.write() as db:
        number = jobs.add(db, kind, me().id, now()).id
    return to_job(number)


@blueprint.post("/moving/backups")
def schedule() -> Any:
    """Save the settings of automatic backups: folder, interval, and how many are kept."""
    typed = {name: request.form[name] for name in BACKUPS if name in request.form}
    place = typed.get("backup_folder", "").strip()
    whole = Path(place).is_absolute() and place.isprintable()
    if place and not (whole and os.access(place, os.W_OK | os.X_OK)):
        raise FieldErrors({"backup_folder": "there is no such folder, or it cannot be written to"})
    with site().database.write() as db:
        store_settings(db, typed)
    return redirect(url_for("studio.moving.page"))


@blueprint.get("/moving/jobs/<int:number>")
def job(number: int) -> Any:
    """A job's progress, or its result."""
    with site().database.read() as db:
        job_row = jobs.get(db, number)
        going = job_row.state in (jobs.WAITING, jobs.WORKING)
        text = render_template("settings/job.html", job=job_row, going=going, files=jobs.ENDINGS)
    refresh = {"Refresh": RELOAD_SECONDS} if going else {}
    return text, {"Cache-Control": "no-store", **refresh}


@blueprint.get("/moving/jobs/<int:number>/file")
def download(number: int) -> Any:
    """Download the file that a job made."""
    with site().database.read() as db:
        job_row = jobs.get(db, number)
    place = jobs.folder(site().environment) / job_row.file
    if job_row.kind not in jobs.ENDINGS or job_row.state != jobs.DONE or not place.is_file():
        raise NotFound("there is no such file, or it has been deleted")
    ending = jobs.ENDINGS[job_row.kind]
    name = f"{job_row.kind}-{job_row.created_at:%Y-%m-%d}{ending}"
    answer = send_file(place, as_attachment=True, download_name=name)
    answer.headers["Cache-Control"] = "private, no-store"
    return answer


@blueprint.errorhandler(FieldErrors)
def refuse(error: FieldErrors) -> Any:
    """Answer an invalid form with the same page, the typed values and the problems."""
    return page(error.fields), error.http_status


def to_job(number: int) -> Response:
    """Lead to the page of a job."""
    return redirect(url_for("studio.moving.job", number=number))
