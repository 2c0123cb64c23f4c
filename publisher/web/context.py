"""The request's context: the site, the moment, who is logged in."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from flask import current_app, g, redirect, request, session, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from publisher.base.errors import Forbidden, NotFound, PublisherError, StorageUnavailable
from publisher.base.numerals import whole_number
from publisher.blog import published
from publisher.blog.members import authors, permissions, tokens
from publisher.installation import Site
from publisher.installation.settings import smallest_ttl
from publisher.readers.fold import keep_up
from publisher.storage.tables.blog import Post
from publisher.storage.tables.credentials import ApiToken, Author

POLLS_BEHIND_SECONDS = 60.0

P = ParamSpec("P")
R = TypeVar("R")


def site() -> Site:
    """The site that is being served."""
    found: Site = current_app.extensions["publisher"]
    return found


def now() -> datetime:
    """The time of this request: the clock is read once, so that everything uses the same time."""
    if "now" not in g:
        g.now = site().clock()
    moment: datetime = g.now
    return moment


def count_polls() -> None:
    """For pages that show readers: polls that wait for a minute are added to what is shown; where
    that fails, it is as old as the last hour."""
    with suppress(PublisherError):
        keep_up(site().database, site().clock, smallest_ttl, POLLS_BEHIND_SECONDS)


def page_start(db: Session) -> Post | None:
    """The post after which this page of a list begins (`?before=`), None for the first page."""
    before = request.args.get("before", "")
    if not before:
        return None
    if (number := whole_number(before)) is None:
        raise NotFound("There is no such page.")
    return published.shown(db, number)


def author() -> Author | None:
    """The author who is logged in, or None."""
    if "author" not in g:
        g.author = None
        if token := session.get("token"):
            with site().database.read() as db:
                g.author = authors.author_of(db, token, now())
                db.expunge_all()
    found: Author | None = g.author
    return found


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
    found = author()
    if found is None:
        raise LoginNeeded(ENDED)
    return found


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


def login_required(view: Callable[P, R]) -> Callable[P, R | Response]:
    """Send whoever is not logged in to the login page, and back here afterwards."""

    @wraps(view)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R | Response:
        if author() is None:
            if request.method == "POST":
                me()
            return redirect(url_for("login.form", next=full_path()))
        return view(*args, **kwargs)

    return guarded


def admin_required(view: Callable[P, R]) -> Callable[P, R | Response]:
    """As `login_required`, and only for admins."""

    @wraps(view)
    @login_required
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R | Any:
        if not permissions.is_admin(author()):
            raise Forbidden("only an admin may do this")
        return view(*args, **kwargs)

    return guarded
