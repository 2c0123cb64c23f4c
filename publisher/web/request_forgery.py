"""Cross-site request forgery: a request that changes something must come from a page of this site.

Each form carries a key (CSRF token), the session's secret, signed: another site can make a browser
send a form here, but cannot read the key, which is in our pages.

The origin is checked besides, by two headers that no page can forge: `Sec-Fetch-Site` (on
https and localhost) and `Origin` (with each POST, in browsers since 2020). A request that names
another site, or has neither header, is refused. Programs use the blueprints of `PROGRAMS`, which
take no cookie and ask for a token, or trust nobody.
"""

import hmac
import secrets
from urllib.parse import urlsplit

from flask import Flask, current_app, request, session
from itsdangerous import BadData, URLSafeTimedSerializer

from publisher.base.errors import Forbidden, PublisherError
from publisher.web.context import site

_ELSEWHERE = "this was not sent from a page of this site, so nothing was done"
_SAFE = ("GET", "HEAD", "OPTIONS")
# Blueprints that take no cookie: neither the origin nor a form key is checked there.
PROGRAMS = ("micropub", "indieauth", "mirror", "xmlrpc", "reader_api", "reader_test", "webmention")


def prepare(app: Flask) -> None:
    """Check every request before its view runs."""
    app.before_request(_check)


def is_checked() -> bool:
    """Whether this request could change something with only a cookie, and so is checked."""
    return request.method not in _SAFE and request.blueprint not in PROGRAMS


def _check() -> None:
    """Forbidden for a change that no page of this site has sent."""
    if not is_checked():
        return
    fetched, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    if fetched is None and origin is None:
        raise Forbidden(
            "the request has no Origin header, so nothing was done: browsers since 2020 send one; "
            "programs can use Micropub or the command line"
        )
    if fetched not in (None, "same-origin", "none"):
        raise Forbidden(_ELSEWHERE)
    if origin is None or (origin == "null" and fetched is not None):
        return
    here = {request.host.lower(), urlsplit(site().site_url).netloc.lower()}
    if _netloc(origin) not in here:
        raise Forbidden(_ELSEWHERE)


def _netloc(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:  # an unclosed bracket
        return ""


FIELD, HEADER = "csrf_token", "X-CSRFToken"
# As in earlier versions, so that pages that were open during an upgrade still send valid keys.
_SALT = "wtf-csrf-token"


class FormKeyError(PublisherError):
    """A form without a valid key: forged, or older than the login."""

    http_status = 400


def prepare_form_keys(app: Flask) -> None:
    """Check the key before every view that changes something; templates write it into forms."""
    app.config.setdefault("FORM_KEYS", True)
    app.jinja_env.globals["csrf_token"] = form_key
    app.before_request(_check_key)


def form_key() -> str:
    """The key for a form of this session (pages with a session are never compressed)."""
    if FIELD not in session:
        session[FIELD] = secrets.token_hex(20)
    return _signer().dumps(session[FIELD])


def _check_key() -> None:
    """FormKeyError for a change without the session's key, in the form or in a script's header."""
    if not is_checked() or request.endpoint is None or not current_app.config["FORM_KEYS"]:
        return
    sent = request.form.get(FIELD) or request.headers.get(HEADER, "")
    try:
        secret = str(_signer().loads(sent))
    except BadData as error:
        raise FormKeyError("the form's key is missing or was not made here") from error
    if not hmac.compare_digest(secret.encode(), str(session.get(FIELD, "")).encode()):
        raise FormKeyError("the form's key belongs to another session")


def _signer() -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(current_app.config["SECRET_KEY"], salt=_SALT)
