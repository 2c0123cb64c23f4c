"""One decision, one replay: pages, reports and commands say the same figures."""

import json
import re
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from click.testing import CliRunner
from flask import Flask
from flask.testing import FlaskClient

from publisher.base.clock import ShiftedClock, utc_now
from publisher.base.dates import parse_rfc3339
from publisher.base.environment import Environment
from publisher.blog import log_replay, update_log
from publisher.cli import cli
from publisher.dynamic_ttl.core.replay import poll_worth_choices
from publisher.installation import Site, open_site
from publisher.installation.settings import load_settings, store_settings
from publisher.parts.readers.fold import fold
from publisher.parts.readers.pages import worth
from publisher.parts.readers.reporting.report import make
from publisher.publishing.rebuild import rebuild
from publisher.web import background_commands
from tests.conftest import FakeClock
from tests.databases import settings_of
from tests.factories import PASSWORD, make_author

NEW_YORK = ZoneInfo("America/New_York")
NOW = datetime(2024, 3, 4, 9, 30, tzinfo=UTC)  # where the clock of `site` stands
DAYS = 6  # replayed here, instead of 30: the replay is in plain Python
BLOGS = {
    "flat": {"etag": "document", "feed_items": "3"},
    "steady": {"timezone": "America/New_York"},
    "sparse": {"menu": "15/45/135/405/1215", "poll_minutes": "33.5"},
    "moved": {"timezone": "Australia/Lord_Howe", "freshness": "ttl"},
    "young": {"menu": "any", "etag": "quiet"},
}


def log_of(blog: str, now: datetime) -> list[datetime]:
    """When that author published, up to `now`."""
    rng = Random(blog)
    if blog == "flat":
        instants = [now - timedelta(minutes=rng.randrange(60 * 24 * 60)) for _ in range(180)]
    elif blog == "steady":
        days = [(now - timedelta(days=day)).astimezone(NEW_YORK) for day in range(60, 0, -1)]
        instants = [day.replace(hour=9, minute=rng.randrange(60)) for day in days]
    elif blog == "sparse":
        instants = [now - timedelta(hours=37 + 61 * number) for number in range(30)]
    elif blog == "moved":
        instants = [
            now - timedelta(days=day, hours=3 if day > 5 else 9, minutes=rng.randrange(90))
            for day in range(50, 0, -1)
            for _ in range(3)
        ]
    else:
        instants = [now - timedelta(hours=5 * number + rng.random()) for number in range(1, 20)]
    return sorted(at.astimezone(UTC).replace(microsecond=0) for at in instants)


