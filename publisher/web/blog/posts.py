"""`/posts/<slug>`: one post, with links to the older and the newer one."""

from flask import Blueprint, render_template
from werkzeug.wrappers import Response

from publisher.blog import published
from publisher.publishing.mentioning import receiving
from publisher.web.blog.old_addresses import found_at
from publisher.web.blog.post_list import several_authors
from publisher.web.context import site

blueprint = Blueprint("posts", __name__)


@blueprint.get("/posts/<slug>", strict_slashes=False)
def post(slug: str) -> str | Response:
    """One post, with links to the older and the newer one."""
    with site().database.read() as db:
        found = found_at(db, slug, "post")
        if isinstance(found, Response):
            return found
        older, newer = published.neighbours(db, found)
        return render_template(
            "blog/post.html",
            post=found,
            older=older,
            newer=newer,
            several=several_authors(db),
            mentions=receiving.below(db, found),
        )
