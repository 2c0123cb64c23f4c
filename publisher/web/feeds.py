"""`/rss.xml` and other feeds where delivery holds none: before the first build, unknown tags."""

from flask import Blueprint, current_app, redirect, request
from werkzeug.wrappers import Response

from publisher.base.errors import NotFound, StorageUnavailable
from publisher.blog import published
from publisher.publishing.rebuild import RSS
from publisher.web.context import site

blueprint = Blueprint("feeds", __name__)


@blueprint.get("/rss.xml")
@blueprint.get("/atom.xml")
@blueprint.get("/feed.json")
def not_held() -> Response:
    """Before the first build, which a GET never makes; or an address with a slash too many."""
    rule, front = request.url_rule, current_app.extensions["front"]
    if rule is not None and front.serial(RSS):
        return redirect(rule.rule, 301)
    raise StorageUnavailable("the feed has not been built yet; try again in a moment")


@blueprint.get("/tags/<tag>/rss.xml")
def not_this_tag(tag: str) -> Response:
    """Reached only when no published post has the tag: from a name of before, the way to it."""
    with site().database.read() as db:
        found = published.tag_called(db, tag)
        if found.slug == tag or not published.with_tag(db, found, 1):
            raise NotFound(f"no post has the tag {tag!r}")
    return redirect(f"/tags/{found.slug}/rss.xml", 301)