@pytest.fixture(autouse=True)
def _fewer_days(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(poll_worth_choices, "REPLAYED_DAYS", DAYS)
    monkeypatch.setattr(poll_worth_choices, "POSITIONS", (5.0, 40.0))  # besides the blog's own


def printed(environment: Environment, *command: str) -> Any:
    """What a command that is given at `NOW` prints as JSON."""
    clock = ShiftedClock(utc_now(), NOW, 1.0).to_text()
    env = {**settings_of(environment.instance), "PUBLISHER_CLOCK": clock}
    done = CliRunner().invoke(cli, command, env=env, catch_exceptions=False)
    return json.loads(done.stdout)


@pytest.mark.parametrize("blog", BLOGS)
def test_the_knob_and_the_simulator_are_one_replay(environment: Environment, blog: str) -> None:
    """`ttl --choices`, which the settings page shows, and `simulate --mine`: every position's
    visits and minutes are the same to the last of the digits that are printed."""
    pytest.importorskip("numpy")
    site = open_site(environment)
    with site.database.write() as db:
        settings = store_settings(db, BLOGS[blog])
        update_log.record_all(db, log_of(blog, NOW), "loaded")
    choices = printed(environment, "ttl", "--choices", "--json")
    assert settings.poll_minutes in {choice["poll_minutes"] for choice in choices}
    own = log_replay.as_publisher(settings)
    for choice in choices:
        before, after = f"minutes={settings.poll_minutes:g}", f"minutes={choice['poll_minutes']:g}"
        spec = own.replace(before, after)
        rows = printed(
            environment, "simulate", "--mine", "--format", "json", "--publisher", spec,
            "--client", "ttl", "--client", "max-age",
        )  # fmt: skip
        simulated = {row["client"]: row for row in rows}
        for client, visits in (("ttl", choice["element"]), ("max-age", choice["headers"])):
            if visits is not None:
                row = simulated[client]
                figures = visits["per_day"], visits["delay_minutes"]
                assert figures == pytest.approx(
                    (row["polls_per_day"], row["delay_mean_minutes"]), abs=1e-6
                )
    site.database.close()


def test_a_blog_of_today_has_no_figures_yet(environment: Environment) -> None:
    """Nothing before midnight: no positions, and nothing is asked for."""
    site = open_site(environment)
    midnight = NOW.replace(hour=0, minute=0)
    with site.database.write() as db:
        update_log.record_all(db, [midnight + timedelta(seconds=1)], "loaded")
    with site.database.read() as db:
        now = midnight + timedelta(hours=3)
        assert log_replay.choices(db, now) == []
        assert log_replay.key_of(db, now) == ""
        assert log_replay.key_of(db, now + timedelta(days=1))
    site.database.close()


@pytest.fixture
def author(app: Flask, site: Site) -> FlaskClient:
    """Logged in on a blog in New York."""
    app.config["FORM_KEYS"] = False
    make_author(site)
    with site.database.write() as db:
        store_settings(db, {"timezone": "America/New_York"})
    client = app.test_client()
    client.environ_base["wsgi.url_scheme"] = "https"
    client.post("/studio/login", data={"name": "ada", "password": PASSWORD})
    return client


def test_every_page_says_what_the_decision_says(
    author: FlaskClient, app: Flask, site: Site, clock: FakeClock
) -> None:
    """`ttl --json`, the feed's answer, the studio's home, its page of the feed, the settings, the
    page for readers and what the readers report knows of one that came now."""
    with site.database.write() as db:
        update_log.record_all(db, log_of("steady", NOW), "loaded")
    rebuild(site)
    front = app.extensions["front"]
    front.refresh()
    at = clock().strftime("%Y-%m-%dT%H:%M:%SZ")
    figures = printed(site.environment, "ttl", "--at", at, "--json")
    answer = author.get("/rss.xml", headers={"User-Agent": "Reader/1"})
    assert f"max-age={figures['max_age_seconds']}" in answer.headers["Cache-Control"]
    assert f"<ttl>{figures['ttl_minutes']}</ttl>" in answer.text
    back = parse_rfc3339(at) + timedelta(seconds=figures["max_age_seconds"] + 59)
    local_time = f"{clock().astimezone(NEW_YORK):%H:%M}"
    until = f"{back.astimezone(NEW_YORK):%H:%M}"
    sentence = f"looks now, at {local_time}, is told to wait until {until}"
    for page in ("/studio/", "/studio/settings/visits", "/studio/feed", "/subscribe"):
        assert sentence in author.get(page).text, page
    feed = author.get("/studio/feed").text
    for reason in figures["reasons"]:
        assert reason in feed.replace("&#39;", "'")
    clock.moment = back
    author.get("/rss.xml", headers={"User-Agent": "Reader/1"})
    front._polls.flush()
    fold(site.database, 15)
    with site.database.read() as db:
        report = make(db, clock() + timedelta(minutes=1), 2, 15)
    (reader,) = [reader for reader in report.readers if reader.agent == "Reader"]
    minutes = figures["max_age_seconds"] / 60
    assert reader.to_dict(15)["told_minutes"] == pytest.approx(minutes, abs=30)  # it rounds


def test_settings_and_the_simulators_page_show_the_simulators_figures(
    author: FlaskClient, site: Site, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both pages, filled by the commands that they run, against `simulate --mine`."""
    pytest.importorskip("numpy")
    with site.database.write() as db:
        update_log.record_all(db, log_of("steady", NOW), "loaded")
    with site.database.read() as db:
        keys = log_replay.choices_key(db, clock()), log_replay.key_of(db, clock())
        publisher = log_replay.as_publisher(load_settings(db))
    monkeypatch.setattr(
        background_commands,
        "run",
        lambda site, *words: printed(site.environment, *words),
    )
    for name, key, instants in (
        ("knob", keys[0], background_commands.run(site, "ttl", "--choices", "--json")),
        (worth.NAME, keys[1], worth.simulate(site, publisher, 10.0, "")),
    ):
        background_commands.save(site, background_commands.State(name, key, rows=tuple(instants)))
    rows = printed(
        site.environment, "simulate", "--mine", "--format", "json", "--client", "ttl",
        "--client", "max-age",
    )  # fmt: skip
    element, headers = (
        next(row for row in rows if (row["publisher"], row["client"]) == (publisher, client))
        for client in ("ttl", "max-age")
    )
    visits, delay = round(headers["polls_per_day"]), f"{headers['delay_mean_minutes']:.0f}"
    page = author.get("/studio/settings/visits").text
    assert re.search(
        rf'value="10" checked[^>]*> <span>Fresher: people wait {delay} minutes on average, {visits}'
        rf" visits a day \(by simple programs: {element['delay_mean_minutes']:.0f} minutes,"
        rf" {round(element['polls_per_day'])} visits a day\)",
        page,
    )
    page = author.get("/readers/worth").text
    assert f"tells it to has it after {delay} minutes" in page
    assert f">{headers['polls_per_day']:.1f}<" in page
