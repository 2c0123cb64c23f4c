"""IndieAuth: programs find this site, ask its author for consent, and get a token for Micropub.

`/indieauth/auth` is the consent page. If the program or its redirect address is wrong, this page
shows the error; every other error is sent back to the program, as OAuth requires. Programs call
`/indieauth/metadata`, the exchange of a code, tokens and their revocation: these addresses ignore
cookies, so no form key is needed.

A program (client) is identified only by an address, its `client_id`. The page there is untrusted:
it is fetched with a size limit, behind the guard against private addresses, and read in a confined
process, only for a name and for the addresses to which an answer may be sent.
"""

import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urlencode, urlsplit

from flask import Blueprint, Response, jsonify, make_response, redirect, render_template, request
from sqlalchemy.orm import Session

from publisher.base.errors import InvalidInput, PublisherError
from publisher.base.net import OutgoingError, Reply
from publisher.base.system.confined import Limits, Unreadable, read
from publisher.base.text import as_list, joined, one_line
from publisher.base.web_pages import program_in_page
from publisher.blog.members import authors, tokens
from publisher.parts.micropub import codes
from publisher.parts.micropub.tables import AuthorizationCode
from publisher.storage.tables.credentials import Author
from publisher.web.api import program_posts
from publisher.web.context import login_required, me, my_row, now, own_address, site

consent_blueprint = Blueprint("indieauth_pages", __name__)

_ALSO = {"undelete": "delete", "post": "create"}  # other names of the same


@dataclass(frozen=True, slots=True)
class ClientApp:
    """A program: its address, its name ("" if unknown), and the addresses answers may go to."""

    address: str
    name: str = ""
    redirects: tuple[str, ...] = ()

    @property
    def host(self) -> str:
        """The host of its address, by which a person recognises it."""
        return urlsplit(self.address).netloc

    def may_be_answered_at(self, redirect_uri: str) -> bool:
        """Whether an answer may go there: to its own origin, or where its page says."""
        return _origin(redirect_uri) == _origin(self.address) or redirect_uri in self.redirects


# OPTIONS asks about the exchange of codes at the same address, which programs call.
@consent_blueprint.get("/indieauth/auth", provide_automatic_options=False)
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
            "micropub/consent.html",
            client=asking,
            wanted=wanted,
            state=request.args.get("state", ""),
            scopes=[(name, tokens.SCOPES[name]) for name in offered(wanted.scope)],
            identity=identity(db, my_row(db)),
        )
    return _may_lead_to(make_response(page), wanted.redirect_uri)


@consent_blueprint.post("/indieauth/consent")
@login_required
def consent() -> Any:
    """Take the author's answer; yes or no, the browser is sent back to the program."""
    asking = _asking(request.form)
    if not request.form.get("agree"):
        return _answer(request.form, asking, {"error": "access_denied"})
    chosen = " ".join(scope for scope in tokens.SCOPES if scope in request.form.getlist("scope"))
    wanted = codes.requested(
        asking.address, request.form["redirect_uri"], chosen, request.form.get("challenge", "")
    )
    with site().database.write() as db:
        code = codes.grant(db, me().id, wanted, now())
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


def _asking(values: Any) -> ClientApp:
    """The program, if its two addresses belong together; InvalidInput otherwise."""
    address = checked_id(values.get("client_id", ""))
    place = checked_redirect(values.get("redirect_uri", ""))
    client = look_up(address)
    if not client.may_be_answered_at(place):
        raise InvalidInput(
            f"{client.host} asks for an answer at {place[:80]}, an address that is not its own and "
            "not named on its page: nothing was done"
        )
    return client


def _wanted(values: Any, asking: ClientApp) -> AuthorizationCode:
    if values.get("response_type", "code") not in ("code", "id"):
        raise InvalidInput("response_type: must be code")
    if values.get("code_challenge_method", "S256") != "S256":
        raise InvalidInput("code_challenge_method: must be S256")
    if len(values.get("state", "")) > MAX_ADDRESS:
        raise InvalidInput("state: it is too long")
    scope = " ".join(offered(values.get("scope", "")))
    place, challenge = values["redirect_uri"], values.get("code_challenge", "")
    return codes.requested(asking.address, place, scope, challenge)


