"""`/authors/<name>`: an author's biography and posts.

Only authors with published posts have a page, so that log-in names cannot be guessed here.
"""

from flask import Blueprint

from publisher.blog import published
from publisher.blog.markup.markdown import render
from publisher.web.blog.post_list import post_list
from publisher.web.context import site

blueprint = Blueprint("authors", __name__)


@blueprint.get("/authors/<name>", strict_slashes=False)
def author(name: str) -> str:
    """An author's biography and posts."""
    with site().database.read() as db:
        found = published.author_called(db, name)
        return post_list(
            db,
            "blog/author.html",
            lambda n, before: published.by_author(db, found, n, before),
            author=found,
            bio=render(found.bio),
        )
