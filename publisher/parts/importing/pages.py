"""The studio's forms for imports: a preview from a file or an address, and the import itself.

Both are jobs that the scheduler runs (`exchange.jobs`).
"""

import re
from pathlib import Path
from typing import Any

from flask import Blueprint, render_template, request, send_file
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.datastructures import FileStorage

from publisher.base.errors import FieldErrors, NotFound, PublisherError
from publisher.base.net import check_url
from publisher.blog.members import authors
from publisher.exchange import jobs
from publisher.parts.importing.part import IMPORT_BYTES
from publisher.storage.tables.blog import Job, Update
from publisher.web.context import me, need_admin, now, site
from publisher.web.studio.preferences import moving
from publisher.web.studio.preferences.moving import to_job

blueprint = Blueprint("importing", __name__, url_prefix="/studio/moving")
blueprint.before_request(need_admin)
blueprint.register_error_handler(FieldErrors, moving.refuse)

_ENDING = re.compile(r"\.(xml|rss|atom|json|zip|md|markdown|csv|bar|txt)", re.IGNORECASE)


def form(**values: Any) -> str:
    """The form, on the page of exports and backups."""
    return render_template("importing/form.html", most=IMPORT_BYTES // 1024**2, **values)


def done(job: Job) -> str:
    """What an import did, or would do, on the page of its job."""
    return render_template("importing/done.html", job=job) if job.kind == "import" else ""


def first_steps(session: Session) -> list[tuple[str, str, bool]]:
    """The step for an author who wrote elsewhere."""
    imported = session.scalar(select(Update.id).where(Update.kind == "import").limit(1))
    return [("Import what you wrote elsewhere", "/studio/moving", imported is not None)]


def command(job: Job, place: str) -> list[str]:
    """The command that does an import from a file at a place, or from an address."""
    if job.kind != "import":
        return []
    options = job.options
    command = ["import", options.get("address") or place, "--json", "--progress"]
    command += ["--dry-run"] if options.get("dry_run") else []
    command += ["--images"] if options.get("images") else []
    command += ["--report", str(_report(Path(place).parent if job.file else Path(place), job.id))]
    return [*command, "--author", options["heir"]] if options.get("heir") else command


def _report(folder: Path, number: int) -> Path:
    """The file with the whole list of what needs a hand."""
    return folder / f"report-{number}.txt"


@blueprint.get("/jobs/<int:number>/report")
def report(number: int) -> Any:
    """Download the whole list of what needs a hand after an import."""
    with site().database.read() as db:
        job = jobs.get(db, number)
    place = _report(jobs.folder(site().environment), number)
    if job.kind != "import" or job.state != jobs.DONE or not place.is_file():
        raise NotFound("there is no such list, or it has been deleted")
    answer = send_file(place, "text/plain", True, f"import-{number}.txt")
    answer.headers["Cache-Control"] = "private, no-store"
    return answer


@blueprint.post("/import")
def try_import() -> Any:
    """Request a preview of an import from a file or an address; nothing is changed."""
    file, address = request.files.get("file"), request.form.get("address", "").strip()
    options: dict[str, Any] = {
        "dry_run": True,
        "images": bool(request.form.get("images")),
        "heir": request.form.get("heir", ""),
    }
    name = _stored(file) if file is not None and file.filename else ""
    if not name:
        options["address"] = _checked(address)
    options["source"] = (file.filename or "")[-100:] if file and name else address
    with site().database.write() as db:
        if options["heir"]:
            authors.named(db, options["heir"])
        number = jobs.add(db, "import", me().id, now(), options, name).id
    return to_job(number)


@blueprint.post("/jobs/<int:number>/go")
def go(number: int) -> Any:
    """Request the import that was previewed."""
    with site().database.write() as db:
        tried = jobs.get(db, number)
        if tried.kind != "import" or tried.state != jobs.DONE or not tried.options.get("dry_run"):
            raise NotFound("there is nothing to import here")
        options = {**tried.options, "dry_run": False}
        number = jobs.add(db, "import", me().id, now(), options, tried.file).id
    return to_job(number)


def _stored(file: FileStorage) -> str:
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
