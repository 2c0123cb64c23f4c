"""Access to Micropub: the token of a request, its scope, its rate limit."""

from datetime import timedelta

from flask import current_app, request

from publisher.base.errors import InvalidInput, PublisherError
from publisher.blog.members import tokens
from publisher.storage.tables.credentials import ApiToken
from publisher.web.context import bearer_of, now
from publisher.web.requests.limits import FORM_BYTES, Pace

WRITES_PER_MINUTE = 60


class Unauthorized(PublisherError):
    """No usable token: `code` says whether it is missing (or wrong) or lacks a scope."""

    http_status = 401

    def __init__(self, message: str, code: str = "unauthorized") -> None:
        super().__init__(message)
        self.code = code


def authorised() -> ApiToken:
    """The token of this request, from the header or the form (RFC 6750: not from both).

    A large body is read only if a valid token is in the header.
    """
    scheme, _, sent = request.headers.get("Authorization", "").partition(" ")
    in_header = sent.strip() if scheme.lower() == "bearer" else ""
    token = bearer_of(in_header) if in_header else None
    if in_header and token is None:
        raise Unauthorized("this access token is not valid")
    if token is None and (request.content_length or 0) > FORM_BYTES:
        raise Unauthorized("a request this large needs its access token in the header")
    is_form = request.method == "POST" and not request.is_json
    in_form = request.form.get("access_token", "") if is_form else ""
    if token is not None and in_form:
        raise InvalidInput("the token is sent twice, in the header and in the form")
    if token is None and not in_form:
        raise Unauthorized("an access token is needed")
    token = token or bearer_of(in_form)
    if token is None:
        raise Unauthorized("this access token is not valid")
    return token


def may_write(scope: str) -> ApiToken:
    """The token of this request; raises without `scope`, and if it writes too often."""
    token = authorised()
    check_scope(token, scope)
    count(token)
    return token


def count(token: ApiToken) -> None:
    """Count one change of a token; TooMany beyond `WRITES_PER_MINUTE`."""
    pace: Pace = current_app.extensions.setdefault(
        "micropub_pace", Pace(WRITES_PER_MINUTE, timedelta(minutes=1))
    )
    pace.check(token.id, now())


def check_scope(token: ApiToken, *scopes: str) -> None:
    """Unauthorized unless the token has one of `scopes`."""
    if not any(tokens.allows(token, scope) for scope in scopes):
        wanted = " or ".join(scopes)
        raise Unauthorized(f"this token does not have the scope {wanted}", "insufficient_scope")
