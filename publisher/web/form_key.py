"""The key of a form (CSRF token): the session's secret, signed; required for every change.

Another site can make a browser send a form here, but cannot read the key, which is in our pages.
`origin.py` checks in addition where the request comes from.
"""

import hmac
import secrets

from flask import Flask, current_app, request, session
from itsdangerous import BadData, URLSafeTimedSerializer

from publisher.base.errors import PublisherError
from publisher.web.origin import is_checked

FIELD, HEADER = "csrf_token", "X-CSRFToken"
# As in earlier versions, so that pages that were open during an upgrade still send valid keys.
_SALT = "wtf-csrf-token"


class FormKeyError(PublisherError):
    """A form without a valid key: forged, or older than the login."""

    http_status = 400


def prepare(app: Flask) -> None:
    """Check the key before every view that changes something; templates write it into forms."""
    app.config.setdefault("FORM_KEYS", True)
    app.jinja_env.globals["csrf_token"] = form_key
    app.before_request(_check)


def form_key() -> str:
    """The key for a form of this session (pages with a session are never compressed)."""
    if FIELD not in session:
        session[FIELD] = secrets.token_hex(20)
    return _signer().dumps(session[FIELD])


def _check() -> None:
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
