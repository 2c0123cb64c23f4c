"""Coming in and going out: the set-up link, the login form, logging out."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from flask import (
    Blueprint,
    current_app,
    g,
    jsonify,
    redirect,
    render_template,
    request,
    session,
    url_for,
)
from flask_wtf.csrf import CSRFError, generate_csrf

from publisher.blog import authors
from publisher.errors import FieldErrors, Forbidden, TooMany
from publisher.site import check_setup, forget_setup
from publisher.web import failures
from publisher.web.context import ENDED, LoginNeeded, author, now, site, wants_json
from publisher.web.studio import held

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
    if kept := held.received():
        return held.editor_page(kept, "You were logged out; this is what you had typed.")
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


@blueprint.app_errorhandler(LoginNeeded)
def needed(error: LoginNeeded) -> Any:
    """Somebody sent something after the login had ended: the text waits behind the login form."""
    if wants_json():
        return jsonify(error=str(error)), error.http_status
    return _login_page(str(error), error.http_status)


@blueprint.app_errorhandler(CSRFError)
def forged(error: CSRFError) -> Any:
    """A form without its key: forged, or older than the login. Nothing is done, nothing lost."""
    if wants_json():
        # The key is of no use to another site: its scripts cannot read this answer.
        return jsonify(error="the form's key has expired", csrf_token=generate_csrf()), 400
    if author() is None and request.path.startswith("/studio/"):
        return _login_page(ENDED, 401)
    problem = "This form has expired or was not sent from this site, so nothing was done."
    if kept := held.sent():
        return held.editor_page(kept, f"{problem} Your text is below: save it again."), 400
    return failures.page(400, f"{problem} Go back, reload the page and send it again.")


def _subjects(name: str) -> list[str]:
    """Whom a failure counts against: the name that was tried, and the address it came from."""
    key = current_app.config["SECRET_KEY"]
    address = request.remote_addr or ""
    return [authors.subject(key, "name", name), authors.subject(key, "address", address)]


def _remember(token: str) -> None:
    session.clear()
    session["token"] = token
    session.permanent = True
    g.pop("author", None)


def _setup_page(secret: str, errors: dict[str, str]) -> str:
    with site().database.read() as db:
        check_setup(db, secret)
    return render_template("studio/setup.html", errors=errors, name=request.form.get("name", ""))


def _login_page(error: str, status: int) -> tuple[str, int]:
    page = render_template(
        "studio/login.html",
        error=error,
        name=request.form.get("name", ""),
        next=local_address(request.values.get("next", "")),
        held=held.received() or held.sent(),
    )
    return page, status
