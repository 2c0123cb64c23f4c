"""`/studio/mentions`: pages that link to posts; each is shown below its post, or refused.

`/webmention` receives the notices of such pages, if the setting allows it.
"""

from datetime import timedelta

from flask import Blueprint, Response, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from publisher.base.errors import NotFound, PublisherError
from publisher.base.net import network_of
from publisher.base.text import split_address
from publisher.installation.settings import load
from publisher.parts.webmention import mentions
from publisher.parts.webmention.settings import WebmentionSettings
from publisher.web.context import done, me, need_login, now, own_address, site
from publisher.web.page_answers import retry_after
from publisher.web.request_checks import Pace

blueprint = Blueprint("mentions", __name__, url_prefix="/studio")
blueprint.before_request(need_login)


@blueprint.get("/mentions")
def page() -> str:
    """The mentions that wait for approval, and those that are shown."""
    with site().database.read() as db:
        return render_template(
            "webmention/page.html",
            mentions=mentions.listed(db, me()),
            receives=load(db, WebmentionSettings).webmention_receive == "on",
        )


@blueprint.post("/mentions/<int:mention_id>/show", defaults={"shown": True})
@blueprint.post("/mentions/<int:mention_id>/refuse", defaults={"shown": False})
def decide(mention_id: int, shown: bool) -> AnyResponse:
    """Show a mention below its post, or refuse it for good."""
    with site().database.write() as db:
        mentions.decide(db, me(), mention_id, shown)
    words = "It is shown below the post." if shown else "Refused. It does not come back."
    return done(words, ".page")


webmention_blueprint = Blueprint("webmention", __name__)

_pace = Pace(30, timedelta(minutes=5))


@webmention_blueprint.post("/webmention")
def receive() -> Response:
    """Accept a mention (202; the page is checked soon), or answer with the reason in one line."""
    try:
        with site().database.read() as db:
            if load(db, WebmentionSettings).webmention_receive != "on":
                raise NotFound("this blog does not accept webmentions")
        _pace.check(network_of(request.remote_addr or ""), now())
        source, target = (request.form.get(name, "").strip() for name in ("source", "target"))
        _pace.check(f"//{split_address(source).hostname}", now())  # it is fetched for each
        with site().database.write() as db:
            mentions.receive(db, own_address(), source, target, now())
    except PublisherError as error:
        status = error.http_status if error.http_status != 422 else 400
        return _plain(str(error), status, retry_after(error))
    words = "Thank you. The page is checked soon; the author decides what is shown."
    return _plain(words, 202, {})


def _plain(words: str, status: int, headers: dict[str, str]) -> Response:
    return Response(f"{words}\n", status, headers, content_type="text/plain; charset=utf-8")
