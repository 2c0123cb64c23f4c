"""The request's context: the site, its settings and address, the moment, who is logged in.

The host that a browser sends is compared with the site's address, to find a wrong setting: it is
offered to an author, but never used without their consent.
"""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from functools import wraps
from typing import Any, ParamSpec, TypeVar
from urllib.parse import urlsplit

from flask import current_app, flash, g, redirect, request, session, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from publisher.base import environment
from publisher.base.dates import parse_rfc3339
from publisher.base.errors import (
    Forbidden,
    InvalidInput,
    NotFound,
    PublisherError,
    StorageUnavailable,
)
from publisher.base.net import ip_of
from publisher.base.text import LARGEST_ROW, whole_number
from publisher.blog import published
from publisher.blog.members import authors, permissions, tokens
from publisher.installation import Site
from publisher.installation.settings import Settings, allow_invalid, load_settings
from publisher.part import all_parts
from publisher.storage.tables.blog import Post
from publisher.storage.tables.credentials import ApiToken, Author

# How the addresses of pages behind the login begin.
BEHIND_LOGIN = ("/studio/", *(path for part in all_parts().values() for path in part.behind_login))

P = ParamSpec("P")
R = TypeVar("R")


def site() -> Site:
    """The site that is being served."""
    served: Site = current_app.extensions["publisher"]
    return served


def is_behind_login() -> bool:
    """Whether the page's address is one of those behind the login."""
    return request.path.startswith(BEHIND_LOGIN)


def settings() -> Settings:
    """The site's settings, read once a request."""
    if "settings" not in g:
        with site().database.read() as db:
            if request.blueprint in ("login", "studio.settings"):  # the way to set them anew
                allow_invalid(db)
            g.settings = load_settings(db)
    stored: Settings = g.settings
    return stored


def own_address() -> str:
    """The site's public address, read once a request."""
    if "own_address" not in g:
        g.own_address = site().site_url
    address: str = g.own_address
    return address


def now() -> datetime:
    """The time of this request: the clock is read once, so that everything uses the same time."""
    if "now" not in g:
        g.now = site().clock()
    moment: datetime = g.now
    return moment


def page_start(db: Session) -> Post | None:
    """The post after which this page of a list begins (`?before=`), None for the first page."""
    before = request.args.get("before", "")
    if not before:
        return None
    if (number := whole_number(before)) is None:
        raise NotFound("There is no such page.")
    return published.shown(db, number)


def place_in_list(text: str, most: int = LARGEST_ROW) -> tuple[datetime, int] | None:
    """The place that an address names as moment~number (to `most`); None for anything else."""
    moment, _, number = text.partition("~")
    try:
        place = parse_rfc3339(moment), whole_number(number, most)
    except InvalidInput:
        return None
    return None if place[1] is None else (place[0], place[1])


def author() -> Author | None:
    """The author who is logged in, or None."""
    if "author" not in g:
        g.author = None
        if token := session.get("token"):
            with site().database.read() as db:
                g.author = authors.author_of(db, token, now())
                db.expunge_all()
    person: Author | None = g.author
    return person


def sent_token(scheme: str = "bearer") -> str:
    """The secret in the request's header `Authorization`; "" for none of this scheme."""
    kind, _, secret = request.headers.get("Authorization", "").partition(" ")
    return secret.strip() if kind.lower() == scheme else ""


def bearer_of(secret: str) -> ApiToken | None:
    """The API token with this secret, if it may be used now; stores when it was used."""
    with site().database.read() as db:
        token = tokens.verify(db, secret, now())
    if token is not None and tokens.use_is_news(token, now()):
        # A full disk or a busy database must not keep a program from reading.
        with suppress(StorageUnavailable), site().database.write() as db:
            tokens.note_use(db, token, now())
    return token


ENDED = "your login has ended"


class LoginNeeded(PublisherError):
    """Nobody is logged in (any more); the form that was sent must not be lost (see `login.py`)."""

    http_status = 401


def me() -> Author:
    """The author who is logged in; LoginNeeded when nobody is."""
    person = author()
    if person is None:
        raise LoginNeeded(ENDED)
    return person


def my_row(db: Session) -> Author:
    """The author who is logged in, as a row of this database session."""
    return db.get_one(Author, me().id)


def wants_json() -> bool:
    """Whether a script sent the request and wants JSON, not a page."""
    return request.accept_mimetypes.best == "application/json"


def full_path() -> str:
    """The path of this request, with its query if any; what is not UTF-8 in it is replaced."""
    query = request.query_string.decode("utf-8", "replace")
    return f"{request.path}?{query}" if query else request.path


def need_login() -> Response | None:
    """Send whoever is not logged in to the login page, and back here afterwards. As a blueprint's
    `before_request` this is for all of its pages."""
    if author() is not None:
        return None
    if request.method == "POST":
        me()
    return redirect(url_for("login.form", next=full_path()))


def need_admin() -> Response | None:
    """As `need_login`, and only for admins."""
    led = need_login()
    if led is None and not permissions.is_admin(author()):
        raise Forbidden("only an admin may do this")
    return led


def _required(need: Callable[[], Response | None]) -> Callable[[Callable[P, R]], Callable[P, Any]]:
    def decorated(view: Callable[P, R]) -> Callable[P, Any]:
        @wraps(view)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> Any:
            return need() or view(*args, **kwargs)

        return guarded

    return decorated


login_required, admin_required = _required(need_login), _required(need_admin)


def done(message: str, endpoint: str, **values: Any) -> Response:
    """The end of a form: a message on the next page, and the way to it."""
    flash(message, "done")
    return redirect(url_for(endpoint, **values))


def asked_at() -> str:
    """Scheme and host of this request as they were sent, with a slash.

    The framework's own function decodes punycode, and raises for invalid names such as `xn--`.
    """
    return f"{request.scheme}://{request.host}/"


def browser_address() -> str:
    """The address that this request was sent to; "" if it is not valid."""
    try:
        return environment.site_address(asked_at())
    except InvalidInput:
        return ""


def better_address() -> str:
    """The address that the browser used, if it differs from the site's own; else "".

    A loopback address never replaces a public one: a public site is often managed through a tunnel
    or on the server itself. A different scheme alone does not count, because a TLS proxy passes on
    http.
    """
    used, own = browser_address(), site().site_url
    used_parts, own_parts = urlsplit(used), urlsplit(own)
    if not used or used_parts.netloc == own_parts.netloc:
        return ""
    if is_loopback(used) and (not is_loopback(own) or used_parts.port == own_parts.port):
        return ""
    return used


def is_loopback(address: str) -> bool:
    """Whether an address leads to this computer itself."""
    name = urlsplit(address).hostname or ""
    ip = ip_of(name)
    return ip.is_loopback if ip else name == "localhost" or name.endswith(".localhost")
