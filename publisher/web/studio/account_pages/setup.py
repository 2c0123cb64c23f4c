"""`/setup/<secret>`: the one-time link that makes the first author and names the blog."""

from typing import Any

from flask import Blueprint, make_response, redirect, render_template, request, url_for
from sqlalchemy.orm import Session

from publisher.base.dates import cities
from publisher.base.errors import Conflict, FieldErrors
from publisher.blog.members import authors, passwords
from publisher.installation import check_setup, forget_setup, remember
from publisher.installation.settings import store_settings
from publisher.storage.tables.credentials import Author
from publisher.web import context, page_answers
from publisher.web.context import now, site
from publisher.web.studio import home, shared
from publisher.web.studio.account_pages import login

blueprint = Blueprint("setup", __name__)

# A setting whose field is missing in the form keeps its value; an empty field is an error.
ASKED = ("title", "timezone", "site_url", "look")
_MISSING = {"title": "give the blog a title; you can change it at any time",
            "look": "choose a look; you can change it at any time",
            "timezone": "name your time zone or a large city near you",
            "site_url": "enter the address that readers will use"}  # fmt: skip


@blueprint.get("/setup/<secret>")
def form(secret: str) -> Any:
    """The form behind the one-time link."""
    return _setup_page(secret, {})


@blueprint.post("/setup/<secret>")
def create_first_author(secret: str) -> Any:
    """Add the first author, save the blog's title, zone and address, and log in: all or nothing."""
    try:
        with site().database.read() as db:
            check_setup(db, secret)  # before the hashing, which no stranger should cause
        stored = authors.hashed(request.form.get("password", ""))
        with site().database.write() as db:
            check_setup(db, secret)
            first = _begin(db, stored)
            forget_setup(db)
            remember(db, home.FIRST_STEPS, "yes")
            token = authors.open_session(db, first, request.user_agent.string, now())
    except FieldErrors as error:
        return _setup_page(secret, error.fields), error.http_status
    except Conflict as error:
        return _used(error)
    shared.feeds_changed()
    login.remember(token)
    return redirect(url_for("studio.home.page"))


def _begin(db: Session, password: passwords.Hash) -> Author:
    """Add the first author and save the settings; FieldErrors with all problems."""
    texts = {name: request.form[name].strip() for name in ASKED if name in request.form}
    if site().environment.site_url:
        texts.pop("site_url", None)
    problems = {name: _MISSING[name] for name, text in texts.items() if not text}
    try:
        store_settings(db, {name: text for name, text in texts.items() if text})
    except FieldErrors as error:
        problems |= error.fields
    try:
        name, display = request.form.get("name", ""), request.form.get("display_name", "")
        first = authors.add(db, name, password, "admin", now(), display)
    except FieldErrors as error:
        raise FieldErrors(error.fields | problems) from error
    if problems:
        raise FieldErrors(problems)
    return first


def _setup_page(secret: str, errors: dict[str, str]) -> Any:
    try:
        with site().database.read() as db:
            check_setup(db, secret)
    except Conflict as error:
        return _used(error)
    values = {"site_url": context.browser_address(), **request.form}
    page = render_template(
        "studio/setup.html",
        errors=errors,
        values=values,
        zones=cities(),
        fixed=site().environment.site_url,
    )
    return make_response(page, {"Cache-Control": "no-store"})  # it may have the typed password


def _used(error: Conflict) -> Any:
    return page_answers.page(error.http_status, str(error), "This link has been used")
