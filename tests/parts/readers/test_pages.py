"""The readers report and the feed's room, as an author sees them."""

from dataclasses import replace
from datetime import timedelta
from ipaddress import ip_network

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select

from publisher.base.environment import Environment, Network
from publisher.installation import Site
from publisher.parts.readers.fold import fold
from publisher.parts.readers.tables import ReaderClient
from publisher.publishing.rebuild import rebuild
from publisher.serving.front import DOCTOR
from publisher.storage.tables.publishing import Delivery
from publisher.web.application import create_app
from tests.conftest import FakeClock
from tests.factories import PASSWORD, make_author, make_post
from tests.parts.readers.polls import NOT_MODIFIED, Counting, FakeDocument

MARKUP = "Evil/1.0 <script>alert(1)</script> \x01\x02 (9999999999 subscribers)"


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
    rebuild(site)
    app.extensions["front"].refresh()
    for _ in range(8):
        author.get("/rss.xml", headers={"User-Agent": "Hourly/2.1"})
        clock.forward(minutes=60)
    app.extensions["polls"].flush()
    fold(site.database, 15)
    page = author.get("/readers").text
    assert "Hourly" in page
    assert "2.1" in page
    assert "downloads everything each time" in page
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
    rebuild(site)
    app = create_app(replace(environment, trusted_proxies=trusted), clock)
    for number in range(3):
        headers = {"X-Forwarded-For": f"203.0.113.{number}", "Forwarded": f"for=203.0.113.{number}"}
        assert app.test_client().get("/rss.xml", headers=headers).status_code == 200
    app.extensions["polls"].stop()
    app.extensions["front"].close()
    app.extensions["publisher"].database.close()
    fold(site.database, 15)
    with site.database.read() as session:
        assert session.scalar(select(func.count()).select_from(ReaderClient)) == readers


def test_bad_days_are_refused(author: FlaskClient) -> None:
    """Any nonsense in the query is the visitor's fault."""
    for days in ("0", "x", "401", "²", "-1", "9" * 5000, "000000001" + "9" * 9):
        answer = author.get("/readers", query_string={"days": days})
        assert answer.status_code == 400, days[:20]


def test_an_empty_site_has_a_page(author: FlaskClient) -> None:
    """Before the first poll and the first build, both pages say so."""
    assert "Nobody has fetched the feed" in author.get("/readers").text
    assert "has not been built yet" in author.get("/studio/feed").text


def test_the_feed_s_room_says_first_that_all_is_well(
    author: FlaskClient, site: Site, clock: FakeClock
) -> None:
    """Then why the ttl is what it is, the week and the documents; when one is due, that."""
    make_post(site)
    rebuild(site)
    page = author.get("/studio/feed").text
    assert "The feed is valid and up to date" in page
    assert "What apps are told now" in page
    assert "The last seven days" in page
    assert "/atom.xml" in page
    clock.forward(hours=1)
    assert "Its next version will be built within seconds" in author.get("/studio/feed").text


def test_erasing_is_for_admins_and_leaves_nothing(
    counting: Counting, author: FlaskClient, site: Site, clock: FakeClock
) -> None:
    """The button forgets everybody; an author without the role may not press it."""
    counting.poll(clock())
    counting.fold()
    make_author(site, "bob")
    bob = author.application.test_client()
    bob.environ_base["wsgi.url_scheme"] = "https"
    bob.post("/studio/login", data={"name": "bob", "password": PASSWORD})
    assert bob.post("/readers/erase").status_code == 403
    assert author.post("/readers/erase").location == "/readers"
    with site.database.read() as session:
        assert session.scalar(select(func.count()).select_from(ReaderClient)) == 0


