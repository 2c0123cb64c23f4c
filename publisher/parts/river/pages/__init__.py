"""The river's pages, behind the login: items in `items`, subscriptions in `feeds`."""

from flask import Blueprint, Response, request
from werkzeug.wrappers import Response as AnyResponse

from publisher.parts.river.pages import feeds, items
from publisher.parts.river.polls.schedule import in_words
from publisher.web.context import need_login

# Pages with other sites' texts load nothing from those sites unless the reader asks for it.
_OWN_FILES_ONLY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

blueprint = Blueprint("river", __name__)
blueprint.add_app_template_filter(in_words, "poll_problem")
for module in (items, feeds):
    blueprint.register_blueprint(module.blueprint)


@blueprint.before_request
def readers_only() -> AnyResponse | None:
    """All pages but the public blogroll are behind the login."""
    return None if request.endpoint == "river.feeds.public_opml" else need_login()


@blueprint.after_request
def keep_private(response: Response) -> Response:
    """Hide from other sites who reads what, unless the reader asks for an item's images.

    Our own pages get the referrer: with no-referrer, browsers would hide the origin of forms too.
    """
    response.headers["Referrer-Policy"] = "same-origin"
    if not request.args.get("images"):
        response.headers["Content-Security-Policy"] = _OWN_FILES_ONLY
    return response
