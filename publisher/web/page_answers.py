"""What every page's answer passes: number, validators (ETag, 304), error page; and which pages are
for everybody.

The number of a request is in all its log lines, in a header of its answer and on its error page. A
5xx is logged with its route, not its address, which may contain a secret.
"""

import secrets
from typing import Any

from flask import (
    Flask,
    Response,
    g,
    jsonify,
    make_response,
    render_template,
    request,
)
from markupsafe import escape
from werkzeug.exceptions import HTTPException

from publisher.base.errors import PublisherError, StorageUnavailable, TooMany
from publisher.base.system.logs import get_logger, request_number
from publisher.blog.post_files.media import limit_text
from publisher.serving.pages import PAGE
from publisher.web import context
from publisher.web.context import wants_json
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
    """Number every request; register the error page for every kind of failure."""
    app.before_request(_number)
    app.teardown_request(lambda _: _number(""))
    app.register_error_handler(PublisherError, _for_people)
    app.register_error_handler(HTTPException, _refused)
    app.register_error_handler(500, _broken)
    app.after_request(_log_failure)
    app.after_request(_stay_here)


def page(status: int, message: str = "", heading: str = "") -> Response:
    """The answer for an error status, JSON for scripts; needs neither database nor settings."""
    usual_heading, usual = WORDS.get(status, WORDS[400])
    usual = usual.format(number=f" as {number}" if (number := request_number.get()) else "")
    heading = gettext(heading or usual_heading)
    if wants_json():
        return make_response(jsonify(error=message or usual), status)
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


def retry_after(error: PublisherError) -> dict[str, str]:
    """The header that says when another try makes sense; none where that does not matter."""
    if isinstance(error, TooMany):
        return {"Retry-After": str(error.retry_after_seconds)}
    return {"Retry-After": str(RETRY_SECONDS)} if error.http_status == 503 else {}


def _for_people(error: PublisherError) -> Response:
    response = page(error.http_status, str(error))
    response.headers.extend(retry_after(error))
    return response


def _broken(error: HTTPException) -> Response:
    """A bug's page; or that of an error of ours where the page of another error met it, as when the
    database fails while a form is shown once more."""
    met = getattr(error, "original_exception", None)
    return _for_people(met) if isinstance(met, PublisherError) else page(500)


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
    if response.location and response.location.startswith(context.asked_at()):
        response.location = response.location[len(context.asked_at()) - 1 :]
        response.data = b""  # it named the host too
    return response


NUMBER_HEADER = "X-Request-ID"

log = get_logger("pages")


def _number(number: str | None = None) -> None:
    request_number.set(secrets.token_hex(4) if number is None else number)


def _log_failure(response: Response) -> Response:
    if response.status_code >= 500:
        log.error(
            "answered",
            status=response.status_code,
            method=request.method,
            route=str(request.url_rule),
        )
    if number := request_number.get():
        response.headers[NUMBER_HEADER] = number
    return response


# Pages that show nothing but the site's content, unless one asks for the time. They are kept, for
# visitors without a cookie, until the content changes (see `serving.pages`).
_OF_CONTENT = {
    "blog.posts.post", "blog.posts.page", "blog.posts.about", "blog.lists.home",
    "blog.lists.archive_page", "blog.lists.month", "blog.lists.all_tags", "blog.lists.tag",
    "blog.lists.author", "blog.lists.subscribe",
}  # fmt: skip


def cacheable(response: Response) -> Response:
    """Add validators to a page, and answer 304 when the request names them.

    Browsers must revalidate each time: an author who just published must see the new page.
    """
    if request.method in ("GET", "HEAD") and response.status_code == 200:
        response.headers.setdefault("Cache-Control", "no-cache")
        if not response.is_streamed:
            if request.endpoint in _OF_CONTENT and "now" not in g:
                request.environ[PAGE] = response.get_data()
            response.add_etag(weak=True)
            response.make_conditional(request)
    return response
