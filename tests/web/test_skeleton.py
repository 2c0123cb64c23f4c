"""The walk from a form to the feed, over HTTP."""

import re

from flask import Flask
from flask.testing import FlaskClient

from publisher.installation import Site, setup_path
from publisher.publishing.rebuild import rebuild, rebuild_if_due
from tests.conftest import FakeClock
from tests.factories import PASSWORD


def test_first_author_writes_and_the_feed_has_it(
    app: Flask, client: FlaskClient, site: Site, clock: FakeClock
) -> None:
    """Set-up link, first post, undo window, feed with a ttl: the main job."""
    app.config["FORM_KEYS"] = False
    link = setup_path(site)
    assert link is not None
    form = {"name": "ada", "password": PASSWORD}
    assert client.post(link, data=form).location == "/studio/"
    client.post("/studio/", data={"source": "Hello from the studio."})
    rebuild(site)
    assert b"Hello from the studio" not in client.get("/rss.xml").data
    clock.forward(seconds=61)
    assert rebuild_if_due(site)
    app.extensions["front"].refresh()
    answer = client.get("/rss.xml")
    assert b"Hello from the studio" in answer.data
    assert b"<ttl>15</ttl>" in answer.data
    assert re.fullmatch(r"public, max-age=\d+", answer.headers["Cache-Control"])


def test_not_modified_within_the_same_step(
    app: Flask, client: FlaskClient, site: Site, clock: FakeClock
) -> None:
    """The validators of one answer get 304 from the next request."""
    rebuild(site)
    clock.forward(hours=1)
    first = client.get("/rss.xml")
    again = client.get("/rss.xml", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    assert again.headers["Cache-Control"] == first.headers["Cache-Control"]