def _answer(values: Any, asking: ClientApp, answer: dict[str, str]) -> Response:
    """Send the browser back to the program."""
    place: str = values["redirect_uri"]
    state = {"state": values["state"]} if values.get("state") else {}
    query = urlencode({**answer, **state, "iss": f"{own_address()}/"})
    back = redirect(f"{place}{'&' if '?' in place else '?'}{query}", 303)
    return make_response(back, {"Cache-Control": "no-store"})


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


blueprint = Blueprint("indieauth", __name__)


@blueprint.get("/indieauth/metadata")
def metadata() -> Response:
    """The addresses of all endpoints (RFC 8414, as IndieAuth requires)."""
    address = own_address()
    return jsonify(
        issuer=f"{address}/",
        authorization_endpoint=f"{address}/indieauth/auth",
        token_endpoint=f"{address}/indieauth/token",
        introspection_endpoint=f"{address}/indieauth/introspect",
        revocation_endpoint=f"{address}/indieauth/revoke",
        revocation_endpoint_auth_methods_supported=["none"],
        scopes_supported=[*tokens.SCOPES, "undelete", "profile"],
        response_types_supported=["code"],
        grant_types_supported=["authorization_code"],
        code_challenge_methods_supported=["S256"],
        authorization_response_iss_parameter_supported=True,
    )


@blueprint.post("/indieauth/auth")
def who() -> Response:
    """The identity of the author who agreed, for programs that need no token."""
    with site().database.write() as db:
        agreed = _redeemed(db)
        answer = _identified(db, agreed) if agreed else None
    return jsonify(answer) if answer else _refusal("invalid_grant", "this code cannot be used")


@blueprint.post("/indieauth/token")
def token() -> Response:
    """Exchange a code for a token; older programs also send their revocations here."""
    if request.form.get("action") == "revoke":
        return revoke()
    if request.form.get("grant_type") != "authorization_code":
        return _refusal("unsupported_grant_type", "grant_type: authorization_code")
    with site().database.write() as db:
        agreed = _redeemed(db)
        answer = _issued(db, agreed) if agreed and agreed.scope else None
    if answer is None:
        return _refusal("invalid_grant", "this code cannot be used, or no scope was agreed to")
    return make_response(jsonify(answer), {"Cache-Control": "no-store"})


@blueprint.post("/indieauth/revoke")
def revoke() -> Response:
    """Revoke a token (RFC 7009); 200 even if there is no such token."""
    with site().database.write() as db:
        row = tokens.verify(db, request.form.get("token", "")[:200], now())
        if row is not None:
            tokens.revoke(db, row.id)
    return jsonify({})


@blueprint.post("/indieauth/introspect")
def introspect() -> Response:
    """Whether a token is valid (RFC 7662); the caller needs a token of the same author."""
    asking = program_posts.authorised()
    with site().database.read() as db:
        row = tokens.verify(db, request.form.get("token", "")[:200], now())
        if row is None or row.author_id != asking.author_id:
            return jsonify(active=False)
        answer: dict[str, Any] = {
            "active": True,
            "me": identity(db, row.author),
            "client_id": row.label,
            "scope": row.scope,
            "iat": int(row.created_at.timestamp()),
        }
        if row.expires_at:
            answer["exp"] = int(row.expires_at.timestamp())
    return jsonify(answer)


def _redeemed(db: Session) -> AuthorizationCode | None:
    form = request.form
    return codes.redeem(
        db,
        form.get("code", "")[:200],
        form.get("client_id", ""),
        form.get("redirect_uri", ""),
        form.get("code_verifier", ""),
        now(),
    )


def _identified(db: Session, agreed: AuthorizationCode) -> dict[str, Any]:
    author = db.get_one(Author, agreed.author_id)
    me = identity(db, author)
    return {"me": me, "profile": {"name": author.display_name, "url": me}}


def _issued(db: Session, agreed: AuthorizationCode) -> dict[str, Any]:
    author = db.get_one(Author, agreed.author_id)
    label = agreed.client_id[: tokens.MAX_LABEL]
    secret = tokens.create(db, author, agreed.scope.split(), now(), label)
    return {
        "access_token": secret,
        "token_type": "Bearer",
        "scope": agreed.scope,
        **_identified(db, agreed),
    }


