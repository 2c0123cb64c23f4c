"""What programs call: `/indieauth/metadata`, the exchange of a code, tokens and their revocation.

These addresses ignore cookies, so no form key is needed.
"""

from typing import Any

from flask import Blueprint, Response, jsonify, request
from sqlalchemy.orm import Session

from publisher.base.errors import PublisherError
from publisher.blog.members import tokens
from publisher.storage.tables.credentials import Author, AuthorizationCode
from publisher.web.context import now, site
from publisher.web.indieauth import auth
from publisher.web.micropub import access
from publisher.web.rendering import own_address

blueprint = Blueprint("indieauth", __name__)


@blueprint.get("/indieauth/metadata")
def metadata() -> Response:
    """The addresses of all endpoints (RFC 8414, as IndieAuth requires)."""
    here = own_address()
    return jsonify(
        issuer=f"{here}/",
        authorization_endpoint=f"{here}/indieauth/auth",
        token_endpoint=f"{here}/indieauth/token",
        introspection_endpoint=f"{here}/indieauth/introspect",
        revocation_endpoint=f"{here}/indieauth/revoke",
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
    response = jsonify(answer)
    response.headers["Cache-Control"] = "no-store"
    return response


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
    asking = access.authorised()
    with site().database.read() as db:
        row = tokens.verify(db, request.form.get("token", "")[:200], now())
        if row is None or row.author_id != asking.author_id:
            return jsonify(active=False)
        answer: dict[str, Any] = {
            "active": True,
            "me": auth.identity(db, row.author),
            "client_id": row.label,
            "scope": row.scope,
            "iat": int(row.created_at.timestamp()),
        }
        if row.expires_at:
            answer["exp"] = int(row.expires_at.timestamp())
    return jsonify(answer)


def _redeemed(db: Session) -> AuthorizationCode | None:
    form = request.form
    return tokens.redeem(
        db,
        form.get("code", "")[:200],
        form.get("client_id", ""),
        form.get("redirect_uri", ""),
        form.get("code_verifier", ""),
        now(),
    )


def _identified(db: Session, agreed: AuthorizationCode) -> dict[str, Any]:
    author = db.get_one(Author, agreed.author_id)
    me = auth.identity(db, author)
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


def _refusal(code: str, words: str) -> Response:
    response = jsonify(error=code, error_description=words)
    response.status_code = 400
    return response


@blueprint.errorhandler(PublisherError)
def _known(error: PublisherError) -> Response:
    """An error in OAuth's form."""
    response = _refusal("invalid_request", str(error))
    if isinstance(error, access.Unauthorized):
        response.status_code = 401
        response.headers["WWW-Authenticate"] = "Bearer"
    return response
