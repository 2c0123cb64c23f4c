"""The examples of docs/dynamic-ttl.md, with the real Flask and the real Django."""

import os
import subprocess
import sys
from pathlib import Path

import flask
from werkzeug.test import Client

from publisher.dynamic_ttl import ttl_for
from publisher.dynamic_ttl.wsgi import DynamicTtl
from publisher.feed_reading.scan import scan
from tests.dynamic_ttl.engines import document
from tests.dynamic_ttl.test_middleware import MONDAY, POSTS, Clock

# Django keeps its settings per process, so it gets one of its own.
DJANGO = """
import asyncio, sys
from datetime import UTC, datetime, timedelta
import django
from django.conf import settings
from django.contrib.syndication.views import Feed
from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpResponse
from django.urls import path
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import condition

settings.configure(DEBUG=False, SECRET_KEY="for a test", ROOT_URLCONF=__name__,
                   ALLOWED_HOSTS=["*"], USE_TZ=True,
                   INSTALLED_APPS=["django.contrib.sites"], SITE_ID=None)

NOW = datetime(2026, 11, 16, 9, 30, tzinfo=UTC)
POSTS = [NOW - timedelta(days=day) for day in range(1, 60)]

class Tides(Feed):
    title, link, description = "Tides", "/", "About tides"
    def items(self): return list(range(20))
    def item_title(self, item): return f"Post {item}"
    def item_description(self, item): return "text " * 40
    def item_link(self, item): return f"/{item}"
    def item_pubdate(self, item): return POSTS[item]

urlpatterns = [path("feed/", gzip_page(condition(etag_func=lambda request: '"v1"')(Tides()))),
               path("page/", lambda request: HttpResponse("hello"))]
django.setup()

from django.contrib.sites import shortcuts
from django.contrib.sites.requests import RequestSite
import django.contrib.syndication.views as views
views.get_current_site = RequestSite

from publisher.dynamic_ttl import asgi, wsgi
app = wsgi.DynamicTtl(WSGIHandler(), "/feed/", lambda: POSTS, clock=lambda: NOW)

from werkzeug.test import Client
import gzip
client = Client(app)
first = client.get("/feed/", headers={"Accept-Encoding": "gzip", "Host": "a.example"})
document = gzip.decompress(first.data)
again = client.get("/feed/", headers={"If-None-Match": first.headers["ETag"], "Host": "a.example"})
print(first.status_code, b"<ttl>" in document, document.count(b"<item>"), first.headers["ETag"][:6])
print(again.status_code, again.headers["Cache-Control"] == first.headers["Cache-Control"])
print(client.get("/page/", headers={"Host": "a.example"}).text)

async def over_asgi():
    messages = []
    requests = [{"type": "http.request", "body": b"", "more_body": False}]
    async def receive(): return requests.pop() if requests else await asyncio.Event().wait()
    async def send(message): messages.append(message)
    scope = {"type": "http", "method": "GET", "path": "/feed/", "query_string": b"",
             "headers": [(b"host", b"a.example")], "asgi": {"version": "3.0"}}
    outer = asgi.DynamicTtl(ASGIHandler(), "/feed/", lambda: POSTS, clock=lambda: NOW)
    await outer(scope, receive, send)
    return messages
start, body = asyncio.run(over_asgi())[:2]
print(start["status"], body["body"] == document)
"""


def test_flask() -> None:
    """A Flask feed in one line: the element, the headers, 304 through its own tag."""
    app = flask.Flask("tides")

    @app.get("/feed.xml")
    def feed() -> flask.Response:
        response = flask.Response(document("hugo"), mimetype="application/rss+xml")
        response.set_etag("v1")
        made: flask.Response = response.make_conditional(flask.request)  # type: ignore[assignment]
        return made

    @app.get("/broken")
    def broken() -> str:
        raise ZeroDivisionError

    app.wsgi_app = DynamicTtl(  # type: ignore[method-assign]
        app.wsgi_app, ["/feed.xml", "/broken"], lambda: POSTS, clock=Clock()
    )
    client = Client(app)
    first = client.get("/feed.xml")
    assert scan(first.data).hints.ttl_minutes == ttl_for(POSTS, MONDAY).ttl_minutes
    again = client.get("/feed.xml", headers={"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 304
    assert again.headers["Cache-Control"] == first.headers["Cache-Control"]
    assert client.get("/broken").status_code == 500
    assert client.get("/nowhere").status_code == 404


def test_django(tmp_path: Path) -> None:
    """Django's own syndication framework, with conditional answers and gzip, by WSGI and ASGI."""
    program = tmp_path / "tides.py"
    program.write_text(DJANGO, "utf-8")
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, str(program)],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        '200 True 20 W/"v1~',
        "304 True",
        "hello",
        "200 True",
    ]
