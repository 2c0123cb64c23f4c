"""The request's number: in all its log lines, in a header of its answer and on its error page.

A 5xx is logged with its route, not its address, which may contain a secret.
"""

import secrets

import structlog
from flask import Flask, Response, g, request

from publisher.base.system.logs import get_logger

HEADER = "X-Request-ID"

log = get_logger("pages")


def prepare(app: Flask) -> None:
    """Number every request that reaches the application."""
    app.before_request(_begin)
    app.after_request(_end)
    app.teardown_request(lambda _: structlog.contextvars.unbind_contextvars("request"))


def number() -> str:
    """This request's number, by which its lines are found in the log."""
    found: str = g.get("request_number", "")
    return found


def _begin() -> None:
    g.request_number = secrets.token_hex(4)
    structlog.contextvars.bind_contextvars(request=g.request_number)


def _end(response: Response) -> Response:
    if response.status_code >= 500:
        log.error(
            "answered",
            status=response.status_code,
            method=request.method,
            route=str(request.url_rule),
        )
    if number():
        response.headers[HEADER] = number()
    return response
