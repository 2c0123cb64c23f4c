"""`/archive/...`, and the feed addresses for which `delivery` holds no document: before the first
build, and for unknown tags."""

from flask import Blueprint, current_app, redirect, request
from flask import Response as Answer
from werkzeug.wrappers import Response

from publisher.base.errors import NotFound, StorageUnavailable
from publisher.blog import published
from publisher.feeds import atom, rss
from publisher.publishing import snapshots
from publisher.publishing.rebuild import RSS
from publisher.web.context import now, site
from publisher.web.rendering import own_address

blueprint = Blueprint("feeds", __name__)


@blueprint.get("/rss.xml")
@blueprint.get("/atom.xml")
@blueprint.get("/feed.json")
def not_held() -> Response:
    """503 before the first build, which a GET never starts; an extra slash redirects."""
    rule, front = request.url_rule, current_app.extensions["front"]
    if rule is not None and front.serial(RSS):
        return redirect(rule.rule, 301)
    raise StorageUnavailable("the feed has not been built yet; try again in a moment")


@blueprint.get("/tags/<tag>/rss.xml")
def not_this_tag(tag: str) -> Response:
    """A tag without published posts: a redirect from its former name, or 404."""
    with site().database.read() as db:
        found = published.tag_called(db, tag)
        if found.slug == tag or not published.with_tag(db, found, 1):
            raise NotFound(f"no post has the tag {tag!r}")
    return redirect(f"/tags/{found.slug}/rss.xml", 301)


@blueprint.get("/archive/<int:year>/<int:month>/rss.xml")
@blueprint.get("/archive/<int:year>/<int:month>/atom.xml")
def archive(year: int, month: int) -> Answer:
    """The feed's posts of one month. A past month is cached for a day, then revalidated (ETag)."""
    name = request.path.rpartition("/")[2]
    form = atom if name == "atom.xml" else rss
    with site().database.read() as db:
        channel = snapshots.document(db, own_address(), year, month, name, now())
    answer = Answer(form.render(channel), content_type=form.CONTENT_TYPE)
    open_still = (now().year, now().month) == (year, month)
    answer.headers["Cache-Control"] = "no-cache" if open_still else "public, max-age=86400"
    answer.last_modified = channel.content_changed_at
    answer.add_etag(weak=True)
    answer.make_conditional(request)
    return answer
