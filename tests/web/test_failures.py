"""When something is not there or breaks: the status, our page, and nothing of our insides."""

import json
from typing import Any, NoReturn

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import text
from werkzeug.test import EnvironBuilder, run_wsgi_app

from publisher.base.errors import StorageUnavailable, TooMany
from publisher.base.system import logs
from publisher.installation import Site
from publisher.storage.database import Database
from publisher.web import rendering
from tests.conftest import SITE_URL
from tests.factories import make_author


def raising(error: Exception) -> Any:
    def view() -> str:
        raise error

    return view


@pytest.fixture
def broken(app: Flask) -> FlaskClient:
    """A client of an app with addresses that fail in certain ways."""
    app.config["PROPAGATE_EXCEPTIONS"] = False
    for name, error in {
        "busy": StorageUnavailable("the disk is full; nothing was changed"),
        "often": TooMany("too many tries", 120),
        "bug": RuntimeError("a secret inside"),
    }.items():
        app.add_url_rule(f"/broken/{name}", name, raising(error))
    client = app.test_client()
    client.environ_base["wsgi.url_scheme"] = "https"
    return client


@pytest.mark.parametrize(
    ("address", "status", "words"),
    [
        ("/nothing/of/the/kind", 404, "There is no such page."),
        ("/broken/busy", 503, "The disk is full; nothing was changed."),
        ("/broken/often", 429, "Too many tries."),
        ("/broken/bug", 500, "The fault is ours"),
    ],
)
def test_each_failure_has_its_page(
    broken: FlaskClient, address: str, status: int, words: str
) -> None:
    """The right status, plain words in our design, not to be indexed."""
    answer = broken.get(address)
    assert answer.status_code == status
    assert words in answer.text
    assert '<a href="/" rel="home">' in answer.text
    assert '<meta name="robots" content="noindex">' in answer.text
    assert "secret inside" not in answer.text


def test_when_to_come_back(broken: FlaskClient) -> None:
    """429 and 503 say when another try makes sense."""
    assert broken.get("/broken/often").headers["Retry-After"] == "120"
    assert int(broken.get("/broken/busy").headers["Retry-After"]) > 0


@pytest.mark.parametrize("address", ["/", "/archives", "/posts/<b>x", "/search?q=x", "/healthz"])
def test_a_database_that_is_away_is_said(
    app: Flask, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    """A database server that is being started again: no error of ours, whatever needs it."""
    client = app.test_client()

    def away(_: Database) -> NoReturn:
        raise StorageUnavailable("the database server does not answer; <try> again")

    for name in ("read", "write", "takes_writes"):
        monkeypatch.setattr(Database, name, away)
    answer = client.get(address)
    assert answer.status_code == 503
    assert "database server does not answer" in answer.text
    assert answer.is_json or "; &lt;try&gt; again" in answer.text
    assert answer.headers.get("Retry-After") or address == "/healthz"


def test_a_broken_database_still_answers(broken: FlaskClient, site: Site) -> None:
    """What the database cannot say ends in our page, with the blog's name."""
    with site.database.write() as db:
        db.execute(text("ALTER TABLE posts RENAME COLUMN slug TO elsewhere"))
    answer = broken.get("/")
    assert answer.status_code == 500
    assert '<a href="/" rel="home">Untitled blog</a>' in answer.text


def test_errors_in_the_studio_lead_back_to_it(client: FlaskClient) -> None:
    """Not to the readers' pages; there they lead to what readers look for."""
    inside = client.get("/studio/nothing").text
    assert '<a href="/studio/posts">Posts</a>' in inside
    assert "/studio/" not in client.get("/nothing").text


def test_when_even_the_page_breaks(broken: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without settings and templates there are still a status and a sentence."""
    monkeypatch.setattr(rendering, "settings", raising(RuntimeError("a secret inside")))
    answer = broken.get("/broken/bug")
    assert answer.status_code == 500
    assert "The fault is ours" in answer.text
    assert "secret inside" not in answer.text


def test_other_methods_are_refused(client: FlaskClient) -> None:
    """A page cannot be posted to, and the answer names what it takes."""
    client.application.config["FORM_KEYS"] = False
    answer = client.post("/subscribe")
    assert answer.status_code == 405
    assert "GET" in answer.headers["Allow"]


def test_a_forged_form_is_refused(client: FlaskClient, site: Site) -> None:
    """A form without our token changes nothing and leads to the login form, or says what to do."""
    make_author(site)
    answer = client.post("/studio/login", data={"name": "ada"})
    assert answer.status_code == 401
    assert 'name="password"' in answer.text
    answer = client.post("/setup/x", data={"name": "ada"})
    assert answer.status_code == 400
    assert "reload the page" in answer.text


def test_a_number_that_no_row_can_have(client: FlaskClient) -> None:
    """An address with 23 digits is not there; the database is not asked about it."""
    for path in ("/studio/posts/12345678901234567890123", "/sitemap-99999999999999999999.xml"):
        assert client.get(path).status_code == 404


def test_a_failure_is_found_in_the_log_by_its_number(
    broken: FlaskClient, caplog: pytest.LogCaptureFixture
) -> None:
    """Header, page and log line share a number; the line names the route, not what was asked."""
    caplog.handler.setFormatter(logs.LogLines(human=False))
    answer = broken.get("/broken/bug?token=hidden", headers={"Accept": "application/json"})
    lines = [json.loads(line) for line in caplog.text.splitlines()]
    number = answer.headers["X-Request-ID"]
    assert number in answer.get_json()["error"]
    (line,) = [line for line in lines if line["event"] == "answered"]
    assert (line["request"], line["route"], line["status"]) == (number, "/broken/bug", 500)
    assert "hidden" not in str(lines)
    assert broken.get("/about").headers["X-Request-ID"] != number
    assert logs.request_number.get() == ""


@pytest.mark.parametrize(
    "came_from", ["http://[", "http://[x]/", "http://a:99999/", "//", "\ud800"]
)
def test_a_page_before_that_is_none(client: FlaskClient, site: Site, came_from: str) -> None:
    """The login form names the page of the form it was asked for instead of, if there is one."""
    make_author(site)
    for method in ("GET", "POST"):
        environ = EnvironBuilder("/studio/login", method=method).get_environ()
        environ |= {"HTTP_ORIGIN": SITE_URL, "HTTP_REFERER": came_from}
        _, status, _ = run_wsgi_app(client.application, environ, buffered=True)
        assert int(status[:3]) in (200, 401)


@pytest.mark.parametrize("path", ["/", "/studio", "/studio/login"])
def test_a_host_that_is_none(app: Flask, site: Site, path: str) -> None:
    """Whatever a stranger calls us: the framework's own address of a request raises over some."""
    make_author(site)
    for host in ("xn--", "a.xn--", "xn--a", "a..b", "a" * 64, "a:99999", "~"):
        environ = EnvironBuilder(path).get_environ() | {"HTTP_HOST": host}
        _, status, _ = run_wsgi_app(app, environ, buffered=True)
        assert int(status[:3]) in (200, 308, 400), host
