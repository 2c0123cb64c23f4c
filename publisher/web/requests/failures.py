"""The error page: one template for every status, in plain words."""

from typing import Any

from flask import Flask, Response, jsonify, render_template
from markupsafe import escape
from werkzeug.exceptions import HTTPException

from publisher.base.errors import PublisherError, StorageUnavailable, TooMany
from publisher.blog.post_files.media import limit_text
from publisher.web.context import wants_json
from publisher.web.requests import site_address
from publisher.web.requests.request_log import number
from publisher.web.translations import gettext

# Status: heading, and the message for an error that has none of its own.
WORDS = {
    400: ("Something was wrong with that request", "The server could not understand it."),
    403: ("No permission", "You may not do this."),
    404: ("Nothing here", "There is no such page. Its address may have been mistyped."),
    405: (
        "Something was wrong with that request",
        "This address does not accept that kind of request.",
    ),
    409: ("Already changed", "Somebody else has changed this in the meantime."),
    410: ("Gone", "This was deleted by its author."),
    413: ("Too large", f"A file may have up to {limit_text()}, a text up to a million characters."),
    415: ("Something was wrong with that request", "This kind of content is not accepted."),
    422: ("Something was wrong with that request", "Something in it is missing or not valid."),
    429: ("Slow down", "Too many attempts; wait a moment."),
    500: (
        "Something went wrong",
        "The fault is ours and has been logged{number}. Try again later.",
    ),
    503: (
        "Temporarily unavailable",
        "The site cannot answer at the moment. Nothing was lost; try again soon.",
    ),
}
LONE_PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>{status}</title>'
    "<h1>{heading}</h1><p>{message}</p></html>"
)
RETRY_SECONDS = 30


def prepare(app: Flask) -> None:
    """Register the error page for every kind of failure."""
    app.register_error_handler(PublisherError, _known)
    app.register_error_handler(HTTPException, _refused)
    app.register_error_handler(500, lambda _: page(500))
    app.after_request(_stay_here)


def page(status: int, message: str = "", heading: str = "") -> Response:
    """The answer for an error status, JSON for scripts; needs neither database nor settings."""
    known, usual = WORDS.get(status, WORDS[400])
    usual = usual.format(number=f" as {number()}" if number() else "")
    heading = gettext(heading or known)
    if wants_json():
        answer = jsonify(error=message or usual)
        answer.status_code = status
        return answer
    words: dict[str, Any] = {
        "status": status,
        "heading": heading,
        "message": gettext(message or usual),
    }
    try:
        text = render_template("error.html", **words)
    except Exception as broken:
        # What broke the first page may break the error page too: send the bare message then.
        if status != 500 and not isinstance(broken, StorageUnavailable):
            raise
        text = LONE_PAGE.format(**{name: escape(word) for name, word in words.items()})
    return Response(text, status, content_type="text/html; charset=utf-8")


def _known(error: PublisherError) -> Response:
    response = page(error.http_status, str(error))
    if isinstance(error, TooMany):
        response.headers["Retry-After"] = str(error.retry_after_seconds)
    elif error.http_status == 503:
        response.headers["Retry-After"] = str(RETRY_SECONDS)
    return response


def _refused(error: HTTPException) -> Any:
    """Flask's own refusals; redirects pass as they are."""
    if error.code is None or error.code < 400:
        return error
    response = page(error.code)
    for name, value in error.get_headers():
        if name.lower() not in ("content-type", "content-length"):
            response.headers[name] = value
    return response


def _stay_here(response: Response) -> Response:
    """Remove the host from Flask's redirects that add a slash; it comes from the request.

    A `Location` that names something new (201, 202) stays whole: programs keep it.
    """
    if not 300 <= response.status_code < 400:
        return response
    if response.location and response.location.startswith(site_address.asked_at()):
        response.location = response.location[len(site_address.asked_at()) - 1 :]
        response.data = b""  # it named the host too
    return response
