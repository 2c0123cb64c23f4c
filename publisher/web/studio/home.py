"""The first page of the studio: a box that is ready to type in."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from flask import Blueprint, redirect, render_template, request, url_for

from publisher.blog import posts, preferences
from publisher.blog.drafts import draft
from publisher.rebuild import rebuild
from publisher.web.context import author, login_required, now, site

blueprint = Blueprint("home", __name__)


@blueprint.get("/")
@login_required
def page() -> str:
    """A box that is ready to type in."""
    with site().database.read() as db:
        return render_template("studio/home.html", settings=preferences.load(db))


@blueprint.post("/")
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
    return redirect(url_for("studio.home.page"))
