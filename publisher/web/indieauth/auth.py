"""`/indieauth/auth`: the consent page, on which an author agrees to what a program asks for.

If the program or its redirect address is wrong, this page shows the error; every other error is
sent back to the program, as OAuth requires.
"""

from typing import Any
from urllib.parse import urlencode, urlsplit

from flask import Blueprint, Response, make_response, redirect, render_template, request
from sqlalchemy.orm import Session

from publisher.base.errors import InvalidInput
from publisher.blog.members import authors, tokens
from publisher.storage.tables.credentials import Author
from publisher.web.context import login_required, me, my_row, now, site
from publisher.web.indieauth import client
from publisher.web.rendering import own_address

blueprint = Blueprint("indieauth_pages", __name__)

# What each of our scopes allows, for the consent page.
WORDS = {
    "create": "publish posts",
    "update": "change your posts",
    "delete": "delete your posts and bring them back",
    "media": "upload pictures and sound",
    "river": "read the river, mark and follow",
}
_ALSO = {"undelete": "delete", "post": "create"}  # other names of the same


@blueprint.get("/indieauth/auth")
@login_required
def ask() -> Any:
    """Show which program asks for what."""
    asking = _asking(request.args)
    try:
        wanted = _wanted(request.args, asking)
    except InvalidInput as error:
        return _answer(request.args, asking, {"error": "invalid_request",
                                              "error_description": str(error)})  # fmt: skip
    with site().database.read() as db:
        page = render_template(
            "settings/consent.html",
            client=asking,
            wanted=wanted,
            state=request.args.get("state", ""),
            scopes=[(name, WORDS[name]) for name in offered(wanted.scope)],
            asked=wanted.scope.split(),
            identity=identity(db, my_row(db)),
        )
    return _may_lead_to(make_response(page), wanted.redirect_uri)


@blueprint.post("/indieauth/consent")
@login_required
def consent() -> Any:
    """Take the author's answer; yes or no, the browser is sent back to the program."""
    asking = _asking(request.form)
    if not request.form.get("agree"):
        return _answer(request.form, asking, {"error": "access_denied"})
    chosen = " ".join(scope for scope in tokens.SCOPES if scope in request.form.getlist("scope"))
    wanted = tokens.Request(
        asking.address, request.form["redirect_uri"], chosen, request.form.get("challenge", "")
    )
    with site().database.write() as db:
        code = tokens.grant(db, me().id, wanted, now())
    return _answer(request.form, asking, {"code": code})


def identity(db: Session, author: Author) -> str:
    """The address that identifies an author elsewhere: the blog's own if nobody else writes."""
    if len(authors.everyone(db)) == 1:
        return f"{own_address()}/"
    return f"{own_address()}/authors/{author.name}"


def offered(scope: str) -> list[str]:
    """The scopes that the page offers for those asked; `media` is added to `create`."""
    named = {_ALSO.get(name, name) for name in scope.split()}
    if "create" in named:
        named.add("media")
    return [name for name in tokens.SCOPES if name in named]


def _asking(values: Any) -> client.ClientApp:
    """The program, if its two addresses belong together; InvalidInput otherwise."""
    address = client.checked_id(values.get("client_id", ""))
    place = client.checked_redirect(values.get("redirect_uri", ""))
    here = site()
    agent = f"Publisher (+{own_address()}/)"
    found = client.look_up(address, agent, here.environment.allow_private)
    if not found.may_be_answered_at(place):
        raise InvalidInput(
            f"{found.host} asks for an answer at {place[:80]}, an address that is not its own and "
            "not named on its page: nothing was done"
        )
    return found


def _wanted(values: Any, asking: client.ClientApp) -> tokens.Request:
    if values.get("response_type", "code") not in ("code", "id"):
        raise InvalidInput("response_type: must be code")
    if values.get("code_challenge_method", "S256") != "S256":
        raise InvalidInput("code_challenge_method: must be S256")
    if len(values.get("state", "")) > client.MAX_ADDRESS:
        raise InvalidInput("state: it is too long")
    scope = " ".join(offered(values.get("scope", "")))
    place, challenge = values["redirect_uri"], values.get("code_challenge", "")
    return tokens.Request(asking.address, place, scope, challenge)


def _answer(values: Any, asking: client.ClientApp, answer: dict[str, str]) -> Response:
    """Send the browser back to the program."""
    place: str = values["redirect_uri"]
    state = {"state": values["state"]} if values.get("state") else {}
    query = urlencode({**answer, **state, "iss": f"{own_address()}/"})
    response = make_response(redirect(f"{place}{'&' if '?' in place else '?'}{query}", 303))
    response.headers["Cache-Control"] = "no-store"
    return response


def _may_lead_to(response: Response, place: str) -> Response:
    """Allow the form's answer to redirect to `place`: `form-action` applies to redirects too."""
    parts = urlsplit(place)
    web = parts.scheme in ("http", "https")
    target = f"{parts.scheme}://{parts.netloc}" if web else f"{parts.scheme}:"
    response.headers["Content-Security-Policy"] = (
        "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; "
        f"frame-ancestors 'none'; form-action 'self' {target}"
    )
    response.headers["Cache-Control"] = "no-store"
    return response
