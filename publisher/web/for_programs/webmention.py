"""`/webmention`: receives notices of pages that link to a post, if the setting allows it."""

from datetime import timedelta

from flask import Blueprint, Response, request

from publisher.base.errors import FieldErrors, NotFound, PublisherError, TooMany
from publisher.blog.members.throttle import network
from publisher.publishing.mentioning import receiving
from publisher.web.context import now, site
from publisher.web.rendering import own_address, settings
from publisher.web.requests.limits import Pace

blueprint = Blueprint("webmention", __name__)

_pace = Pace(30, timedelta(minutes=5))


@blueprint.post("/webmention")
def receive() -> Response:
    """Accept a mention (202; the page is checked soon), or answer with the reason in one line."""
    try:
        if settings().webmention_receive != "on":
            raise NotFound("this blog does not accept webmentions")
        _pace.check(network(request.remote_addr or ""), now())
        source, target = (request.form.get(name, "").strip() for name in ("source", "target"))
        with site().database.write() as db:
            receiving.receive(db, own_address(), source, target, now())
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
