"""Static pages: `/about` and `/<slug>`."""

from flask import Blueprint, render_template
from werkzeug.wrappers import Response

from publisher.base.errors import Gone, NotFound
from publisher.blog import published
from publisher.blog.markup.markdown import render
from publisher.publishing.mentioning import receiving
from publisher.storage.tables.blog import Post
from publisher.web.blog.old_addresses import found_at
from publisher.web.context import now, site
from publisher.web.day_strip import strip

blueprint = Blueprint("pages", __name__)


@blueprint.get("/about", strict_slashes=False)
def about() -> str:
    """The author's own page `about`, or a default one; and when this blog publishes."""
    with site().database.read() as db:
        try:
            found: Post | None = published.at_path(db, "about", "page")
        except (NotFound, Gone):
            found = None
        writers = published.authors(db)
        people = [person for person in writers if person.disabled_at is None]
        return render_template(
            "blog/about.html",
            post=found,
            mentions=receiving.below(db, found) if found else (),
            people=[(person, render(person.bio)) for person in people],
            day=strip(db, now()),
        )


@blueprint.get("/<slug>", strict_slashes=False)
def page(slug: str) -> str | Response:
    """One static page."""
    with site().database.read() as db:
        found = found_at(db, slug, "page")
        if isinstance(found, Response):
            return found
        mentions = receiving.below(db, found)
        return render_template("blog/page.html", post=found, mentions=mentions)
