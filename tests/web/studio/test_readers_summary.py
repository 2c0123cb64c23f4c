"""What the studio's home says of readers: the post on its way, when to publish, the month."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from publisher.blog import update_log
from publisher.core.replay.reader_groups import USUAL_READERS
from publisher.installation import Site
from publisher.publishing.rebuild import rebuild
from publisher.web.studio import readers_summary
from tests.conftest import FakeClock
from tests.factories import PASSWORD, make_author, make_post
from tests.readers.polls import NOT_MODIFIED, Counting, FakeDocument


@pytest.fixture
def author(
    app: Flask, client: FlaskClient, site: Site, monkeypatch: pytest.MonkeyPatch
) -> Iterator[FlaskClient]:
    """A browser that is logged in; pages wait for what is worked out beside them."""
    monkeypatch.setattr(readers_summary, "WAIT_SECONDS", 60.0)
    app.config["FORM_KEYS"] = False
    make_author(site)
    client.post("/studio/login", data={"name": "ada", "password": PASSWORD})
    yield client
    readers_summary._pool().shutdown()
    readers_summary._pool.cache_clear()
    readers_summary._asked.cache_clear()


def test_a_post_on_its_way(author: FlaskClient, site: Site, clock: FakeClock) -> None:
    """Reached so many of the readers that were there before it, by program, and all by when."""
    counting = Counting(site)
    make_post(site, "Before.")
    old = FakeDocument(last_modified=clock(), max_age_seconds=3600)
    for agent in ("NetNewsWire/6", "newsboat/2", "Hourly/1", "curl/8.1", "UptimeRobot/2.0"):
        counting.poll(clock(), document=old, agent=agent)
    clock.forward(minutes=10)
    make_post(site, title="News")
    counting.fold()
    assert ">0 of your 3 readers; all by 10:30<" in author.get("/studio/").text
    new = FakeDocument('W/"two"', last_modified=clock(), max_age_seconds=3600)
    clock.forward(minutes=12)
    counting.poll(clock(), document=new, agent="NetNewsWire/6")
    counting.poll(clock(), document=new, agent="Newcomer/1")
    counting.fold()
    told: Any = author.get("/studio/reached").json
    assert told["words"] == "1 of your 3 readers; NetNewsWire in 12 min; all by 10:30"
    assert told["again"] > 0
    clock.forward(minutes=20)
    for agent in ("newsboat/2", "Hourly/1"):
        counting.poll(clock(), document=new, agent=agent)
    counting.fold()
    assert ">all 3 of your readers; " in author.get("/studio/").text
    done: Any = author.get("/studio/reached").json
    assert done["again"] == 0


def test_when_to_publish_with_one_click(
    author: FlaskClient, site: Site, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At night most readers sleep; the morning is offered, and one click schedules for it."""
    morning = clock.moment.replace(hour=8, minute=0)
    past = [
        morning - timedelta(days=day, minutes=-25 * post)
        for day in range(1, 40)
        for post in range(8)
    ]
    with site.database.write() as session:
        update_log.record_all(session, sorted(past), "loaded")
    clock.moment = morning.replace(hour=1)
    rebuild(site)
    assert "most have it within" not in author.get("/studio/").text  # nobody reads yet
    known = readers_summary._Month(USUAL_READERS, "")
    monkeypatch.setattr(readers_summary, "_month", lambda *_: known)
    page = author.get("/studio/").text
    assert "Now: most have it within" in page
    assert 'value="later:2024-03-04T' in page
    moment = page.partition('value="later:')[2].partition('"')[0]
    answer = author.post("/studio/", data={"source": "Good morning.", "action": f"later:{moment}"})
    assert answer.status_code == 302
    with site.database.read() as session:
        (due,) = update_log.scheduled(session, clock())
    assert f"{due:%Y-%m-%dT%H:%M}" == moment
    assert "Good morning." in author.get("/studio/").text
    bad = author.post("/studio/", data={"source": "Kept text", "action": "later:nonsense"})
    assert bad.status_code == 422
    assert "Kept text" in bad.text


def test_one_sentence_a_month(author: FlaskClient, site: Site, clock: FakeClock) -> None:
    """True and with its source; nothing is said where little is known."""
    assert "In the last 30 days" not in author.get("/studio/").text
    counting, document = Counting(site), FakeDocument(max_age_seconds=3600)
    for hour in range(30):
        at = clock() + timedelta(hours=hour)
        if hour:
            counting.poll(at, NOT_MODIFIED, document, if_none_match=document.etag)
        else:
            counting.poll(at, document=document)
    counting.fold()
    clock.forward(days=2)
    page = author.get("/studio/").text
    assert "the polite one made 87 fewer visits than one every 15 minutes would have meant" in page
    assert 'href="/readers?days=30"' in page
