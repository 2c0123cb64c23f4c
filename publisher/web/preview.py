"""`/preview/<token>`: a draft as readers will see it, for everybody with the private link."""

from typing import Any

from flask import Blueprint, make_response, redirect, render_template

from publisher.blog import published
from publisher.blog.writing import posts, previews
from publisher.web.context import site

blueprint = Blueprint("preview", __name__)


@blueprint.get("/preview/<token>")
def page(token: str) -> Any:
    """The draft, not to be cached or indexed; once it is published, a redirect to the post."""
    with site().database.read() as db:
        post = previews.find(db, token)
        if published.is_public(post):
            return redirect(posts.path(post))
        response = make_response(render_template("studio/preview.html", post=post))
    response.headers["Cache-Control"] = "private, no-store"
    response.headers["X-Robots-Tag"] = "noindex, nofollow"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response
