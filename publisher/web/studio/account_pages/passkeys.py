"""Passkeys over HTTP: `/studio/login/passkey` logs in, `/studio/account/passkeys` manages them.

The challenge is kept for five minutes, in the signed cookie of the browser that asked for it.
"""

import base64
from datetime import UTC, datetime, timedelta
from typing import Any

from flask import Blueprint, Response, flash, jsonify, request, session, url_for
from sqlalchemy.orm import Session

from publisher.base.errors import FieldErrors, Forbidden, InvalidInput
from publisher.base.text import sentence
from publisher.blog.members import authors, passkeys, throttle
from publisher.installation.settings import load_settings
from publisher.web import page_answers
from publisher.web.context import done, login_required, me, my_row, now, site
from publisher.web.studio.account_pages import login

blueprint = Blueprint("passkeys", __name__)
_KEPT = "passkey_challenge"
_LIFE = timedelta(minutes=5)


def place(db: Session) -> passkeys.Place | None:
    """The `Place` of this site's passkeys; None if it can have none."""
    here = passkeys.place_of(site().site_url, load_settings(db).title)
    return here if passkeys.installed() else None


@blueprint.post("/studio/login/passkey/options")
def ask_to_log_in() -> Response:
    """The options for the browser to log in with a passkey, with the challenge."""
    with site().database.read() as db:
        return _asked(passkeys.ask_to_log_in(_place(db)))


@blueprint.post("/studio/login/passkey")
def log_in() -> Response:
    """Log in the author whose passkey signed; the answer has the address of the next page."""
    credential, challenge, asked_at = _sent()
    with site().database.write() as db:
        known = passkeys.log_in(db, _place(db), challenge, credential, asked_at, now())
        throttle.know(db, login.visitor(known.name), known, now())
        token = authors.open_session(db, known, request.user_agent.string, now())
    login.remember(token)
    wanted = login.local_address(request.form.get("next", ""))
    return jsonify(location=wanted or url_for("studio.home.page"))


@blueprint.post("/studio/account/passkeys/options")
@login_required
def ask_to_make() -> Response:
    """The options for a device to create a passkey.

    The password is required, so that somebody at another's open session gets no lasting access.
    Wrong passwords are throttled as in a password change.
    """
    visitor = login.visitor(me().name)
    with site().database.write() as db:
        reserved = throttle.reserve(db, [visitor.purse("change")], now())
    with site().database.write() as db:
        try:
            authors.authenticate(db, me().name, request.form.get("old_password", "")[:1000])
        except Forbidden as error:
            problem = {"passkey": "this is not your current password"}
            raise FieldErrors(problem) from error
        throttle.release(db, reserved)
        return _asked(passkeys.ask_to_make(db, _place(db), my_row(db)))


@blueprint.post("/studio/account/passkeys")
@login_required
def add() -> Response:
    """Store the passkey that the device created."""
    credential, challenge, _ = _sent()
    with site().database.write() as db:
        label = request.form.get("label", "")
        row = passkeys.add(db, _place(db), my_row(db), challenge, credential, label, now())
    flash(f"The passkey “{row.label}” can now be used to log in.", "done")
    return jsonify(location=url_for("studio.account.page"))


@blueprint.post("/studio/account/passkeys/<int:number>/rename")
@login_required
def rename(number: int) -> Any:
    """Rename a passkey."""
    with site().database.write() as db:
        passkeys.rename(db, my_row(db), number, request.form.get("label", ""))
    return done("The passkey has been renamed.", "studio.account.page")


@blueprint.post("/studio/account/passkeys/<int:number>/remove")
@login_required
def remove(number: int) -> Any:
    """Delete a passkey."""
    with site().database.write() as db:
        passkeys.remove(db, my_row(db), number)
    return done("That passkey has been removed.", "studio.account.page")


@blueprint.errorhandler(FieldErrors)
def refuse(error: FieldErrors) -> Response:
    """The problems as one sentence, without the names of fields."""
    return page_answers.page(error.http_status, sentence("; ".join(error.fields.values())))


def _place(db: Session) -> passkeys.Place:
    if not passkeys.installed():
        raise InvalidInput(passkeys.MISSING)
    if (found := place(db)) is None:
        raise InvalidInput("passkeys need an address with a name and https")
    return found


def _asked(asked: passkeys.SigningRequest) -> Response:
    until = (now() + _LIFE).timestamp()
    session[_KEPT] = [base64.b64encode(asked.challenge).decode(), until]
    return Response(asked.options, content_type="application/json")


def _sent() -> tuple[Any, bytes, datetime]:
    """The device's answer, the challenge that this browser was given, and when.

    The challenge is removed from the cookie, but a copied cookie still has it.
    """
    kept = session.pop(_KEPT, None)
    credential = passkeys.credential_in(request.form.get("credential", ""))
    if kept is None or kept[1] < now().timestamp():
        raise InvalidInput("that took too long; try again")
    return credential, base64.b64decode(kept[0]), datetime.fromtimestamp(kept[1], UTC) - _LIFE
