"""Logging in with a passkey, and an author's passkeys on the account page.

A passkey's challenge is kept for five minutes, in the signed cookie of the browser that asked.
"""

import base64
from datetime import UTC, datetime, timedelta
from typing import Any

from flask import Blueprint, Response, flash, jsonify, render_template, request, session, url_for
from sqlalchemy.orm import Session

from publisher.base.errors import FieldErrors, InvalidInput
from publisher.base.text import counted, sentence
from publisher.blog.members import authors, throttle
from publisher.installation.settings import load_settings
from publisher.parts.passkeys import keys
from publisher.storage.tables.credentials import Author
from publisher.web import page_answers
from publisher.web.context import done, login_required, me, my_row, now, site
from publisher.web.studio.account_pages import login

blueprint = Blueprint("passkeys", __name__)
_IN_COOKIE = "passkey_challenge"
_LIFE = timedelta(minutes=5)


def _possible_place(db: Session) -> keys.Place | None:
    """The `Place` of this site's passkeys; None if it can have none."""
    place = keys.place_of(site().site_url, load_settings(db).title)
    return place if keys.installed() else None


@blueprint.post("/studio/login/passkey/options")
def ask_to_log_in() -> Response:
    """The options for the browser to log in with a passkey, with the challenge."""
    with site().database.read() as db:
        return _with_challenge(keys.ask_to_log_in(_place(db)))


@blueprint.post("/studio/login/passkey")
def log_in() -> Response:
    """Log in the author whose passkey signed; the answer has the address of the next page."""
    credential, challenge, asked_at = _device_answer()
    with site().database.write() as db:
        author = keys.log_in(db, _place(db), challenge, credential, asked_at, now())
        throttle.know(db, login.visitor(author.name), author, now())
        token = authors.open_session(db, author, request.user_agent.string, now())
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
    with site().database.read() as db:
        author = my_row(db)
        authors.confirm(db, author, request.form.get("old_password", "")[:1000], "passkey")
    with site().database.write() as db:
        throttle.release(db, reserved)
        return _with_challenge(
            keys.ask_to_make(db, _place(db), authors.still_same(db, author)), author.id
        )


@blueprint.post("/studio/account/passkeys")
@login_required
def add() -> Response:
    """Store the passkey that the device created."""
    credential, challenge, _ = _device_answer(me().id)
    with site().database.write() as db:
        label = request.form.get("label", "")
        row = keys.add(db, _place(db), my_row(db), challenge, credential, label, now())
    flash(f"The passkey “{row.label}” can now be used to log in.", "done")
    return jsonify(location=url_for("studio.account.page"))


@blueprint.post("/studio/account/passkeys/<int:number>/rename")
@login_required
def rename(number: int) -> Any:
    """Rename a passkey."""
    with site().database.write() as db:
        keys.rename(db, my_row(db), number, request.form.get("label", ""))
    return done("The passkey has been renamed.", "studio.account.page")


@blueprint.post("/studio/account/passkeys/<int:number>/remove")
@login_required
def remove(number: int) -> Any:
    """Delete a passkey."""
    with site().database.write() as db:
        keys.remove(db, my_row(db), number)
    return done("That passkey has been removed.", "studio.account.page")


@blueprint.errorhandler(FieldErrors)
def refuse(error: FieldErrors) -> Response:
    """The problems as one sentence, without the names of fields."""
    return page_answers.page(error.http_status, sentence("; ".join(error.fields.values())))


def on_login_page(held: object, next: str) -> str:  # noqa: A002 - the form's word
    """The form to log in with a passkey, if anybody has one; not while a text is kept: only the
    other form carries it through the login."""
    if held or not keys.installed():
        return ""
    with site().database.read() as db:
        return render_template("passkeys/login.html", next=next) if keys.in_use(db) else ""


def on_account_page() -> str:
    """The passkeys of the author who is logged in, and the form to add one."""
    with site().database.read() as db:
        return render_template(
            "passkeys/account.html",
            passkeys=keys.listed(db, my_row(db)),
            possible=_possible_place(db) is not None,
            installed=keys.installed(),
            missing=keys.MISSING,
        )


def among_ways_in() -> str:
    """In a list of what may be ended with a password."""
    return ", passkeys"


def on_person_page(person: Author) -> str:
    """How many passkeys somebody has, for an admin; empty for none."""
    with site().database.read() as db:
        number = len(keys.listed(db, person))
    return f"They have {counted(number, 'passkey')}." if number else ""


def _place(db: Session) -> keys.Place:
    if not keys.installed():
        raise InvalidInput(keys.MISSING)
    if (place := _possible_place(db)) is None:
        raise InvalidInput("passkeys need an address with a name and https")
    return place


def _with_challenge(asked: tuple[str, bytes], maker: int = 0) -> Response:
    """`maker`: whose password was checked to make a passkey; 0 for a login, which needs none."""
    options, challenge = asked
    until = (now() + _LIFE).timestamp()
    session[_IN_COOKIE] = [base64.b64encode(challenge).decode(), until, maker]
    return Response(options, content_type="application/json")


def _device_answer(maker: int = 0) -> tuple[Any, bytes, datetime]:
    """The device's answer, the challenge that this browser was given for the same, and when.

    The challenge is removed from the cookie, but a copied cookie still has it.
    """
    stored = session.pop(_IN_COOKIE, None)
    credential = keys.credential_in(request.form.get("credential", ""))
    if stored is None or stored[1] < now().timestamp() or stored[2:] != [maker]:
        raise InvalidInput("that took too long; try again")
    return credential, base64.b64decode(stored[0]), datetime.fromtimestamp(stored[1], UTC) - _LIFE
