"""Coming in and going out: the set-up link, the login form, logging out."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from flask import Blueprint, current_app, redirect, render_template, request, session, url_for

from publisher.blog import authors, preferences
from publisher.errors import FieldErrors, Forbidden, TooMany
from publisher.site import check_setup, forget_setup
from publisher.web.context import now, site

blueprint = Blueprint("login", __name__)


@blueprint.get("/setup/<secret>")
def setup(secret: str) -> Any:
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
    _remember(token)
    return redirect(url_for("studio.home.page"))


@blueprint.get("/studio/login")
def form() -> Any:
    """The login form."""
    return _login_page("", 200)


@blueprint.post("/studio/login")
def log_in() -> Any:
    """Check name and password, throttled by both name and address."""
    name, password = request.form.get("name", "")[:200], request.form.get("password", "")[:1000]
    subjects = _subjects(name)
    try:
        with site().database.read() as db:
            authors.check_throttle(db, subjects, now())
            known = authors.authenticate(db, name, password)
        with site().database.write() as db:
            token = authors.open_session(db, known, request.user_agent.string, now())
    except Forbidden as error:
        with site().database.write() as db:
            authors.note_failure(db, subjects, now())
        return _login_page(str(error), error.http_status)
    except TooMany as error:
        headers = {"Retry-After": str(error.retry_after_seconds)}
        return *_login_page(str(error), error.http_status), headers
    _remember(token)
    return redirect(local_address(request.values.get("next", "")) or url_for("studio.home.page"))


@blueprint.post("/studio/logout")
def log_out() -> Any:
    """End this session."""
    with site().database.write() as db:
        authors.close_session(db, session.get("token", ""))
    session.clear()
    return redirect("/")


def local_address(target: str) -> str:
    """`target` if it is an address on this site, else nothing: no open redirect."""
    if not target.startswith("/") or target.startswith(("//", "/\\")) or not target.isprintable():
        return ""
    parts = urlsplit(target)
    return "" if parts.netloc or parts.scheme else target


def _subjects(name: str) -> list[str]:
    """Whom a failure counts against: the name that was tried, and the address it came from."""
    key = current_app.config["SECRET_KEY"]
    address = request.remote_addr or ""
    return [authors.subject(key, "name", name), authors.subject(key, "address", address)]


def _remember(token: str) -> None:
    session.clear()
    session["token"] = token
    session.permanent = True


def _setup_page(secret: str, errors: dict[str, str]) -> str:
    with site().database.read() as db:
        check_setup(db, secret)
        settings = preferences.load(db)
    name = request.form.get("name", "")
    return render_template("studio/setup.html", settings=settings, errors=errors, name=name)


def _login_page(error: str, status: int) -> tuple[str, int]:
    with site().database.read() as db:
        settings = preferences.load(db)
    page = render_template(
        "studio/login.html",
        settings=settings,
        error=error,
        name=request.form.get("name", ""),
        next=local_address(request.values.get("next", "")),
    )
    return page, status