def test_readers_are_grouped_by_program_with_what_can_be_done(
    counting: Counting, author: FlaskClient, clock: FakeClock
) -> None:
    """A phone's screen of programs; a chosen one shows its readers, whom to ask, what to write."""
    hourly = "Hourly/1.0 (+https://hourly.example/bot)"
    for step in range(12):
        at = clock() + timedelta(minutes=60 * step)
        for number in range(30):
            counting.poll(at, agent=hourly, address=f"192.0.2.{number}")
        for number in range(12):
            agent = f"Other{number}/1"
            counting.poll(at, NOT_MODIFIED, agent=agent, if_none_match='W/"one"')
    counting.fold()
    clock.forward(hours=12)
    page = author.get("/readers").text
    assert "30 download everything each time" in page
    assert page.count("<article") <= 8 * 4
    assert "All 30 with Hourly" in page
    assert "5 more programs" in page
    assert page.count("<svg") >= 3
    page = author.get("/readers?program=Hourly").text
    assert page.count("<article") == 30
    assert "https://hourly.example/bot" in page
    assert "Hello, Hourly 1.0 fetches https://blog.example/rss.xml whole each time" in page
    chosen = author.get("/readers?verdict=fixed").text
    assert "Hourly" not in chosen[chosen.index("Who reads") : chosen.index("Over time")]
    assert author.get("/readers?verdict=nice").status_code == 400


def test_push_is_measured(
    counting: Counting, author: FlaskClient, site: Site, clock: FakeClock
) -> None:
    """Who came within a minute of a ping, and brought news home, is said by hub and cloud."""
    old = FakeDocument(last_modified=clock() - timedelta(hours=1))
    new = FakeDocument(etag='W/"two"', last_modified=clock())
    for agent in ("Pushed/1", "Late/1"):
        counting.poll(clock() - timedelta(minutes=5), document=old, agent=agent)
    with site.database.write() as session:
        for protocol, target in (("websub", "https://hub.example/"), ("rsscloud", "https://c.e/")):
            session.add(
                Delivery(
                    protocol=protocol, target=target, topic="t", created_at=clock(),
                    delivered_at=clock(), attempts=1, answer="200",
                )
            )  # fmt: skip
    for seconds, agent in ((1, "PubSubHubbub hub"), (9, "Pushed/1"), (90, "Late/1")):
        counting.poll(clock() + timedelta(seconds=seconds), document=new, agent=agent)
    counting.fold()
    clock.forward(minutes=5)
    page = author.get("/readers").text
    assert "push worked: 9 s. After 1 of 1 ping somebody came within a minute, 1 fetch" in page
    assert "push worked: 1 s" in page


def test_people_come_first_and_machines_are_folded(
    counting: Counting, author: FlaskClient, clock: FakeClock
) -> None:
    """A service with many subscribers stands above a busy script; readers alike are one row."""
    begin = clock()
    for step in range(8):
        for number in range(3):
            address = f"192.0.2.{number}"
            counting.poll(begin + timedelta(hours=step), agent="Hourly/1.0", address=address)
        for minute in range(0, 60, 5):
            at = begin + timedelta(hours=step, minutes=minute)
            counting.poll(at, agent="python-requests/2.32")
    counting.poll(begin, agent="Service/1.0 (42 subscribers)")
    counting.fold()
    clock.forward(hours=8)
    page = author.get("/readers").text
    people, machines = page[page.index("Who reads") :].split("Not counted as people: 1 program")
    assert people.index("<strong>Service") < people.index("<strong>Hourly")
    assert "42 people, 1.0 requests a day" in people
    assert "python-requests" not in people
    assert "python-requests" in machines
    assert people.count("<article") == 2
    assert "2 more like this." in people


def test_the_page_has_what_was_counted_a_moment_ago(
    app: Flask, author: FlaskClient, site: Site, clock: FakeClock
) -> None:
    """The first reader is there at once, not when its polls have waited for a minute."""
    rebuild(site)
    author.get("/rss.xml", headers={"User-Agent": "First/1.0"})
    app.extensions["polls"].flush()
    clock.forward(seconds=1)
    page = author.get("/readers").text
    assert "person follows the blog now</dt><dd>1<" in page
    assert "<strong>First" in page


def test_what_doctor_asks_is_counted_nowhere(app: Flask, author: FlaskClient, site: Site) -> None:
    """Its checks are no requests of readers; nor are they those of a script."""
    rebuild(site)
    for _ in range(2):
        author.get("/rss.xml", headers={"User-Agent": DOCTOR})
    app.extensions["polls"].flush()
    assert "Nobody has fetched the feed" in author.get("/readers").text
