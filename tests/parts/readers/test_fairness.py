"""Who has to wait, and who never has to."""

from datetime import timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient

from publisher.installation import Site
from publisher.installation.settings import store_setting
from publisher.parts.readers import counter as module
from publisher.parts.readers.counter import Fairness
from publisher.publishing.rebuild import rebuild
from tests.conftest import FakeClock
from tests.factories import make_post
from tests.parts.readers.polls import FakeDocument, request

pytestmark = pytest.mark.any_database

LEAST = 900


def test_early_repetitions_wait_for_the_rest_of_the_smallest_ttl(clock: FakeClock) -> None:
    """First and one repetition pass; then 429 until the ttl since the last document is over."""
    fair, document = Fairness(LEAST), FakeDocument()
    answers = []
    for _ in range(5):
        answers.append(fair.wait_seconds(document, request(), clock()))
        clock.forward(minutes=6)
    assert answers == [0, 0, 540, 180, 0]


@pytest.mark.parametrize(
    "headers",
    [
        {"if_none_match": '"old"'},
        {"if_modified_since": "Mon, 04 Mar 2024 09:00:00 GMT"},
        {"agent": "Google-PubSubHubbub"},
        {"method": "HEAD"},
    ],
)
def test_some_requests_never_wait(clock: FakeClock, headers: dict[str, str]) -> None:
    """Conditional ones, hubs and HEAD, however fast they come."""
    fair, document = Fairness(LEAST), FakeDocument()
    assert {fair.wait_seconds(document, request(**headers), clock()) for _ in range(9)} == {0}


def test_news_never_waits(clock: FakeClock) -> None:
    """Whoever comes for a new document gets it."""
    fair = Fairness(LEAST)
    documents = [FakeDocument(etag=f'"{number}"') for number in range(5)]
    assert {fair.wait_seconds(document, request(), clock()) for document in documents} == {0}


def test_readers_are_told_apart_and_memory_is_bounded(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another address or program is another reader; a flood of them begins anew."""
    monkeypatch.setattr(module, "MOST_KNOWN", 10)
    fair, document = Fairness(LEAST), FakeDocument()
    for number in range(100):
        headers = request(agent=f"bot-{number}")
        assert fair.wait_seconds(document, headers, clock()) == 0
    assert len(fair._fetches) <= 10


def test_over_http_it_is_off_by_default_and_polite_when_on(
    app: Flask, client: FlaskClient, site: Site, clock: FakeClock
) -> None:
    """429 with whole seconds, no-store and advice; a conditional request is answered as ever."""
    make_post(site)
    rebuild(site)
    assert {client.get("/rss.xml").status_code for _ in range(5)} == {200}
    with site.database.write() as session:
        store_setting(session, "fairness", "on")
    rebuild(site)
    app.extensions["front"].refresh()
    answers = [client.get("/rss.xml") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    refused = answers[-1]
    assert refused.headers["Retry-After"] == "900"
    assert refused.headers["Cache-Control"] == "no-store"
    assert b"If-None-Match" in refused.data
    tag = {"If-None-Match": answers[0].headers["ETag"]}
    assert client.get("/rss.xml", headers=tag).status_code == 304
    clock.forward(seconds=timedelta(minutes=15).total_seconds())
    assert client.get("/rss.xml").status_code == 200
