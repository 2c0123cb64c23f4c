"""`/setup/<secret>`: the one-time link that makes the first author."""

from typing import Any

from flask import Blueprint, redirect, render_template, request, url_for

from publisher.base.errors import FieldErrors
from publisher.blog import authors
from publisher.installation import check_setup, forget_setup
from publisher.web.context import now, site
from publisher.web.studio.login import remember

blueprint = Blueprint("setup", __name__)


@blueprint.get("/setup/<secret>")
def form(secret: str) -> Any:
    """The form behind the one-time link."""
    return _setup_page(secret, {})


@blueprint.post("/setup/<secret>")
def create_first_author(secret: str) -> Any:
    """Make the first author and log in."""
    name, password = request.form.get("name", "").strip(), request.form.get("password", "")
    try:
        with site().database.write() as db:
            check_setup(db, secret)
            first = authors.add(db, name, password, "admin", now())
            forget_setup(db)
            token = authors.open_session(db, first, request.user_agent.string, now())
    except FieldErrors as error:
        return _setup_page(secret, error.fields), error.http_status
    remember(token)
    return redirect(url_for("studio.home.page"))


def _setup_page(secret: str, errors: dict[str, str]) -> str:
    with site().database.read() as db:
        check_setup(db, secret)
    return render_template("studio/setup.html", errors=errors, name=request.form.get("name", ""))
