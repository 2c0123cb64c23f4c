"""Applications that are measured beside ours."""

from flask import Flask, Response
from sqlalchemy import select

from publisher.base.clock import utc_now
from publisher.base.environment import read_environment
from publisher.feeds import rss
from publisher.installation import open_site
from publisher.publishing.rebuild import RSS, document_at
from publisher.serving.front import FeedMiddleware
from publisher.storage.tables.publishing import Snapshot
from publisher.web.application import create_app


def naive() -> Flask:
    """The simplest implementation: each request reads the posts and renders them with feedgen."""
    site = open_site(read_environment())
    app = Flask("naive")

    @app.get("/rss.xml")
    def feed() -> Response:
        with site.database.read() as session:
            body = document_at(session, site.site_url, utc_now(), site.parts)
        return Response(body, content_type=rss.CONTENT_TYPE)

    return app


def ready_bytes() -> Flask:
    """A plain Flask view that answers with bytes it holds: the cost of routing and responses."""
    site = open_site(read_environment())
    with site.database.read() as session:
        body = session.scalars(select(Snapshot.body).where(Snapshot.name == RSS)).one()
    app = Flask("ready")

    @app.get("/rss.xml")
    def feed() -> Response:
        return Response(body, content_type=rss.CONTENT_TYPE)

    return app


def counting() -> Flask:
    """Our application as it is served."""
    return create_app()


def uncounted() -> Flask:
    """Our application without its poll counter: what counting is compared with."""
    app = create_app()
    app.wsgi_app = FeedMiddleware(Flask.wsgi_app.__get__(app), app.extensions["publisher"])  # type: ignore[method-assign]
    return app
