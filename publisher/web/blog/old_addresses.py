"""Redirects from former addresses of posts, here or on a former blog, to the present ones."""

from flask import Blueprint, redirect, request
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from publisher.base.errors import NotFound
from publisher.blog import published
from publisher.blog.writing import posts
from publisher.storage.tables.blog import Post
from publisher.web.context import full_path, site

blueprint = Blueprint("old_addresses", __name__)


def moved_by_query() -> Response | None:
    """Redirect addresses of former blogs such as /?p=123 to the post."""
    if not request.query_string:
        return None
    with site().database.read() as db:
        found = published.moved(db, full_path())
        return redirect(posts.path(found), 301) if found else None


@blueprint.get("/<path:old>")
def elsewhere(old: str) -> Response:
    """Any other path: an address of a former blog, else 404."""
    with site().database.read() as db:
        return _moved(db)


def found_at(db: Session, slug: str, kind: str) -> Post | Response:
    """The post or page at this address, or a redirect to where it moved."""
    try:
        return published.at_path(db, slug, kind)
    except NotFound:
        return _moved(db)


def _moved(db: Session) -> Response:
    """The way to the post that used to be here; NotFound when there was none.

    Addresses are compared as they were written and as they read, with and without a last slash.
    """
    written = request.environ.get("RAW_URI", request.path).partition("?")[0]
    plain = [request.path.rstrip("/"), written.rstrip("/")]
    spellings = [request.path, written, *plain, *(f"{spelling}/" for spelling in plain)]
    found = published.moved(db, *dict.fromkeys(spellings))
    if found is None:
        raise NotFound("There is no such page.")
    return redirect(posts.path(found), 301)
