"""`/studio/account`, one's own account: name and bio, password, logins; below it, API tokens, and
passkeys, with which `/studio/login/passkey` logs in.

A passkey's challenge is kept for five minutes, in the signed cookie of the browser that asked.
"""

import base64
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from flask import Blueprint, Response, flash, jsonify, render_template, request, session, url_for
from sqlalchemy.orm import Session

from publisher.base.encryption import hash_token
from publisher.base.errors import FieldErrors, InvalidInput
from publisher.base.text import sentence
from publisher.blog.markup.markdown import render
from publisher.blog.members import authors, passkeys, throttle, tokens
from publisher.installation.settings import load_settings
from publisher.storage.tables.credentials import Author
from publisher.web import page_answers
from publisher.web.context import done, login_required, me, my_row, now, site
from publisher.web.for_programs.indieauth import WORDS
from publisher.web.studio.account_pages import login
from publisher.web.studio.shared import shown_once

blueprint = Blueprint("account", __name__)

# How long a new token is valid: days, and their label in the form.
LIVES = {"": "until revoked", "30": "30 days", "90": "90 days", "365": "a year"}


@blueprint.get("/account")
@blueprint.get("/account/tokens", endpoint="programs")
def page(errors: Mapping[str, str] | None = None) -> str:
    """The account page; or the tokens for programs, and the form to make one."""
    with site().database.read() as db:
        person = my_row(db)
        return render_template(
            f"settings/{'tokens' if request.path.endswith('/tokens') else 'account'}.html",
            me=person,
            errors=errors or {},
            **about(db, person),
            here=hash_token(session.get("token", "")),
            passkeys=passkeys.listed(db, person),
            passkeys_work=place(db) is not None,
            passkeys_installed=passkeys.installed(),
            lives=LIVES.items(),
        )


@blueprint.post("/account/profile")
def profile() -> Any:
    """Save the name and biography that readers see, and the login name."""
    name, bio = request.form.get("display_name", ""), request.form.get("bio", "")
    render(bio)  # refused here if it could not be shown
    with site().database.write() as db:
        authors.describe(db, my_row(db), name, bio, request.form.get("login"))
    return done("Saved.", ".page")


@blueprint.post("/account/password")
def password() -> Any:
    """Change the password and log out all other browsers. Wrong passwords are throttled."""
    old, new = request.form.get("old_password", "")[:1000], request.form.get("new_password", "")
    visitor = login.visitor(me().name)
    with site().database.write() as db:
        reserved = throttle.reserve(db, [visitor.purse("change")], now())
    try:
        with site().database.read() as db:
            authors.confirm(db, known := my_row(db), old, "old_password")
        stored = authors.hashed(new)
        with site().database.write() as db:
            writer = authors.still_same(db, known)
            authors.set_password(db, writer, stored, "new_password")
            throttle.release(db, reserved)
            if request.form.get("end_tokens"):
                tokens.revoke_all(db, writer)
            throttle.know(db, visitor, writer, now())
            token = authors.open_session(db, writer, request.user_agent.string, now())
    except FieldErrors as error:
        if "old_password" not in error.fields:
            with site().database.write() as db:
                throttle.release(db, reserved)
        raise
    session["token"] = token
    return done("Password changed. All other browsers have been logged out.", ".page")


@blueprint.post("/account/sessions/<int:number>/end")
def end(number: int) -> Any:
    """Log one browser out."""
    with site().database.write() as db:
        authors.end_session(db, my_row(db), number)
    return done("That browser has been logged out.", ".page")


@blueprint.post("/account/sessions/end-others")
def end_others() -> Any:
    """Log all browsers out but this one."""
    with site().database.write() as db:
        authors.end_other_sessions(db, my_row(db), session.get("token", ""))
    return done("All other browsers have been logged out.", ".page")


@blueprint.post("/account/tokens")
def add_token() -> Any:
    """Create a token for a program; it is shown only once."""
    try:
        with site().database.write() as db:
            scopes, label = request.form.getlist("scope"), request.form.get("label", "")
            token = tokens.create(db, my_row(db), scopes, now(), label, _until())
            tokens.drop_twin(db, token, request.form.get("attempt", ""))
    except InvalidInput as error:
        raise FieldErrors({"scope": str(error)}) from error
    return shown_once("A new token", "Token", token, request.path)


@blueprint.post("/account/tokens/<int:number>/revoke")
def revoke(number: int) -> Any:
    """Revoke a token."""
    with site().database.write() as db:
        tokens.revoke(db, number, my_row(db))
    return done("The token has been revoked.", ".programs")


@blueprint.errorhandler(FieldErrors)
def refuse(error: FieldErrors) -> Any:
    """Answer an invalid form with the same page, the typed values and the problems."""
    return page(error.fields), error.http_status


