"""`/studio/people`: add authors, change roles, reset passwords, suspend; for admins."""

from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from publisher.base.errors import Conflict, FieldErrors
from publisher.blog.members import authors, passkeys, tokens
from publisher.storage.tables.credentials import ROLES, Role
from publisher.web.context import admin_required, now, site
from publisher.web.studio.shared import shown_once

blueprint = Blueprint("people", __name__)


@blueprint.get("/people")
@admin_required
def page() -> Any:
    """All authors, and the form to add one."""
    with site().database.read() as db:
        return _page(db, {})


@blueprint.post("/people")
@admin_required
def add() -> Any:
    """Add an author with a generated password, which is shown only once."""
    name, shown = request.form.get("name", "").strip().lower(), request.form.get("display_name", "")
    role: Role = "admin" if request.form.get("role") == "admin" else "author"
    password = authors.made_password()
    try:
        with site().database.write() as db:
            added = authors.add(db, name, password, role, now(), shown)
    except (FieldErrors, Conflict) as error:
        problems = error.fields if isinstance(error, FieldErrors) else {"name": str(error)}
        with site().database.read() as db:
            return _page(db, problems), error.http_status
    return shown_once(f"{added.display_name} can write here", f"Password of {name}", password,
                      url_for("studio.people.page"))  # fmt: skip


@blueprint.post("/people/<name>/role")
@admin_required
def role(name: str) -> Any:
    """Make somebody admin or author."""
    with site().database.write() as db:
        authors.set_role(db, authors.named(db, name), request.form.get("role", ""))
    return _done(f"{name} is {request.form['role']} now.")


@blueprint.post("/people/<name>/password")
@admin_required
def password(name: str) -> Any:
    """Give an author a new password, shown only once; their tokens are revoked too if asked."""
    with site().database.write() as db:
        person = authors.named(db, name)
        fresh = authors.reset_password(db, person)
        if request.form.get("end_tokens"):
            tokens.revoke_all(db, person)
            passkeys.remove_all(db, person)
    return shown_once(f"{name} has a new password", f"Password of {name}", fresh,
                      url_for("studio.people.page"))  # fmt: skip


@blueprint.post("/people/<name>/disable")
@admin_required
def disable(name: str) -> Any:
    """Suspend an author; their posts stay."""
    with site().database.write() as db:
        authors.disable(db, authors.named(db, name), now())
    return _done(f"{name} can no longer log in; their posts stay.")


@blueprint.post("/people/<name>/enable")
@admin_required
def enable(name: str) -> Any:
    """Let a suspended author log in again."""
    with site().database.write() as db:
        authors.enable(db, authors.named(db, name))
    return _done(f"{name} can log in again.")


@blueprint.errorhandler(FieldErrors)
def refuse(error: FieldErrors) -> Any:
    """Answer an invalid form or button with the same page and the problems."""
    with site().database.read() as db:
        return _page(db, error.fields), error.http_status


def _done(message: str) -> Response:
    flash(message, "done")
    return redirect(url_for("studio.people.page"))


def _page(db: Session, errors: dict[str, str]) -> str:
    return render_template(
        "settings/people.html",
        people=authors.everyone(db),
        errors=errors,
        values=request.form,
        roles=[(name, name) for name in reversed(ROLES)],
    )
