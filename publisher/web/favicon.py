"""`/favicon.ico`, which browsers and feed readers request by default: the site's icon, or ours."""

from flask import Blueprint, redirect
from werkzeug.wrappers import Response

from publisher.web.assets import static
from publisher.web.rendering import settings

blueprint = Blueprint("favicon", __name__)


@blueprint.get("/favicon.ico")
def favicon() -> Response:
    """The uploaded icon, or the built-in one."""
    return redirect(settings().icon) if settings().icon else static("favicon.ico")
