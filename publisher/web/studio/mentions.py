"""`/studio/mentions`: pages that link to posts; each is shown below its post, or refused.

`/webmention` receives the notices of such pages, if the setting allows it.
"""

from datetime import timedelta

from flask import Blueprint, Response, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from publisher.base.errors import FieldErrors, NotFound, PublisherError, TooMany
from publisher.blog.members.throttle import network
from publisher.publishing import mentions
from publisher.web.context import done, me, now, own_address, settings, site
from publisher.web.limits import Pace

blueprint = Blueprint("mentions", __name__)


@blueprint.get("/mentions")
def page() -> str:
    """The mentions that wait for approval, and those that are shown."""
    with site().database.read() as db:
        return render_template("studio/mentions.html", mentions=mentions.listed(db, me()))


@blueprint.post("/mentions/<int:mention_id>/show")
def show(mention_id: int) -> AnyResponse:
    """Show a mention below its post."""
    return _decided(mention_id, True, "It is shown below the post.")


@blueprint.post("/mentions/<int:mention_id>/refuse")
def refuse(mention_id: int) -> AnyResponse:
    """Refuse a mention for good."""
    return _decided(mention_id, False, "Refused. It does not come back.")


def _decided(mention_id: int, shown: bool, words: str) -> AnyResponse:
    with site().database.write() as db:
        mentions.decide(db, me(), mention_id, shown)
    return done(words, ".page")


webmention_blueprint = Blueprint("webmention", __name__)

_pace = Pace(30, timedelta(minutes=5))


@webmention_blueprint.post("/webmention")
def receive() -> Response:
    """Accept a mention (202; the page is checked soon), or answer with the reason in one line."""
    try:
        if settings().webmention_receive != "on":
            raise NotFound("this blog does not accept webmentions")
        _pace.check(network(request.remote_addr or ""), now())
        source, target = (request.form.get(name, "").strip() for name in ("source", "target"))
        with site().database.write() as db:
            mentions.receive(db, own_address(), source, target, now())
    except PublisherError as error:
        return _refused(error)
    return _plain("Thank you. The page is checked soon; the author decides what is shown.", 202)


def _refused(error: PublisherError) -> Response:
    if isinstance(error, FieldErrors):
        words = "; ".join(f"{name}: {problem}" for name, problem in error.fields.items())
        return _plain(words, 400)
    answer = _plain(str(error), error.http_status if error.http_status != 422 else 400)
    if isinstance(error, TooMany):
        answer.headers["Retry-After"] = str(error.retry_after_seconds)
    return answer


def _plain(words: str, status: int) -> Response:
    return Response(f"{words}\n", status, content_type="text/plain; charset=utf-8")
