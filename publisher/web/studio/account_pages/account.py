"""`/studio/account`, one's own account: name and bio, password, logins; below it, API tokens."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from flask import Blueprint, render_template, request, session
from sqlalchemy.orm import Session

from publisher.base.encryption import hash_token
from publisher.base.errors import FieldErrors, InvalidInput
from publisher.blog.markup.markdown import render
from publisher.blog.members import authors, throttle, tokens
from publisher.storage.tables.credentials import Author
from publisher.web.context import done, me, my_row, now, site
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
    """Change the password and log out all other browsers, on request also programs and passkeys.

    Wrong passwords are throttled.
    """
    old, new = request.form.get("old_password", "")[:1000], request.form.get("new_password", "")
    visitor = login.visitor(me().name)
    with site().database.write() as db:
        reserved = throttle.reserve(db, [visitor.purse("change")], now())
    try:
        with site().database.read() as db:
            authors.confirm(db, checked := my_row(db), old, "old_password")
        stored = authors.hashed(new)
        with site().database.write() as db:
            writer = authors.still_same(db, checked)
            authors.set_password(db, writer, stored, "new_password")
            throttle.release(db, reserved)
            if request.form.get("end_tokens"):
                tokens.end_other_logins(db, writer)
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
    rows = tokens.listed(db, person)
    return {
        "values": {"display_name": person.display_name, "bio": person.bio, "login": person.name}
        | request.form.to_dict(),
        "sessions": authors.sessions_of(db, person, now()),
        "tokens": rows,
        "ended": [row.id for row in rows if tokens.has_ended(row, now())],
        "scopes": tokens.SCOPES,
    }
