"""The blog as readers see it: posts in lists and alone, pages, and what became of old addresses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from flask import Blueprint, redirect, render_template, request
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from publisher.blog import authors, listing, posts
from publisher.blog.markdown import render
from publisher.errors import Gone, NotFound
from publisher.storage.models import Post
from publisher.web.caching import cacheable
from publisher.web.context import full_path, now, page_start, site
from publisher.web.day import strip
from publisher.web.rendering import settings

blueprint = Blueprint("blog", __name__)
blueprint.after_request(cacheable)

More = Callable[[int, Post | None], Sequence[Post]]


@blueprint.before_request
def old_address_with_query() -> Response | None:
    """Former blogs had addresses such as /?p=123: they lead to the post."""
    if not request.query_string:
        return None
    with site().database.read() as db:
        found = listing.moved(db, full_path())
        return redirect(posts.path(found), 301) if found else None


@blueprint.get("/")
def home() -> str:
    """The newest posts, and older ones page by page."""
    with site().database.read() as db:
        return _page_of(db, "blog/home.html", lambda n, before: listing.newest(db, n, before))


@blueprint.get("/tags/<name>", strict_slashes=False)
def tag(name: str) -> str:
    """The posts of one tag."""
    with site().database.read() as db:
        found = listing.tag_called(db, name)
        if not listing.with_tag(db, found, 1):
            raise NotFound("there is no such tag")  # a draft's tags are nobody's business
        return _page_of(
            db, "blog/tag.html", lambda n, before: listing.with_tag(db, found, n, before), tag=found
        )


@blueprint.get("/authors/<name>", strict_slashes=False)
def author(name: str) -> str:
    """Who somebody is, and what they wrote."""
    with site().database.read() as db:
        found = authors.named(db, name)
        return _page_of(
            db,
            "blog/author.html",
            lambda n, before: listing.by_author(db, found, n, before),
            author=found,
            bio=render(found.bio),
        )


@blueprint.get("/posts/<slug>", strict_slashes=False)
def post(slug: str) -> str | Response:
    """One post, with the way to the next ones."""
    with site().database.read() as db:
        found = _at(db, slug, "post")
        if isinstance(found, Response):
            return found
        older, newer = listing.neighbours(db, found)
        return render_template(
            "blog/post.html", post=found, older=older, newer=newer, several=_several(db)
        )


@blueprint.get("/about", strict_slashes=False)
def about() -> str:
    """The page that the author made of this name, or a plain one; and when this blog speaks."""
    with site().database.read() as db:
        try:
            found: Post | None = listing.at_path(db, "about", "page")
        except (NotFound, Gone):
            found = None
        people = [person for person in authors.everyone(db) if person.disabled_at is None]
        return render_template(
            "blog/about.html",
            post=found,
            people=[(person, render(person.bio)) for person in people],
            day=strip(db, now()),
        )


@blueprint.get("/<slug>", strict_slashes=False)
def page(slug: str) -> str | Response:
    """One static page."""
    with site().database.read() as db:
        found = _at(db, slug, "page")
        if isinstance(found, Response):
            return found
        return render_template("blog/page.html", post=found)


@blueprint.get("/<path:old>")
def elsewhere(old: str) -> Response:
    """Whatever else is asked for: an address of a former blog, or nothing."""
    with site().database.read() as db:
        return _moved(db)


def _at(db: Session, slug: str, kind: str) -> Post | Response:
    """What stands here, or the way to where it went."""
    try:
        return listing.at_path(db, slug, kind)
    except NotFound:
        return _moved(db)


def _moved(db: Session) -> Response:
    """The way to the post that used to be here; NotFound when there was none.

    Addresses are compared as they were written and as they read, with and without a last slash.
    """
    written = request.environ.get("RAW_URI", request.path).partition("?")[0]
    plain = [request.path.rstrip("/"), written.rstrip("/")]
    spellings = [request.path, written, *plain, *(f"{spelling}/" for spelling in plain)]
    found = listing.moved(db, *dict.fromkeys(spellings))
    if found is None:
        raise NotFound("There is no such page.")
    return redirect(posts.path(found), 301)


def _page_of(db: Session, template: str, more: More, **values: Any) -> str:
    """A list of posts from `?before=` on, with the way to older ones where there are any."""
    start = page_start(db)
    number = settings().home_items
    found = more(number + 1, start)
    return render_template(
        template,
        posts=found[:number],
        older=found[number - 1].id if len(found) > number else None,
        first=start is None,
        several=_several(db),
        **values,
    )


def _several(db: Session) -> bool:
    """Whether posts say who wrote them: on a blog of one, nobody asks."""
    return len(authors.everyone(db)) > 1
