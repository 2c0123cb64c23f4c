"""`/studio/moving`: import, export and backups, as jobs that the scheduler runs (`exchange.jobs`).

The page of a job reloads itself until the job is done.
"""

import os
import re
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from flask import Blueprint, redirect, render_template, request, send_file, url_for
from werkzeug.datastructures import FileStorage
from werkzeug.wrappers import Response

from publisher.base.errors import FieldErrors, NotFound, PublisherError
from publisher.base.net import check_url
from publisher.blog.members import authors
from publisher.exchange import jobs
from publisher.installation import recall
from publisher.installation.settings import load_settings, store_settings
from publisher.storage.tables.blog import JobKind
from publisher.web.context import me, need_admin, now, site
from publisher.web.rendering import part_is_on
from publisher.web.request_checks import MOVING_BYTES
from publisher.web.studio.preferences.setting_controls import BACKUPS

blueprint = Blueprint("moving", __name__)
blueprint.before_request(need_admin)

_ENDING = re.compile(r"\.(xml|rss|atom|json|zip|md|markdown|csv|bar|txt)", re.IGNORECASE)
RELOAD_SECONDS = "2"
WORDS = {"import": "Import", "export": "Export", "backup": "Backup"}


@blueprint.get("/moving")
def page(errors: Mapping[str, str] | None = None) -> str:
    """The forms, and the recent jobs."""
    with site().database.read() as db:
        settings = load_settings(db)
        known = {name: str(getattr(settings, name)) for name in BACKUPS}
        newest = jobs.newest_backup(settings, now())
        people = ((one.name, one.display_name) for one in authors.everyone(db))
        return render_template(
            "settings/moving.html",
            errors=errors or {},
            on_server=site().database.on_server,
            values={"address": "", "heir": me().name, **known, **request.form.to_dict()},
            people=[("", "nobody"), *people],
            newest=newest,
            # Older than two intervals: something prevents backups.
            late=newest is not None and now() - newest > 2 * timedelta(hours=settings.backup_hours),
            trouble=recall(db, jobs.BACKUP_TROUBLE) or "",
            latest=jobs.latest(db, 10),
            words=WORDS,
            most=MOVING_BYTES // 1024**2,
        )


@blueprint.post("/moving/import")
def try_import() -> Any:
    """Request a preview of an import from a file or an address; nothing is changed."""
    if not part_is_on("importing"):
        raise NotFound("the part importing is off")
    file, address = request.files.get("file"), request.form.get("address", "").strip()
    options: dict[str, Any] = {
        "dry_run": True,
        "images": bool(request.form.get("images")),
        "heir": request.form.get("heir", ""),
    }
    name = _kept(file) if file is not None and file.filename else ""
    if not name:
        options["address"] = _checked(address)
    options["source"] = (file.filename or "")[-100:] if file and name else address
    with site().database.write() as db:
        if options["heir"]:
            authors.named(db, options["heir"])
        number = jobs.ask(db, "import", me().id, now(), options, name).id
    return _to(number)


@blueprint.post("/moving/jobs/<int:number>/go")
def go(number: int) -> Any:
    """Request the import that was previewed."""
    with site().database.write() as db:
        tried = jobs.get(db, number)
        if tried.kind != "import" or tried.state != jobs.DONE or not tried.options.get("dry_run"):
            raise NotFound("there is nothing to import here")
        options = {**tried.options, "dry_run": False}
        number = jobs.ask(db, "import", me().id, now(), options, tried.file).id
    return _to(number)


@blueprint.post("/moving/export", defaults={"kind": "export"})
@blueprint.post("/moving/backup", defaults={"kind": "backup"})
def ask(kind: JobKind) -> Response:
    """Request an export or a backup, to be downloaded."""
    with site().database.write() as db:
        number = jobs.ask(db, kind, me().id, now()).id
    return _to(number)


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
        found = jobs.get(db, number)
        going = found.state in (jobs.WAITING, jobs.WORKING)
        text = render_template("settings/job.html", job=found, going=going, words=WORDS)
    refresh = {"Refresh": RELOAD_SECONDS} if going else {}
    return text, {"Cache-Control": "no-store", **refresh}


@blueprint.get("/moving/jobs/<int:number>/file")
def download(number: int) -> Any:
    """Download the file that a job made."""
    with site().database.read() as db:
        found = jobs.get(db, number)
    place = jobs.folder(site().environment) / found.file
    if found.kind not in jobs.ENDINGS or found.state != jobs.DONE or not place.is_file():
        raise NotFound("there is no such file, or it has been deleted")
    ending = jobs.ENDINGS[found.kind]
    name = f"{found.kind}-{found.created_at:%Y-%m-%d}{ending}"
    answer = send_file(place, as_attachment=True, download_name=name)
    answer.headers["Cache-Control"] = "private, no-store"
    return answer


@blueprint.errorhandler(FieldErrors)
def refuse(error: FieldErrors) -> Any:
    """Answer an invalid form with the same page, the typed values and the problems."""
    return page(error.fields), error.http_status


def _kept(file: FileStorage) -> str:
    """Store an upload for the import job; returns its name."""
    ending = _ENDING.search((file.filename or "")[-12:])
    if ending is None:
        raise FieldErrors(
            {"file": "a file that ends in .xml, .json, .csv, .zip, .bar or .md is needed"}
        )
    name = jobs.new_name("import", ending[0].lower())
    file.save(jobs.folder(site().environment) / name)
    return name


def _checked(address: str) -> str:
    if not address:
        raise FieldErrors({"file": "choose a file, or name the address of a feed"})
    try:
        return check_url(address)
    except (ValueError, PublisherError) as error:
        raise FieldErrors({"address": str(error)}) from error


def _to(number: int) -> Response:
    return redirect(url_for("studio.moving.job", number=number))
