"""`/`: the newest posts, and older ones page by page."""

from flask import Blueprint

from publisher.blog import published
from publisher.web.blog.post_list import post_list
from publisher.web.context import site

blueprint = Blueprint("home", __name__)


@blueprint.get("/")
def home() -> str:
    """The newest posts, and older ones page by page."""
    with site().database.read() as db:
        return post_list(db, "blog/home.html", lambda n, before: published.newest(db, n, before))
