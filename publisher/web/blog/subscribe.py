"""`/subscribe`: what the feed is and how to follow it."""

from flask import Blueprint, render_template

from publisher.web.blog_day import strip
from publisher.web.context import now, site

blueprint = Blueprint("subscribe", __name__)


@blueprint.get("/subscribe")
def subscribe() -> str:
    """What the feed is, how to follow it, and when this blog speaks."""
    with site().database.read() as db:
        return render_template("blog/subscribe.html", day=strip(db, now()))
