"""The readers report and the dashboard, as an author sees them."""

from dataclasses import replace
from datetime import timedelta
from ipaddress import ip_network

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select

from publisher.base.environment import Environment, Network
from publisher.installation import Site
from publisher.publishing.rebuild import rebuild
from publisher.readers.fold import fold
from publisher.storage.tables.readers import ReaderClient
from publisher.web.application import create_app
from tests.conftest import FakeClock
from tests.factories import PASSWORD, make_author, make_post
from tests.readers.polls import NOT_MODIFIED, Counting

MARKUP = "Evil/1.0 <script>alert(1)</script> \x01\x02 (9999999999 subscribers)"


@pytest.fixture
def author(app: Flask, client: FlaskClient, site: Site) -> FlaskClient:
    """A browser that is logged in as an admin."""
    app.config["WTF_CSRF_ENABLED"] = False
    make_author(site)
    client.post("/studio/login", data={"name": "ada", "password": PASSWORD})
    return client


@pytest.fixture
def counting(site: Site) -> Counting:
    """Polls made by hand."""
    return Counting(site)


@pytest.mark.parametrize("path", ["/readers", "/readers?days=30"])
def test_strangers_are_sent_to_the_login(client: FlaskClient, path: str) -> None:
    """What is known of readers is for authors."""
    answer = client.get(path)
    assert answer.status_code == 302
    assert answer.location.startswith("/studio/login")


def test_polls_of_the_real_front_reach_the_page(
    app: Flask, author: FlaskClient, site: Site, clock: FakeClock
) -> None:
    """From a feed request to a row with its verdict and evidence."""
    make_post(site)
    rebuild(site, clock())
    app.extensions["front"].refresh()
    for _ in range(8):
        author.get("/rss.xml", headers={"User-Agent": "Hourly/2.1"})
        clock.forward(minutes=60)
    app.extensions["polls"].flush()
    fold(site.database, 15)
    page = author.get("/readers").text
    assert "Hourly" in page
    assert "2.1" in page
    assert "unconditional" in page
    assert "0 % of 7 repeated requests" in page


def test_agents_are_escaped_and_claims_are_marked(
    counting: Counting, author: FlaskClient, clock: FakeClock
) -> None:
    """Markup, control characters and a forged number of subscribers do no harm."""
    for step in range(7):
        counting.poll(clock() + timedelta(minutes=step), NOT_MODIFIED, agent=MARKUP)
    counting.fold()
    page = author.get("/readers").text
    assert "<script>alert" not in page
    assert "over 1,000,000" in page


@pytest.mark.parametrize(("trusted", "readers"), [((), 1), ((ip_network("127.0.0.1/32"),), 3)])
def test_forged_forwarded_addresses_make_no_readers(
    site: Site,
    environment: Environment,
    clock: FakeClock,
    trusted: tuple[Network, ...],
    readers: int,
) -> None:
    """One visitor who claims three addresses is one reader, unless a trusted proxy says so."""
    rebuild(site, clock())
    app = create_app(replace(environment, trusted_proxies=trusted), clock)
    for number in range(3):
        asked = {"X-Forwarded-For": f"203.0.113.{number}", "Forwarded": f"for=203.0.113.{number}"}
        assert app.test_client().get("/rss.xml", headers=asked).status_code == 200
    app.extensions["polls"].stop()
    app.extensions["front"].close()
    app.extensions["publisher"].database.close()
    fold(site.database, 15)
    with site.database.read() as session:
        assert session.scalar(select(func.count()).select_from(ReaderClient)) == readers


@pytest.mark.parametrize("days", ["0", "x", "401", "²", "-1", "9" * 5000])
def test_bad_days_are_refused(author: FlaskClient, days: str) -> None:
    """Any nonsense in the query is the visitor's fault."""
    assert author.get("/readers", query_string={"days": days}).status_code == 400


def test_an_empty_site_has_a_page(author: FlaskClient) -> None:
    """Before the first poll and the first build, both pages say so."""
    assert "Nobody has fetched a feed" in author.get("/readers").text
    assert "has not been built yet" in author.get("/studio/").text


def test_the_dashboard_shows_ttl_week_and_health(
    author: FlaskClient, site: Site, clock: FakeClock
) -> None:
    """The studio's first page says why the ttl is what it is, and how the documents are."""
    make_post(site)
    rebuild(site, clock())
    page = author.get("/studio/").text
    assert "Readers are told to come back in 15 minutes" in page
    assert "Why 15 minutes" in page
    assert "The last seven days" in page
    assert "/atom.xml" in page
    assert "Every rule of the feed doctor is kept" in page


def test_erasing_is_for_admins_and_leaves_nothing(
    counting: Counting, author: FlaskClient, site: Site, clock: FakeClock
) -> None:
    """The button forgets everybody; an author without the role may not press it."""
    counting.poll(clock())
    counting.fold()
    make_author(site, "bob")
    other = author.application.test_client()
    other.environ_base["wsgi.url_scheme"] = "https"
    other.post("/studio/login", data={"name": "bob", "password": PASSWORD})
    assert other.post("/readers/erase").status_code == 403
    assert author.post("/readers/erase").location == "/readers"
    with site.database.read() as session:
        assert session.scalar(select(func.count()).select_from(ReaderClient)) == 0
