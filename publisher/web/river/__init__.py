"""The river's pages, behind the login: items in `items`, subscriptions in `feeds` and `opml`."""

from flask import Blueprint, Response, request

from publisher.web.river import feeds, items, opml

# On pages of other people's words nothing is loaded from elsewhere unless the reader asks.
_OWN_FILES_ONLY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

blueprint = Blueprint("river", __name__)
for module in (items, feeds, opml):
    blueprint.register_blueprint(module.blueprint)


@blueprint.after_request
def keep_private(response: Response) -> Response:
    """Nobody learns who reads what, unless the reader asks for an item's images.

    Our own pages do learn where a form stood: without it a browser hides the form's origin.
    """
    response.headers["Referrer-Policy"] = "same-origin"
    if not request.args.get("images"):
        response.headers["Content-Security-Policy"] = _OWN_FILES_ONLY
    return response
