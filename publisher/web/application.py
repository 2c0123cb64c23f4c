"""The WSGI application: Flask for pages, and in front of it the feeds, served from memory."""

from pathlib import Path
from urllib.parse import urlsplit

from flask import Flask, Response, request
from flask.sessions import SecureCookieSessionInterface, SessionMixin
from werkzeug.routing import IntegerConverter, Map

from publisher.base.clock import Clock
from publisher.base.environment import Environment, read_environment, secret_key
from publisher.base.errors import StorageUnavailable
from publisher.base.media_files import NOT_SNIFFED
from publisher.base.text import LARGEST_ROW
from publisher.installation import Site, open_site
from publisher.part import hooked
from publisher.serving.front import FeedMiddleware
from publisher.web import (
    assets,
    blog,
    context,
    page_answers,
    page_look,
    rendering,
    request_checks,
    studio,
    style,
    translations,
)
from publisher.web.api import (
    feeds,
    media,
    metrics,
)
from publisher.web.assets import PAGE_POLICY
from publisher.web.blog import posts
from publisher.web.request_checks import MOST_BYTES, TEXT_BYTES, LimitedRequest
from publisher.web.studio.account_pages import login, setup

_HEADERS = {
    "Content-Security-Policy": PAGE_POLICY,
    NOT_SNIFFED[0]: NOT_SNIFFED[1],
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}

_BLUEPRINTS = (
    assets.blueprint,
    blog.blueprint,
    media.card_blueprint,
    media.icon_blueprint,
    feeds.blueprint,
    metrics.health_blueprint,
    login.blueprint,
    media.blueprint,
    metrics.blueprint,
    posts.preview_blueprint,
    setup.blueprint,
    studio.blueprint,
    style.blueprint,
)


def create_app(environment: Environment | None = None, clock: Clock | None = None) -> Flask:
    """The application for one installation; settings from the environment unless given."""
    site = open_site(environment or read_environment(), clock)
    app = Flask("publisher", template_folder=str(_templates()), static_folder=None)
    app.request_class = LimitedRequest
    app.config.update(
        SECRET_KEY=secret_key(site.environment),
        MAX_CONTENT_LENGTH=MOST_BYTES,
        MAX_FORM_MEMORY_SIZE=TEXT_BYTES,
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        # Otherwise a slow answer to a script could set again the cookie from before a login.
        SESSION_REFRESH_EACH_REQUEST=False,
        TRUSTED_HOSTS=None,
    )
    app.extensions["publisher"] = site
    app.session_interface = LoginCookie()
    app.url_map.converters["int"] = RowNumber
    app.after_request(_secure)
    # In this order: each request is numbered first, and counted before it can be refused.
    for module in (page_answers, metrics, request_checks, rendering, page_look, translations):
        module.prepare(app)
    for blueprint in _BLUEPRINTS:
        app.register_blueprint(blueprint)
    for part in site.parts:
        for reference in part.blueprints:
            app.register_blueprint(part.load(reference))
    listening = (listen(site) for listen in hooked(site.parts, "poll_listener"))
    app.extensions["polls"] = polls = next(listening, None)
    front = FeedMiddleware(app.wsgi_app, site, polls, metrics.count_page)
    app.extensions["front"] = front
    app.wsgi_app = front  # type: ignore[method-assign]
    return app


def close_app(app: Flask) -> None:
    """Stop what an application has running: its threads first, then what they use."""
    if (polls := app.extensions["polls"]) is not None:
        polls.stop()
    app.extensions["front"].close()
    current_site(app).database.close()


class LoginCookie(SecureCookieSessionInterface):
    """The login cookie: `Secure` whenever the browser uses https.

    Behind a TLS proxy, the request arrives as http, perhaps with another host: then the site's own
    https address decides. Without `Secure` it is sent only for http at another address, for example
    in a home network before TLS is set up.
    """

    def get_cookie_secure(self, app: Flask) -> bool:
        """Whether this request came over TLS, to us or to the proxy."""
        if request.is_secure:
            return True
        try:
            own = current_site(app).site_url
        except StorageUnavailable:  # the address is unknown: be strict
            return True
        at_home = urlsplit(own).netloc == request.host or context.is_loopback(context.asked_at())
        return own.startswith("https:") and at_home

    def save_session(self, app: Flask, session: SessionMixin, response: Response) -> None:
        """As usual, and forbid shared caches to keep an answer that depends on the cookie.

        `Vary` says so too, but not every cache obeys it.
        """
        super().save_session(app, session, response)
        if session and "Cookie" in response.vary and not response.cache_control.no_store:
            response.cache_control.private = True
            if not response.cache_control.immutable:
                response.cache_control.no_cache = True


class RowNumber(IntegerConverter):
    """A row's number in an address; one above the database's largest does not match (404)."""

    def __init__(self, url_map: Map, fixed_digits: int = 0, max: int = LARGEST_ROW) -> None:  # noqa: A002 - werkzeug's name
        super().__init__(url_map, fixed_digits, max=max)


def _templates() -> Path:
    """The templates: beside the package in a checkout, inside it in an installed wheel."""
    package = Path(__file__).parent.parent
    inside = package / "templates"
    return inside if inside.is_dir() else package.parent / "templates"


def _secure(response: Response) -> Response:
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)
    return response


def current_site(app: Flask) -> Site:
    """The site that an application serves."""
    site: Site = app.extensions["publisher"]
    return site
