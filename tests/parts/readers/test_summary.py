"""What the studio says of people: the post on its way, the two buttons, the page of a post."""

from datetime import timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient

from publisher.blog import update_log
from publisher.installation import Site
from publisher.parts.readers import store
from publisher.parts.readers.pages import summary
from publisher.parts.readers.reporting.audience import ProgramProgress, audience, people_in
from publisher.publishing.rebuild import rebuild
from tests.conftest import FakeClock
from tests.factories import PASSWORD, make_post
from tests.parts.readers.polls import NOT_MODIFIED, Counting, FakeDocument

FEEDLY = "Feedly/1.0 (+https://feedly.com; 42 subscribers)"
NOBODY = ("curl/8.1", "UptimeRobot/2.0", "python-requests/2.32", "hourly-script/0.3 (a@b.example)")


def known_day(site: Site, clock: FakeClock) -> None:
    """Forty mornings with eight updates each, and a first post."""
    morning = clock.moment.replace(hour=8, minute=0)
    past = [
        morning - timedelta(days=day, minutes=-25 * post)
        for day in range(1, 40)
        for post in range(8)
    ]
    with site.database.write() as session:
        update_log.record_all(session, sorted(past), "loaded")


def test_a_post_on_its_way(author: FlaskClient, site: Site, clock: FakeClock) -> None:
    """So many of the people who follow, program by program; on home, page and readers alike."""
    counting = Counting(site)
    make_post(site, "Before.")
    old = FakeDocument(last_modified=clock(), max_age_seconds=3600)
    for agent in ("NetNewsWire/6", "newsboat/2", FEEDLY, *NOBODY):
        counting.poll(clock(), document=old, agent=agent)
    clock.forward(minutes=10)
    post = make_post(site, title="News", author_id=1).id
    counting.fold()
    page = author.get("/studio/").text
    assert "0 of 44 people have it: “<a" in page
    assert "<strong>Feedly</strong> (42 people): looks at 10:30<" in page
    new = FakeDocument('W/"two"', last_modified=clock(), max_age_seconds=3600)
    clock.forward(minutes=12)
    for agent in (FEEDLY, "Newcomer/1", "hourly-script/0.3 (a@b.example)"):
        counting.poll(clock(), document=new, agent=agent)
    counting.fold()
    for address in ("/studio/", "/studio/reached", f"/studio/posts/{post}/reach",
                    f"/studio/posts/{post}", f"/studio/reached?post={post}"):  # fmt: skip
        text = author.get(address).text
        assert "43 of 45 people have it" in text, address
        assert "<strong>Feedly</strong> (42 people): got it at 09:52<" in text, address
        assert "<strong>NetNewsWire</strong> (1 person): looks at 10:30<" in text, address
        assert 'data-again="15"' in text, address
        assert not any(name in text for name in ("script/0", "curl", "UptimeRobot"))
    assert "<dt>people follow the blog now</dt><dd>45</dd>" in author.get("/readers").text
    clock.forward(minutes=20)
    counting.poll(clock(), document=new, agent="newsboat/2")
    clock.forward(minutes=40)
    counting.fold()
    page = author.get("/studio/").text
    assert "NetNewsWire</strong> (1 person): looks on its own schedule<" in page
    counting.poll(clock(), document=new, agent="NetNewsWire/6")
    counting.fold()
    text = author.get("/studio/").text
    assert "All 45 people have it" in text
    assert 'data-again="0"' in text
    assert author.get("/studio/reached?post=0").text.count("people") == 0, "a new post"


def test_what_a_post_reached_months_later(
    author: FlaskClient, site: Site, clock: FakeClock
) -> None:
    """Each update, by program, in people; kept when the readers themselves are forgotten."""
    counting = Counting(site)
    make_post(site, "Before.", at=clock() - timedelta(minutes=50))
    old = FakeDocument(last_modified=clock() - timedelta(minutes=50), max_age_seconds=3600)
    for agent in ("NetNewsWire/6", FEEDLY):
        counting.poll(clock() - timedelta(minutes=30), document=old, agent=agent)
    post = make_post(site, title="News", author_id=1).id
    new = FakeDocument('W/"two"', last_modified=clock())
    counting.poll(clock() + timedelta(minutes=12), document=new, agent=FEEDLY)
    counting.poll(clock() + timedelta(minutes=30), document=new, agent="NetNewsWire/6")
    clock.forward(minutes=60)
    form = {"source": "Mended.", "title": "News", "place": "keep", "base_version": "1"}
    assert author.post(f"/studio/posts/{post}", data=form).status_code == 302
    edited = FakeDocument('W/"three"', last_modified=clock())
    counting.poll(clock() + timedelta(minutes=5), document=edited, agent=FEEDLY)
    counting.fold()
    clock.forward(days=200)
    with site.database.write() as session:
        store.prune(session, clock(), 30)
        assert audience(session, clock()) == []
    author.post("/studio/login", data={"name": "ada", "password": PASSWORD})
    page = author.get(f"/studio/posts/{post}/reach").text
    assert "43 people who followed the blog before had it, half of them within 12 min." in page
    assert "42 people who followed the blog before had this version" in page
    assert '<th scope="row">Feedly</th><td class="number" data-label="People">42</td>' in page
    listed = author.get("/studio/posts").text
    assert (
        f'<a href="/studio/posts/{post}/reach" aria-label="43 people: what it reached">' in listed
    )
    with site.database.write() as session:
        store.erase(session)
    assert "Nothing is known" in author.get(f"/studio/posts/{post}/reach").text
    assert author.get("/studio/posts/99/reach").status_code == 404
    author.post("/studio/", data={"source": "A draft.", "place": "draft"})
    assert "it has not been published" in author.get("/studio/posts/3/reach").text


