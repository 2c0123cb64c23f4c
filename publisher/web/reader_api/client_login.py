"""Authentication: `/accounts/ClientLogin`, and the token in every further request."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from flask import Blueprint, Response, jsonify, request

from publisher.base.errors import PublisherError
from publisher.blog.members import tokens
from publisher.storage.tables.credentials import Author
from publisher.web.context import bearer_of

blueprint = Blueprint("reader_api", __name__)

SCOPE = "river"
P = ParamSpec("P")
R = TypeVar("R")


class BadLogin(PublisherError):
    """The name and the token do not match, or the token lacks the scope `river`."""

    http_status = 401


@blueprint.route("/accounts/ClientLogin", methods=["GET", "POST"])
def log_in() -> Response:
    """Check name and app password; the token in the answer is the app password itself."""
    name, secret = request.values.get("Email", ""), request.values.get("Passwd", "")
    person = _owner(secret)
    if person.name != name.strip():
        raise BadLogin("BadAuthentication")
    lines = (f"{key}={secret}" for key in ("SID", "LSID", "Auth"))
    return plain("\n".join(lines) + "\n")


def for_reader(view: Callable[Concatenate[Author, P], R]) -> Callable[P, R]:
    """Decorate a view for an author's program: check the token, and pass the author."""

    @wraps(view)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        scheme, _, rest = request.headers.get("Authorization", "").partition(" ")
        secret = rest.strip().removeprefix("auth=") if scheme.lower() == "googlelogin" else ""
        return view(_owner(secret), *args, **kwargs)

    return checked


@blueprint.get("/reader/api/0/token")
@for_reader
def edit_token(person: Author) -> Response:
    """The token that programs send with changes; without cookies its value need not be checked."""
    return plain(f"{person.id:057d}")


@blueprint.get("/reader/api/0/user-info")
@for_reader
def user_info(person: Author) -> Response:
    """Whose account it is."""
    number = str(person.id)
    return jsonify(userId=number, userName=person.name, userProfileId=number, userEmail="")


@blueprint.get("/reader/api/0/preference/list")
@blueprint.get("/reader/api/0/preference/stream/list")
@for_reader
def preferences(_: Author) -> Response:
    """None: programs keep their preferences themselves."""
    return jsonify(prefs=[], streamprefs={})


@blueprint.errorhandler(PublisherError)
def refuse(error: PublisherError) -> Response:
    """An error as one line of text, because these programs show nothing else."""
    answer = plain(f"Error={error}\n")
    answer.status_code = error.http_status
    if error.http_status == 401:
        answer.headers["WWW-Authenticate"] = "GoogleLogin"
    return answer


@blueprint.after_request
def keep_private(response: Response) -> Response:
    """Forbid caching, because answers show what somebody reads."""
    response.headers["Cache-Control"] = "private, no-store"
    return response


def plain(text: str) -> Response:
    """A plain-text answer."""
    return Response(text, content_type="text/plain; charset=utf-8")


def _owner(secret: str) -> Author:
    token = bearer_of(secret) if secret else None
    if token is None or not tokens.allows(token, SCOPE):
        raise BadLogin("BadAuthentication")
    return token.author
