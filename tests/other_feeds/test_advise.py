"""`publisher advise`: what a feed says, what it should say, what readers would gain."""

import gzip
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from flask import Flask
from flask.testing import FlaskClient

from publisher.base.errors import PublisherError
from publisher.cli import cli
from publisher.dynamic_ttl.feed_head import HeadChange, edit
from publisher.feeds import validation
from publisher.installation import Site
from publisher.other_feeds import advise
from publisher.other_feeds.stamp import StampOptions, stamp
from publisher.web import background_commands
from tests.dynamic_ttl.engines import ENGINES, document
from tests.factories import PASSWORD, make_author
from tests.other_feeds.test_stamp import feed_of
from tests.parts.river.origin import Origin, Reply

NOW = datetime.now(UTC).replace(hour=12, minute=10, second=0, microsecond=0) - timedelta(days=1)
DATES: list[datetime | None] = [
    NOW - timedelta(days=day, hours=3, minutes=day) for day in range(30, 0, -1)
]
ABOUT = b"<channel><description>x</description>"
FEED = edit(feed_of(DATES).replace(b"<channel>", ABOUT), HeadChange(60))


@pytest.fixture
def origin() -> Iterator[Origin]:
    """A server with feeds."""
    server = Origin()
    yield server
    server.close()


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["advise", *arguments], env={"PUBLISHER_ALLOW_PRIVATE": "1"})


def good(headers: Mapping[str, str]) -> Reply:
    """A feed whose server keeps all the rules."""
    fresh = {"Content-Type": "application/rss+xml; charset=utf-8", "ETag": '"1"',
             "Cache-Control": "max-age=3600"}  # fmt: skip
    if headers.get("if-none-match") == '"1"':
        return Reply(304, headers=fresh)
    return Reply(200, gzip.compress(FEED), {**fresh, "Content-Encoding": "gzip"})


def careless(_headers: Mapping[str, str]) -> Reply:
    """One whose server keeps none."""
    return Reply(200, FEED, {"Content-Type": "text/plain", "ETag": '"1"',
                             "Cache-Control": "max-age=31536000"})  # fmt: skip


@pytest.mark.parametrize("day", ["2026-03-07", "2026-03-08", "2026-10-31", "2026-11-01"])
def test_all_hours_have_a_ttl_where_clocks_change(day: str) -> None:
    """Advice on the days on which clocks go forward and back, asked for at any hour."""
    for hour in range(0, 24, 3):
        now = datetime.fromisoformat(day).replace(hour=hour, tzinfo=UTC)
        updates = tuple(now - timedelta(days=ago) for ago in range(9, 0, -1))
        advice = advise.report(advise.Subject("feed", updates), now, "America/New_York")
        assert len(advice.should["by_hour"]) == 24


def test_an_address(origin: Origin) -> None:
    """Two requests, the second conditional, under our name; the interface's JSON."""
    url = origin.serve("/feed", good)
    done = run(url, "--json", "--timezone", "berlin")
    assert done.exit_code == 0, done.exception
    report = json.loads(done.stdout)
    assert report["said"]["ttl_minutes"] == 60
    assert report["said"]["max_age_seconds"] == 3600
    assert (report["said"]["status"], report["said"]["conditional_status"]) == (200, 304)
    assert report["said"]["conditional_max_age_seconds"] == 3600
    assert len(report["should"]["by_hour"]) == 24
    assert set(report["should"]["by_hour"]) <= {15, 60, 480}
    assert report["problems"] == []
    assert report["updates"] == 30
    assert {row["client"] for row in report["gain"]} == set(advise.CLIENTS)
    first = report["gain"][0]
    assert first["polls_per_day"] == first["after"]["polls_per_day"]
    assert first["before"]["polls_per_day"] == pytest.approx(24, abs=0.5)
    assert len(origin.log) == 2
    assert all("Publisher-River" in entry.headers["user-agent"] for entry in origin.log)


def test_it_is_said_in_words(origin: Origin, tmp_path: Path) -> None:
    """For a person; and drawn."""
    picture = tmp_path / "advice.svg"
    done = run(origin.serve("/feed", careless), "--plot", str(picture))
    assert done.exit_code == 0, done.exception
    assert "Your feed says: come back after 60 minutes (ttl)" in done.output
    assert "Your day (UTC, from 30 posts) says: " in done.output
    assert "a reader that does what the feed says" in done.output
    for problem in (
        "when asked whether anything is new it sends everything again",
        "the ttl in the feed says 60 minutes, the header's max-age 525,600: each reader",
        "sent as text/plain",
    ):
        assert problem in done.output
    assert picture.read_text().startswith("<?xml")


def test_a_page_offers_its_feeds(origin: Origin) -> None:
    """Exit 1, one line, the addresses that it announces."""
    html = b'<html><link rel="alternate" type="application/rss+xml" href="/feed"></html>'
    url = origin.serve("/", Reply(200, html, {"Content-Type": "text/html"}))
    done = run(url)
    assert isinstance(done.exception, PublisherError)
    assert done.exception.exit_code == 1
    assert f"it announces {origin.url}/feed" in str(done.exception)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(404), "404"),
        (Reply(200, b""), "empty"),
        (Reply(200, b"x" * 10_000_001), "larger than"),
        (Reply(302, headers={"Location": "/feed"}), "circles"),
    ],
)
def test_what_cannot_be_read_is_said(origin: Origin, reply: Reply, words: str) -> None:
    """One clear line, exit 1."""
    done = run(origin.serve("/feed", reply))
    assert isinstance(done.exception, PublisherError)
    assert done.exception.exit_code == 1
    assert words in str(done.exception)
    assert "\n" not in str(done.exception)


