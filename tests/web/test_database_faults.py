"""The database fails at any statement of any request: a sentence and 503, never a 500."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import event
from sqlalchemy.exc import OperationalError
from werkzeug.routing import Rule

from publisher.installation import Site
from publisher.publishing.rebuild import rebuild
from publisher.web.application import current_site
from tests.factories import PASSWORD, make_author, make_post

# Requests that are long, or that change what the next one needs.
LEFT_OUT = {"/studio/logout", "/static/<path:name>"}
LOGIN = {"name": "ada", "password": PASSWORD}
PARTS = {"slug": "here", "name": "ada", "tag": "sea", "year": 2024, "month": 3, "part": 1}


@contextmanager
def failing(site: Site, number: int) -> Iterator[list[str]]:
    """Lets the statement of this number fail, and all after it; the list grows with each."""
    seen: list[str] = []

    def fail(_: Any, __: Any, statement: str, *___: Any) -> None:
        seen.append(statement)
        if len(seen) >= number:
            raise OperationalError(statement, {}, sqlite3.OperationalError("disk I/O error"))

    engine = site.database.engine
    event.listen(engine, "before_cursor_execute", fail)
    try:
        yield seen
    finally:
        event.remove(engine, "before_cursor_execute", fail)


@pytest.fixture
def stocked(app: Flask, site: Site) -> Flask:
    """A site with a post of the only author, and pages that are made each time."""
    app.config.update(PROPAGATE_EXCEPTIONS=False, FORM_KEYS=False)
    make_author(site)
    make_post(site, "Words.", title="Here", tags=["sea"])
    rebuild(site)
    return app


def address(rule: Rule) -> str:
    """An address of a rule; numbers are 1."""
    with_parts = {name: PARTS.get(name, 1) for name in rule.arguments}
    built = rule.build(with_parts, append_unknown=False)
    return built[1] if built else "/"


def faults(client: FlaskClient, site: Site, method: str, path: str) -> Iterator[str]:
    """The answers of 500 to a request, whichever statement fails."""
    for number in range(1, 40):
        with failing(site, number) as seen:
            answer = client.open(path, method=method, data={} if method == "POST" else None)
        answer.close()
        if answer.status_code == 500:
            yield f"{method} {path}: {seen[-1][:60]}"
        if len(seen) < number:
            return


@pytest.mark.system
@pytest.mark.parametrize("who", ["nobody", "admin"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_no_statement_that_fails_is_a_500(stocked: Flask, who: str, method: str) -> None:
    """Every route, every statement of it: also after the page was made."""
    client = stocked.test_client()
    client.environ_base["wsgi.url_scheme"] = "https"
    if who == "admin":
        assert client.post("/studio/login", data=LOGIN).status_code == 302
    matching = [
        fault
        for rule in stocked.url_map.iter_rules()
        if method in (rule.methods or ()) and rule.rule not in LEFT_OUT
        for fault in faults(client, current_site(stocked), method, address(rule))
    ]
    assert matching == []
