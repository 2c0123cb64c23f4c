"""The page that shows a new password or token once, and is cached nowhere."""

from flask import Response, make_response, render_template


def shown_once(heading: str, label: str, secret: str, back: str) -> Response:
    """The page with a new secret, and the way back to where it was asked for."""
    page = render_template(
        "settings/secret.html", heading=heading, label=label, secret=secret, back=back
    )
    response = make_response(page)
    response.headers["Cache-Control"] = "no-store"
    return response