def test_files_and_histories(tmp_path: Path) -> None:
    """A feed's file, the history that `stamp` keeps, a CSV: the same day."""
    feed = tmp_path / "feed.xml"
    feed.write_bytes(feed_of(DATES))
    csv = tmp_path / "mine.csv"
    csv.write_text("updated_at\n" + "".join(f"{at:%Y-%m-%dT%H:%M:%SZ}\n" for at in DATES if at))
    stamp(StampOptions(feed), NOW)
    history = tmp_path / "feed.xml.history.json"
    reports = [json.loads(run(str(path), "--json").stdout) for path in (feed, history, csv)]
    assert reports[0]["should"]["by_hour"] == reports[1]["should"]["by_hour"]
    assert reports[0]["should"]["by_hour"] == reports[2]["should"]["by_hour"]
    assert [row["updates"] for row in reports] == [30, 30, 30]
    assert reports[1]["said"]["kind"] == "history"
    nothing = run(str(tmp_path / "nothing.xml"))
    assert nothing.exit_code == 2
    assert getattr(run(str(feed), "--plot", "x.pdf").exception, "exit_code", 0) == 2


def test_dates_without_hours_are_not_believed(tmp_path: Path) -> None:
    """It is said, and no day is made up."""
    feed = tmp_path / "feed.xml"
    feed.write_bytes(feed_of([at.replace(hour=0, minute=0) for at in DATES if at]))
    done = run(str(feed))
    assert "Its posts have no dates with a time of day" in done.output
    assert done.exit_code == 0


def test_problems_have_no_numbers(tmp_path: Path) -> None:
    """The doctor's R7 is not the specification's."""
    feed = tmp_path / "feed.xml"
    feed.write_text("<rss version='2.0'><channel><item><guid>1</guid></item></channel></rss>")
    assert "\n  - item 1: its guid says that it is a permalink" in run(str(feed)).output


@pytest.mark.parametrize("engine", ENGINES)
def test_the_doctor_reads_everybody_s_feeds(engine: str) -> None:
    """By the rules of our own feed, and nothing that only ours must have."""
    problems = validation.inspect(document(engine), NOW + timedelta(days=9_000))
    assert len(problems) <= validation.MOST_PROBLEMS
    assert not [p for p in problems if "decided" in p.message or "needed, not" in p.message]


@pytest.mark.parametrize(
    ("broken", "rule"),
    [
        (FEED.replace(b"<ttl>60</ttl>", b"<ttl>60.0</ttl>"), "R2"),
        (FEED.replace(b"<ttl>60</ttl>", b"<ttl>15</ttl>"), "R12"),
        (FEED.replace(b"<ttl>", b"<skipHours><hour>25</hour></skipHours><ttl>"), "R3"),
        (FEED.replace(b"<guid>https://a.example/2<", b"<guid>https://a.example/1<"), "R7"),
        (FEED.replace(b"<title>Post 3<", b"<title><"), "R6"),
        (FEED.replace(b"2", b"3", 0).replace(b"</channel>", b"", 1), "R1"),
        (FEED.replace(b"<ttl>", b'<cloud domain="x"/><ttl>'), "R11"),
        (FEED.replace(b"<title>A</title>", b""), "R1"),
    ],
)
def test_the_doctor_finds_what_is_wrong(broken: bytes, rule: str) -> None:
    """Each rule by its name."""
    assert broken != FEED
    assert validation.inspect(FEED, NOW) == []
    assert rule in {problem.rule for problem in validation.inspect(broken, NOW)}


def test_a_date_in_the_future_is_found() -> None:
    """R5."""
    late = feed_of([NOW + timedelta(days=400)])
    assert format_datetime(NOW + timedelta(days=400))[:16].encode() in late
    assert "R5" in {problem.rule for problem in validation.inspect(late, NOW)}


def test_the_page(
    app: Flask, site: Site, client: FlaskClient, monkeypatch: pytest.MonkeyPatch, origin: Origin
) -> None:
    """Behind a login; a private address is refused in words; an answer is kept for an hour."""
    url = origin.serve("/feed", good)
    assert client.get(f"/readers/advise?url={url}").status_code == 302
    app.config["FORM_KEYS"] = False
    make_author(site)
    client.post("/studio/login", data={"name": "ada", "password": PASSWORD})
    assert client.get("/readers/advise").status_code == 200
    refused = client.get(f"/readers/advise?url={url}")
    assert refused.status_code == 422
    assert "private" in refused.text
    assert origin.log == []
    answer = advise.report(advise.Subject("x", tuple(at for at in DATES if at)), NOW, "UTC")
    urls: list[str] = []

    def run(_site: object, _command: str, address: str, *_: str, **__: object) -> object:
        urls.append(address)
        return answer.to_dict()

    monkeypatch.setattr(background_commands, "run", run)
    for _ in range(2):
        shown = client.get("/readers/advise?url=https://a.example/feed")
        assert shown.status_code == 200
        assert "What it should say" in shown.text
    assert urls == ["https://a.example/feed"]
