"""The blog as readers see it."""

from __future__ import annotations

from flask import Blueprint, redirect, render_template
from werkzeug.wrappers import Response

from publisher.blog import listing, posts, preferences
from publisher.errors import NotFound
from publisher.web.context import site

blueprint = Blueprint("blog", __name__)


@blueprint.get("/")
def home() -> str:
    """The newest posts."""
    with site().database.read() as db:
        settings = preferences.load(db)
        newest = listing.newest(db, settings.home_items)
        return render_template("blog/home.html", settings=settings, posts=newest, path=posts.path)


@blueprint.get("/posts/<slug>")
def post(slug: str) -> str | Response:
    """One post; an old slug leads to the new one."""
    return _one(slug, "post")


@blueprint.get("/<slug>")
def page(slug: str) -> str | Response:
    """One static page."""
    return _one(slug, "page")


def _one(slug: str, kind: str) -> str | Response:
    with site().database.read() as db:
        try:
            found = listing.at_path(db, slug, kind)
        except NotFound:
            moved = listing.moved(db, f"/{slug}" if kind == "page" else f"/posts/{slug}")
            if moved is None:
                raise
            return redirect(posts.path(moved), 301)
        return render_template(
            "blog/post.html", settings=preferences.load(db), post=found, path=posts.path
        )
