"""The studio: log in and write."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from flask import Blueprint, current_app, redirect, render_template, request, session, url_for

from publisher.blog import authors, posts, preferences
from publisher.blog.drafts import draft
from publisher.errors import Forbidden, TooMany
from publisher.rebuild import rebuild
from publisher.site import check_setup, forget_setup
from publisher.web.context import author, login_required, now, site

blueprint = Blueprint("studio", __name__)


@blueprint.get("/setup/<secret>")
def setup(secret: str) -> str:
    """The form behind the one-time link."""
    with site().database.read() as db:
        check_setup(db, secret)
        return render_template("studio/setup.html", settings=preferences.load(db))


@blueprint.post("/setup/<secret>")
def create_first_author(secret: str) -> Any:
    """Make the first author and log in."""
    with site().database.write() as db:
        check_setup(db, secret)
        name, password = request.form.get("name", ""), request.form.get("password", "")
        first = authors.add(db, name, password, "admin", now())
        forget_setup(db)
        _log_in(authors.open_session(db, first, request.user_agent.string, now()))
    return redirect(url_for("studio.home"))


@blueprint.get("/studio/login")
def login() -> str:
    """The login form."""
    with site().database.read() as db:
        return render_template("studio/login.html", settings=preferences.load(db), error="")


@blueprint.post("/studio/login")
def log_in() -> Any:
    """Check name and password, throttled by both name and address."""
    name, password = request.form.get("name", "")[:200], request.form.get("password", "")[:1000]
    key = current_app.config["SECRET_KEY"]
    subjects = [
        authors.subject(key, "name", name),
        authors.subject(key, "address", request.remote_addr or ""),
    ]
    try:
        with site().database.read() as db:
            authors.check_throttle(db, subjects, now())
            known = authors.authenticate(db, name, password)
        with site().database.write() as db:
            _log_in(authors.open_session(db, known, request.user_agent.string, now()))
    except Forbidden as error:
        with site().database.write() as db:
            authors.note_failure(db, subjects, now())
        return _login_page(str(error), 403)
    except TooMany as error:
        return _login_page(str(error), 429)
    return redirect(_local(request.args.get("next", "")) or url_for("studio.home"))


@blueprint.post("/studio/logout")
def log_out() -> Any:
    """End this session."""
    with site().database.write() as db:
        authors.close_session(db, session.get("token", ""))
    session.clear()
    return redirect("/")


@blueprint.get("/studio/")
@login_required
def home() -> str:
    """A box that is ready to type in."""
    with site().database.read() as db:
        return render_template("studio/home.html", settings=preferences.load(db))


@blueprint.post("/studio/")
@login_required
def write() -> Any:
    """Publish what was typed, after the undo window."""
    who = author()
    value = draft(request.form.get("source", ""), request.form.get("title", ""))
    with site().database.write() as db:
        settings = preferences.load(db)
        post = posts.create(db, value, who.id if who else None, now())
        posts.publish(db, post, now() + timedelta(seconds=settings.undo_seconds), now())
    rebuild(site(), now())
    return redirect(url_for("studio.home"))


def _log_in(token: str) -> None:
    session.clear()
    session["token"] = token
    session.permanent = True


def _login_page(error: str, status: int) -> Any:
    with site().database.read() as db:
        page = render_template("studio/login.html", settings=preferences.load(db), error=error)
    return page, status


def _local(target: str) -> str:
    """`target` if it is an address on this site, else nothing: no open redirect."""
    parts = urlsplit(target)
    plain = target.startswith("/") and not target.startswith(("//", "/\\"))
    return target if plain and not parts.netloc and not parts.scheme else ""
