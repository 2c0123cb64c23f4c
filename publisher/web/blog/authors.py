"""`/authors/<name>`: who somebody is, and what they wrote.

Only who has published something has a page: names to log in with are nobody's to try out here.
"""

from flask import Blueprint

from publisher.blog import published
from publisher.blog.markdown import render
from publisher.web.blog.post_list import post_list
from publisher.web.context import site

blueprint = Blueprint("authors", __name__)


@blueprint.get("/authors/<name>", strict_slashes=False)
def author(name: str) -> str:
    """Who somebody is, and what they wrote."""
    with site().database.read() as db:
        found = published.author_called(db, name)
        return post_list(
            db,
            "blog/author.html",
            lambda n, before: published.by_author(db, found, n, before),
            author=found,
            bio=render(found.bio),
        )