def test_two_buttons(author: FlaskClient, site: Site, clock: FakeClock) -> None:
    """At night most readers sleep; the morning is offered, and one click schedules for it."""
    known_day(site, clock)
    clock.moment = clock.moment.replace(hour=1, minute=0)
    make_post(site, "Before.", at=clock() - timedelta(hours=6))
    rebuild(site)
    assert 'id="by-now" class="by" data-renew></span>' in author.get("/studio/").text, "no readers"
    counting = Counting(site)
    slow = FakeDocument(last_modified=clock() - timedelta(hours=6), max_age_seconds=8 * 3600)
    for agent in ("NetNewsWire/6", "newsboat/2"):
        counting.poll(clock() - timedelta(hours=6), document=slow, agent=agent)
        counting.poll(clock(), NOT_MODIFIED, slow, agent=agent, if_none_match=slow.etag)
    counting.fold()
    for address in ("/studio/", "/studio/posts/new"):
        page = author.get(address).text
        assert "all 2 people have it by 07:05, when apps look again<" in page, address
        assert 'value="later:2024-03-0' in page, address
        assert page.count('name="place" value="now"') == 1, address
    moment = page.partition('value="later:')[2].partition('"')[0]
    answer = author.post("/studio/", data={"source": "Morning.", "place": f"later:{moment}"})
    assert answer.status_code == 302
    with site.database.read() as session:
        (due,) = update_log.scheduled(session, clock())
    assert f"{due:%Y-%m-%dT%H:%M}" == moment
    assert "Morning." in author.get("/studio/").text
    bad = author.post("/studio/", data={"source": "Kept text", "place": "later:nonsense"})
    assert (bad.status_code, "Kept text" in bad.text) == (422, True)


def test_nothing_is_told_before_five_updates(
    author: FlaskClient, site: Site, clock: FakeClock
) -> None:
    """One post and one reader are no ground for advice."""
    make_post(site, "Before.")
    Counting(site).poll(clock(), document=FakeDocument(last_modified=clock()))
    assert 'id="by-now" class="by" data-renew></span>' in author.get("/studio/").text


def test_the_box_can_save_a_draft_and_take_a_date(
    author: FlaskClient, site: Site, clock: FakeClock
) -> None:
    """Both are buttons of its menu, and work without a script."""
    assert author.post("/studio/", data={"source": "A draft.", "place": "draft"}).status_code == 302
    page = author.get("/studio/").text
    assert "Saved 09:30." in page
    assert "A draft." in page
    dated = {"source": "Tomorrow.", "place": "later", "at": "2024-03-05T08:00"}
    author.post("/studio/", data=dated)
    assert "Scheduled for 5 March 2024, 08:00." in author.get("/studio/").text
    missing = author.post("/studio/", data={"source": "When?", "place": "later"})
    assert missing.status_code == 422
    assert '<details class="menu" open>' in missing.text
    assert "When?</textarea>" in missing.text


@pytest.mark.parametrize(
    ("have", "asks", "words"),
    [
        (0, 4, "looks at 09:34"),
        (0, None, "looks on its own schedule"),
        (0, -1, "looks any moment"),
        (5, None, "got it at 09:20"),
        (1, 4, "1 got it at 09:20, the next looks at 09:34"),
        (3, None, "3 got it at 09:20, 2 more look on their own schedule"),
        (4, None, "4 got it at 09:20, 1 more looks on its own schedule"),
        (0, 1440, "looks at 09:30 tomorrow"),
    ],
)
def test_words_of_a_program(
    app: Flask, clock: FakeClock, have: int, asks: int | None, words: str
) -> None:
    """What an author reads of one program with five people."""
    since = clock() - timedelta(minutes=10) if have else None
    at = None if asks is None else clock() + timedelta(minutes=asks)
    with app.test_request_context():
        text = ProgramProgress("NetNewsWire", 5, have, since, at)
        assert summary.program_in_words(text, clock()) == words


def test_people_of_one_address_twice_are_one(site: Site, clock: FakeClock) -> None:
    """A reader of two documents is one person; of a service the number that it names last."""
    counting = Counting(site)
    for path in ("/rss.xml", "/atom.xml"):
        counting.poll(clock(), document=FakeDocument(last_modified=clock()), path=path)
    for people in (40, 42):
        counting.poll(clock(), agent=f"Feedly/1.0 (+https://feedly.com; {people} subscribers)")
    counting.fold()
    with site.database.read() as session:
        assert people_in(audience(session, clock())) == 43


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
    assert "made 87 fewer visits than if they came every 15 minutes" in page
    assert 'href="/readers?days=30"' in page
