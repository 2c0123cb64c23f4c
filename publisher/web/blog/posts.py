"""One post, `/posts/<slug>`; static pages, `/about` and `/<slug>`; and redirects from former
addresses of posts, here or on a former blog, to the present ones.

`/preview/<token>`: a draft as readers will see it, for everybody with the private link.
"""

import re
from typing import Any

from flask import Blueprint, current_app, redirect, render_template, request
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from publisher.base.errors import Gone, NotFound, must_exist
from publisher.blog import post_addresses, published
from publisher.blog.markup.markdown import render
from publisher.blog.writing import posts
from publisher.storage.tables.blog import Post
from publisher.web.blog.lists import several_authors
from publisher.web.context import full_path, now, site
from publisher.web.day_strip import public_strip

blueprint = Blueprint("posts", __name__)


@blueprint.get("/posts/<slug>", strict_slashes=False)
def post(slug: str) -> str | Response:
    """One post, with links to the older and the newer one."""
    with site().database.read() as db:
        shown_post = found_at(db, slug, "post")
        if isinstance(shown_post, Response):
            return shown_post
        older, newer = published.neighbours(db, shown_post)
        return render_template(
            "blog/post.html",
            post=shown_post,
            older=older,
            newer=newer,
            several=several_authors(db),
        )


def moved_by_query() -> Response | None:
    """Redirect addresses of former blogs such as /?p=123 to the post."""
    if not request.query_string:
        return None
    with site().database.read() as db:
        # WordPress's short address, whatever a campaign or a share has added to it.
        short = [f"/?{key}={request.args[key]}" for key in ("p", "page_id") if key in request.args]
        moved_post = published.moved(db, full_path(), *short)
        return redirect(posts.path(moved_post), 301) if moved_post else None


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

    Addresses are compared as they were written and as they read, with and without a last slash,
    which leads nobody astray whose page, the studio's too, has none.
    """
    written = request.environ.get("RAW_URI", request.path).partition("?")[0]
    plain = [request.path.rstrip("/"), written.rstrip("/")]
    spellings = [request.path, written, *plain, *(f"{spelling}/" for spelling in plain)]
    moved_post = published.moved(db, *dict.fromkeys(spellings))
    tops = [
        re.sub(r"/(page|authors)/\d+$", "", spelling) for spelling in plain
    ]  # of a list's further pages
    lists = *spellings, *tops, *(f"{top}/" for top in tops)
    if moved_post is None and (target := published.moved_list(db, *lists)):
        return redirect(target, 301)
    if moved_post is None and request.path.endswith("/"):
        bare = request.path[:-1]
        endpoint, _ = current_app.url_map.bind("").match(bare, "GET")
        if not endpoint.startswith("blog.posts."):
            return redirect(bare + full_path().removeprefix(request.path), 301)
    return redirect(posts.path(must_exist(moved_post, "There is no such page.")), 301)


@blueprint.get("/about", strict_slashes=False)
def about() -> str:
    """The author's own page `about`, or a default one; and when this blog publishes."""
    with site().database.read() as db:
        try:
            own_page: Post | None = published.at_path(db, "about", "page")
        except (NotFound, Gone):
            own_page = None
        writers = published.authors(db)
        people = [person for person in writers if person.disabled_at is None]
        return render_template(
            "blog/about.html",
            post=own_page,
            people=[(person, render(person.bio)) for person in people],
            day=public_strip(db, now, "about"),
        )


@blueprint.get("/<slug>", strict_slashes=False)
def page(slug: str) -> str | Response:
    """One static page."""
    with site().database.read() as db:
        shown_page = found_at(db, slug, "page")
        if isinstance(shown_page, Response):
            return shown_page
        return render_template("blog/page.html", post=shown_page)


preview_blueprint = Blueprint("preview", __name__)


@preview_blueprint.get("/preview/<token>")
def preview_page(token: str) -> Any:
    """The draft, not to be cached or indexed; once it is published, a redirect to the post."""
    with site().database.read() as db:
        post = post_addresses.preview_of(db, token)
        if published.is_public(post):
            return redirect(posts.path(post))
        several = several_authors(db)
        return render_template("studio/preview.html", post=post, several=several), {
            "Cache-Control": "private, no-store",
            "X-Robots-Tag": "noindex, nofollow",
            "Referrer-Policy": "no-referrer",
        }
