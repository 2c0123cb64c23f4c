"""What every page's answer passes: number, validators (ETag, Last-Modified, 304), error page; and
the memory of public pages.

The number of a request is in all its log lines, in a header of its answer and on its error page. A
5xx is logged with its route, not its address, which may contain a secret.
"""

import secrets
from datetime import datetime, timedelta
from typing import Any

from flask import (
    Flask,
    Response,
    current_app,
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
from publisher.installation import content_state
from publisher.storage import database
from publisher.web import context
from publisher.web.context import now, site, wants_json
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
    app.register_error_handler(PublisherError, _known)
    app.register_error_handler(HTTPException, _refused)
    app.register_error_handler(500, _broken)
    app.after_request(_log_failure)
    app.after_request(_stay_here)


def page(status: int, message: str = "", heading: str = "") -> Response:
    """The answer for an error status, JSON for scripts; needs neither database nor settings."""
    known, usual = WORDS.get(status, WORDS[400])
    usual = usual.format(number=f" as {number}" if (number := request_number.get()) else "")
    heading = gettext(heading or known)
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


def _known(error: PublisherError) -> Response:
    response = page(error.http_status, str(error))
    response.headers.extend(retry_after(error))
    return response


def _broken(error: HTTPException) -> Response:
    """A bug's page; or that of an error of ours where the page of another error met it, as when the
    database fails while a form is shown once more."""
    met = getattr(error, "original_exception", None)
    return _known(met) if isinstance(met, PublisherError) else page(500)


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


# Pages that change only when the site's content does. The others show counts or the time.
_OF_CONTENT = {
    "blog.posts.post", "blog.posts.page", "blog.lists.home", "blog.lists.archive_page",
    "blog.lists.month", "blog.lists.all_tags", "blog.lists.tag", "blog.lists.author",
}  # fmt: skip
MOST_BYTES = 4_000_000  # of the pages that a process keeps


class PageMemory:
    """The pages made from one state of the content, by path: a visited page is made once."""

    def __init__(self, made_from: tuple[int, str]) -> None:
        self.made_from = made_from
        self.bodies: dict[str, bytes] = {}
        self._bytes = 0

    def keep(self, path: str, body: bytes) -> None:
        """Keep a page, and forget all others where there is no place for it."""
        size = len(path) + len(body)  # a month, or a tag, has addresses of any length
        if self._bytes + size > MOST_BYTES:
            self.bodies, self._bytes = {}, 0
        self.bodies[path] = body
        self._bytes += size


def from_memory() -> Response | None:
    """The page that was asked for, if it was made since the last change; for visitors without a
    cookie. What is made now is kept by `cacheable`, under the content that was there before, unless
    it has a form's key, which is one visitor's."""
    if request.endpoint not in _OF_CONTENT or request.cookies or request.query_string:
        return None
    with site().database.read() as db:
        made_from = content_state(db, site().environment)
    memory: PageMemory | None = current_app.extensions.get("page_memory")
    if memory is None or memory.made_from != made_from:
        current_app.extensions["page_memory"] = memory = PageMemory(made_from)
    if (body := memory.bodies.get(request.path)) is None:
        g.page_memory = memory
        return None
    g.content_serial = made_from[0]
    return Response(body, content_type="text/html; charset=utf-8")


def cacheable(response: Response) -> Response:
    """Add validators to a page, and answer 304 when the request names them.

    Browsers must revalidate each time: an author who just published must see the new page.
    """
    if request.method in ("GET", "HEAD") and response.status_code == 200:
        response.headers.setdefault("Cache-Control", "no-cache")
        if not response.is_streamed:
            plain = request.endpoint in _OF_CONTENT and not request.cookies
            if plain and (moment := _last_modified()):
                response.last_modified = moment
            if "page_memory" in g:
                g.page_memory.keep(request.path, response.get_data())
            response.add_etag(weak=True)
            response.make_conditional(request)
    return response


def _last_modified() -> datetime | None:
    """One second after this process first saw the present content; None until that moment.

    Read after the page was made, so that any content missing in the page has a later moment. In a
    new process the moment is its own start, because its code and templates may have changed.
    """
    kept: dict[str, Any] = current_app.extensions.setdefault("content_seen", {})
    if (serial := g.get("content_serial")) is None:
        try:
            with site().database.read() as db:
                serial = database.content_serial(db)
        except PublisherError:
            return None  # the page is made, and goes without this header
    seen, moment = kept.get("seen", (None, None))
    if seen != serial:
        moment = site().clock().replace(microsecond=0) + timedelta(seconds=1)
        kept["seen"] = serial, moment
    return moment if moment is not None and moment <= now() else None
