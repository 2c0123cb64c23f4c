"""The page that shows a new password or token once; it must not be cached."""

from flask import Response, make_response, render_template


def shown_once(heading: str, label: str, secret: str, back: str) -> Response:
    """The page with a new secret, and a link `back` to the page where it was created."""
    page = render_template(
        "settings/secret.html", heading=heading, label=label, secret=secret, back=back
    )
    response = make_response(page)
    response.headers["Cache-Control"] = "no-store"
    return response
