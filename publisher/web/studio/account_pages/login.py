"""`/studio/login` and `/studio/logout`; a form sent after the session ended survives the login."""

from typing import Any

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

from publisher.base.errors import Forbidden, TooMany
from publisher.base.text import split_address
from publisher.blog.members import authors, passwords, throttle
from publisher.installation import has_author
from publisher.web import page_answers
from publisher.web.context import ENDED, LoginNeeded, author, now, site, wants_json
from publisher.web.request_checks import FormKeyError, form_key
from publisher.web.studio import held_forms

blueprint = Blueprint("login", __name__)


@blueprint.get("/studio/login")
def form() -> Any:
    """The login form."""
    return _login_page("", 200)


@blueprint.post("/studio/login")
def log_in() -> Any:
    """Check name and password, throttled by both name and address."""
    name, password = (
        authors.login_name(request.form.get("name", "")[:200]),
        request.form.get("password", "")[:1000],
    )
    try:
        with site().database.write() as db:
            reserved = throttle.reserve(db, throttle.purses(db, visitor(name), now()), now())
        with site().database.read() as db:
            person = authors.authenticate(db, name, password)
        renewed = passwords.renewed(person.password_hash, password)  # slow, so before the lock
        with site().database.write() as db:
            authors.still_same(db, person).password_hash = renewed
            throttle.release(db, reserved)
            throttle.know(db, visitor(name), person, now())
            token = authors.open_session(db, person, request.user_agent.string, now())
    except (Forbidden, TooMany) as error:
        headers = page_answers.retry_after(error)
        return *_login_page(str(error), error.http_status), headers
    remember(token)
    if held := held_forms.carried_by_login():
        return held_forms.page(held, "You were logged out; this is what you had typed.")
    return redirect(local_address(request.values.get("next", "")) or url_for("studio.home.page"))


@blueprint.post("/studio/logout")
def log_out() -> Any:
    """End this session."""
    with site().database.write() as db:
        authors.close_session(db, session.get("token", ""))
    session.clear()
    return redirect("/")


def local_address(target: str) -> str:
    """`target` if it is an address on this site, else ""; prevents open redirects."""
    local = target.startswith("/") and not target.startswith(("//", "/\\"))
    return target if local and target.isprintable() else ""


@blueprint.app_errorhandler(LoginNeeded)
def needed(error: LoginNeeded) -> Any:
    """A form was sent after the session had ended: the login form carries its text along."""
    if wants_json():
        return jsonify(error=str(error)), error.http_status
    return _login_page(str(error), error.http_status)


@blueprint.app_errorhandler(FormKeyError)
def forged(_error: FormKeyError) -> Any:
    """A form without a valid key: forged, or older than the login. The text is offered again."""
    if wants_json():
        # Safe to send: scripts of other sites cannot read this answer.
        return jsonify(error="the form's key has expired", csrf_token=form_key()), 400
    held = held_forms.in_request()
    if author() is None and (held or request.path.startswith("/studio/")):
        return _login_page(ENDED, 401)
    problem = "This form has expired or was not sent from this site, so nothing was done."
    if held:
        return held_forms.page(held, f"{problem} Your text is below: save it again."), 400
    return page_answers.page(400, f"{problem} Go back, reload the page and send it again.")


def visitor(name: str) -> throttle.Visitor:
    """The login attempt for `name` from the address of this request."""
    return throttle.Visitor(current_app.config["SECRET_KEY"], name, request.remote_addr or "")


def remember(token: str) -> None:
    """Store the session `token` in the browser's cookie."""
    session.clear()
    session["token"] = token
    session.permanent = True
    g.pop("author", None)


def _form_page() -> str:
    """The page of the form that was refused: the browser has kept there what was typed."""
    parts = split_address(request.referrer or "")
    sent = request.method == "POST" and request.path != "/studio/login"
    return local_address(parts.path) if sent and parts.netloc == request.host else ""


def _login_page(error: str, status: int) -> tuple[str, int]:
    with site().database.read() as db:
        nobody = not has_author(db)
    page = render_template(
        "studio/login.html",
        error=error,
        name=request.form.get("name", ""),
        next=local_address(request.values.get("next", "")) or _form_page(),
        held=held_forms.carried_by_login() or held_forms.in_request(),
        nobody=nobody,
    )
    return page, status
