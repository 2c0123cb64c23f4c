"""How much is knowing your day worth: worked out beside the page, friendly on a new blog."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from publisher.base.clock import ShiftedClock, utc_now
from publisher.base.dates import format_rfc3339
from publisher.base.environment import Environment
from publisher.blog import update_log
from publisher.installation import Site, open_site
from publisher.installation.settings import load_settings
from publisher.parts.readers.pages import worth
from publisher.web import background_commands
from tests.conftest import FakeClock
from tests.parts.readers.polls import NOT_MODIFIED, Counting, FakeDocument

pytestmark = pytest.mark.any_database

NAMES = ("publisher", "client", "polls_per_day", "delay_mean_minutes", "delay_p90_minutes", "cost")
SAME = {"days": 30.0, "updates": 240.0, "cost_of_best_fixed": 480.0}
ROWS = [
    dict(zip(NAMES, row, strict=True)) | SAME
    for row in (
        ("forward", "max-age", 11.4, 9.0, 21.0, 186.0),
        ("forward", "ttl", 20.0, 15.0, 40.0, 320.0),
        ("fixed:60", "ttl", 24.0, 30.0, 54.0, 480.0),
    )
]


@pytest.fixture
def busy(site: Site, clock: FakeClock) -> None:
    """Forty days of mornings."""
    start = clock() - timedelta(days=40)
    past = [
        start + timedelta(days=day, minutes=20 * post) for day in range(40) for post in range(8)
    ]
    with site.database.write() as db:
        update_log.record_all(db, past, "loaded")


def test_a_new_blog_has_a_friendly_page(author: FlaskClient) -> None:
    """It says when there will be something to see; the old address leads to the new one."""
    page = author.get("/readers/worth")
    assert page.status_code == 200
    assert "what that is worth is shown here after a few days" in page.text.lower()
    assert "so far nothing has been published" in page.text
    assert author.get("/readers/simulated").location == "/readers/worth"


@pytest.mark.usefixtures("busy")
def test_it_is_worked_out_beside_the_page(
    author: FlaskClient, site: Site, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first look starts the work and shows how far it is; it is started once a day."""
    begun = []

    def begin(_site: Site, state: background_commands.State, *_: object) -> None:
        begun.append(state)

    monkeypatch.setattr(background_commands, "begin", begin)
    assert "Refresh" in author.get("/readers/worth").headers
    clock.forward(seconds=40)
    assert "40 s so far" in author.get("/readers/worth").text
    assert len(begun) == 1
    background_commands.save(site, replace(begun[0], rows=tuple(ROWS)))
    answer = author.get("/readers/worth")
    assert "Refresh" not in answer.headers
    page = answer.text
    assert "every hour has a new post after 30 minutes, with 24 visits a day" in page
    assert "when this feed tells it to has it after 9 minutes, with 11 visits a day" in page
    assert "<strong>61\u00a0% less</strong> than the best fixed pause, which here is 60 min" in page
    assert "11 visits a day, evenly spread, would leave a post waiting 63 min" in page
    late = tuple(row | {"cost": 500.0} for row in ROWS)
    background_commands.save(site, replace(begun[0], rows=late))
    assert "A fixed pause of 60 min would do as well" in author.get("/readers/worth").text
    blank = tuple(row | {"cost": None} for row in ROWS)
    background_commands.save(site, replace(begun[0], rows=blank))
    assert "Nothing was published in the last 30 days." in author.get("/readers/worth").text
    background_commands.save(site, replace(begun[0], problem="no simulator here"))
    assert "could not answer today: No simulator here." in author.get("/readers/worth").text
    assert len(begun) == 1
    clock.forward(days=1)
    author.get("/readers/worth")
    assert len(begun) == 2


def test_the_own_mix_is_what_the_report_says(site: Site, clock: FakeClock) -> None:
    """Polite readers obey, others keep their interval, subscribers weigh."""
    counting, document = Counting(site), FakeDocument()
    for step in range(40):
        at = clock() + timedelta(minutes=15 * step)
        for agent, every in (("Polite/1", 1), ("Own/1 (7 subscribers)", 4)):
            if step % every == 0 and step:
                tag = document.etag
                counting.poll(at, NOT_MODIFIED, document, agent=agent, if_none_match=tag)
            elif not step:
                counting.poll(at, document=document, agent=agent)
    counting.fold()
    with site.database.read() as session:
        settings = load_settings(session)
        mix = worth.population(session, settings, clock() + timedelta(hours=10))
    assert sorted(mix.splitlines()) == ["1 max-age", "7 fixed:60"]


def test_the_simulator_answers(
    environment: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A month of mornings: a fixed hour costs what it must, the learned day costs less. Nothing is
    compiled for it, which would take a minute."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "compiled"))
    site = open_site(environment)
    now = utc_now().replace(minute=0, second=0, microsecond=0)
    morning = now.replace(hour=8) - timedelta(days=1)
    log = [
        morning - timedelta(days=day, minutes=-17 * post) for day in range(60) for post in range(9)
    ]
    with site.database.write() as db:
        update_log.record_all(db, sorted(log), "loaded")
    answer = worth.read(worth.simulate(site, "forward", 10.0, "1 max-age\n1 fixed:60"), 10.0)
    site.database.close()
    assert not (tmp_path / "compiled").exists()
    assert answer.own
    assert answer.hour["polls_per_day"] == pytest.approx(24, rel=0.05)
    assert answer.hour["delay_mean_minutes"] == pytest.approx(30, rel=0.2)
    assert answer.most["delay_mean_minutes"] < 0.8 * answer.evenly
    assert answer.best == 60
    assert answer.saved == round(
        100 - answer.most["cost"] / answer.most["cost_of_best_fixed"] * 100
    )
    assert answer.saved > 0
    assert answer.own["polls_per_day"] > answer.most["polls_per_day"] / 2


def test_two_workers_that_look_at_once_ask_once(
    app: Flask, site: Site, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have read that nobody has asked; the second sees that the first now has."""
    begun: list[background_commands.State] = []
    monkeypatch.setattr(background_commands, "begin", lambda _site, state, *_: begun.append(state))
    nobody = background_commands.State("an answer")
    with app.app_context():
        for _ in range(2):
            state = background_commands.answered(site, nobody, "today", clock(), list)
            assert state.at_work(clock())
    assert len(begun) == 1


def test_waiting_is_counted_in_real_seconds(
    app: Flask, site: Site, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A day in a minute: the work is not given up after a blink, nor counted in hours."""
    fast = ShiftedClock(clock(), clock(), 1440.0)
    state = background_commands.State("an answer", "today", format_rfc3339(clock()))
    with monkeypatch.context() as patched, app.app_context():  # the app closes its own site
        patched.setitem(app.extensions, "publisher", replace(site, clock=fast))
        assert state.at_work(clock() + timedelta(hours=10))
        assert state.waited_seconds(clock() + timedelta(hours=10)) == 25.0
        assert not state.at_work(clock() + timedelta(days=30))