def _refusal(code: str, words: str, status: int = 400) -> Response:
    return make_response(jsonify(error=code, error_description=words), status)


@blueprint.errorhandler(PublisherError)
def _error_answer(error: PublisherError) -> Response:
    """An error in OAuth's form."""
    response = _refusal("invalid_request", str(error))
    if isinstance(error, program_posts.Unauthorized):
        response.status_code = 401
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


MAX_ADDRESS = 2000
MAX_BYTES = 250_000
TIMEOUT_SECONDS = 5.0
READING = Limits(seconds=5.0)
MAX_NAME = 60
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
# Not schemes of programs: a browser would run or show what follows the colon.
_NOT_SCHEMES = {"javascript", "data", "vbscript", "about", "blob", "file", "view-source"}


def checked_id(address: str) -> str:
    """`address`, if it is a valid `client_id`; InvalidInput names the rule that it breaks."""
    parts = _split(address, "client_id")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidInput("client_id: an address with http or https is needed")
    if parts.fragment or "@" in parts.netloc:
        raise InvalidInput("client_id: it must not have a fragment or a user name")
    if not parts.path or any(part in (".", "..") for part in parts.path.split("/")):
        raise InvalidInput('client_id: it must have a path, without "." and ".." in it')
    return address


def checked_redirect(address: str) -> str:
    """`address`, if a browser can be redirected to it; InvalidInput otherwise."""
    parts = _split(address, "redirect_uri")
    web = parts.scheme in ("http", "https")
    if not parts.scheme or parts.scheme in _NOT_SCHEMES or (web and not parts.hostname):
        raise InvalidInput("redirect_uri: an address of the program is needed")
    if parts.fragment or "@" in parts.netloc:
        raise InvalidInput("redirect_uri: it must not have a fragment or a user name")
    return address


def look_up(address: str) -> ClientApp:
    """The program at `address` as its page describes it; only its address if there is nothing."""
    if urlsplit(address).hostname in _LOOPBACK and not site().environment.allow_private:
        return ClientApp(address)  # on the author's own machine, which we cannot reach
    try:
        accept = {"Accept": "application/json, text/html;q=0.9"}
        reply = site().request(
            address, headers=accept, max_bytes=MAX_BYTES, timeout_seconds=TIMEOUT_SECONDS
        )
    except OutgoingError:
        return ClientApp(address)
    # What another host says, to which a redirect leads, is not said by the host that is shown.
    own = urlsplit(reply.url).hostname == urlsplit(address).hostname
    return _read(address, reply) if reply.status == 200 and own else ClientApp(address)


def _read(address: str, reply: Reply) -> ClientApp:
    if "json" in reply.headers.get("content-type", ""):
        return _from_json(address, reply.body.decode("utf-8", "replace"))
    try:
        name, links = read(program_in_page, READING, reply.body)
    except Unreadable:
        return ClientApp(address)
    return ClientApp(address, _name_line(name), tuple(joined(reply.url, href) for href in links))


def _from_json(address: str, text: str) -> ClientApp:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return ClientApp(address)
    if not isinstance(document, dict) or document.get("client_id") != address:
        return ClientApp(address)
    places = tuple(
        place for place in as_list(document.get("redirect_uris")) if isinstance(place, str)
    )
    return ClientApp(address, _name_line(str(document.get("client_name", ""))), places)


def _split(address: str, field: str) -> SplitResult:
    if not address:
        raise InvalidInput(f"the program that sent you here did not give its {field}")
    # No backslash: browsers read it as a slash, and would take what precedes it as the host.
    if len(address) > MAX_ADDRESS or not re.fullmatch(r"[\x21-\x5b\x5d-\x7e]+", address):
        raise InvalidInput(f"{field}: an address in plain ASCII is needed")
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError as error:
        raise InvalidInput(f"{field}: this is not an address") from error
    return parts


def _origin(address: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(address)
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname, parts.port or usual


def _name_line(text: str) -> str:
    return one_line(text)[:MAX_NAME]