def _until() -> datetime | None:
    """When the new token expires; None for never."""
    days = request.form.get("days", "")
    if days not in LIVES:
        raise FieldErrors({"days": "choose one of these"})
    return now() + timedelta(days=int(days)) if days else None


def about(db: Session, person: Author) -> dict[str, Any]:
    """What the pages of a person show alike: the form, browsers and programs."""
    known = tokens.listed(db, person)
    return {
        "values": {"display_name": person.display_name, "bio": person.bio, "login": person.name}
        | request.form.to_dict(),
        "sessions": authors.sessions_of(db, person, now()),
        "tokens": known,
        "ended": [row.id for row in known if tokens.has_ended(row, now())],
        "scopes": WORDS,
    }


passkeys_blueprint = Blueprint("passkeys", __name__)
_KEPT = "passkey_challenge"
_LIFE = timedelta(minutes=5)


def place(db: Session) -> passkeys.Place | None:
    """The `Place` of this site's passkeys; None if it can have none."""
    here = passkeys.place_of(site().site_url, load_settings(db).title)
    return here if passkeys.installed() else None


@passkeys_blueprint.post("/studio/login/passkey/options")
def ask_to_log_in() -> Response:
    """The options for the browser to log in with a passkey, with the challenge."""
    with site().database.read() as db:
        return _asked(passkeys.ask_to_log_in(_place(db)))


@passkeys_blueprint.post("/studio/login/passkey")
def log_in_with_passkey() -> Response:
    """Log in the author whose passkey signed; the answer has the address of the next page."""
    credential, challenge, asked_at = _sent()
    with site().database.write() as db:
        known = passkeys.log_in(db, _place(db), challenge, credential, asked_at, now())
        throttle.know(db, login.visitor(known.name), known, now())
        token = authors.open_session(db, known, request.user_agent.string, now())
    login.remember(token)
    wanted = login.local_address(request.form.get("next", ""))
    return jsonify(location=wanted or url_for("studio.home.page"))


@passkeys_blueprint.post("/studio/account/passkeys/options")
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
        known = my_row(db)
        authors.confirm(db, known, request.form.get("old_password", "")[:1000], "passkey")
    with site().database.write() as db:
        throttle.release(db, reserved)
        return _asked(passkeys.ask_to_make(db, _place(db), authors.still_same(db, known)), known.id)


@passkeys_blueprint.post("/studio/account/passkeys")
@login_required
def add_passkey() -> Response:
    """Store the passkey that the device created."""
    credential, challenge, _ = _sent(me().id)
    with site().database.write() as db:
        label = request.form.get("label", "")
        row = passkeys.add(db, _place(db), my_row(db), challenge, credential, label, now())
    flash(f"The passkey “{row.label}” can now be used to log in.", "done")
    return jsonify(location=url_for("studio.account.page"))


@passkeys_blueprint.post("/studio/account/passkeys/<int:number>/rename")
@login_required
def rename_passkey(number: int) -> Any:
    """Rename a passkey."""
    with site().database.write() as db:
        passkeys.rename(db, my_row(db), number, request.form.get("label", ""))
    return done("The passkey has been renamed.", "studio.account.page")


@passkeys_blueprint.post("/studio/account/passkeys/<int:number>/remove")
@login_required
def remove_passkey(number: int) -> Any:
    """Delete a passkey."""
    with site().database.write() as db:
        passkeys.remove(db, my_row(db), number)
    return done("That passkey has been removed.", "studio.account.page")


@passkeys_blueprint.errorhandler(FieldErrors)
def refuse_passkey(error: FieldErrors) -> Response:
    """The problems as one sentence, without the names of fields."""
    return page_answers.page(error.http_status, sentence("; ".join(error.fields.values())))


def _place(db: Session) -> passkeys.Place:
    if not passkeys.installed():
        raise InvalidInput(passkeys.MISSING)
    if (found := place(db)) is None:
        raise InvalidInput("passkeys need an address with a name and https")
    return found


def _asked(asked: tuple[str, bytes], maker: int = 0) -> Response:
    """`maker`: whose password was checked to make a passkey; 0 for a login, which needs none."""
    options, challenge = asked
    until = (now() + _LIFE).timestamp()
    session[_KEPT] = [base64.b64encode(challenge).decode(), until, maker]
    return Response(options, content_type="application/json")


def _sent(maker: int = 0) -> tuple[Any, bytes, datetime]:
    """The device's answer, the challenge that this browser was given for the same, and when.

    The challenge is removed from the cookie, but a copied cookie still has it.
    """
    kept = session.pop(_KEPT, None)
    credential = passkeys.credential_in(request.form.get("credential", ""))
    if kept is None or kept[1] < now().timestamp() or kept[2:] != [maker]:
        raise InvalidInput("that took too long; try again")
    return credential, base64.b64decode(kept[0]), datetime.fromtimestamp(kept[1], UTC) - _LIFE
