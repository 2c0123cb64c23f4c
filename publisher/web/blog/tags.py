"""`/tags`: all tags; `/tags/<tag>`: the posts of one."""

from flask import Blueprint, redirect, render_template
from werkzeug.wrappers import Response

from publisher.base.errors import NotFound
from publisher.blog import published, tags
from publisher.blog.slugs import tag_slug
from publisher.web.blog.post_list import post_list
from publisher.web.context import site

blueprint = Blueprint("tags", __name__)


@blueprint.get("/tags", strict_slashes=False)
def index() -> str:
    """The tags of published posts by name, each with the number of its posts."""
    with site().database.read() as db:
        return render_template("blog/tags.html", tags=[t for t in tags.used(db) if t.shown])


@blueprint.get("/tags/<name>", strict_slashes=False)
def tag(name: str) -> str | Response:
    """The posts of one tag; a former name redirects to the present one."""
    with site().database.read() as db:
        found = published.tag_called(db, name)
        if not published.with_tag(db, found, 1):
            raise NotFound("there is no such tag")  # tags of drafts are private
        if found.slug != tag_slug(name):
            return redirect(f"/tags/{found.slug}", 301)
        return post_list(
            db,
            "blog/tag.html",
            lambda n, before: published.with_tag(db, found, n, before),
            tag=found,
        )
