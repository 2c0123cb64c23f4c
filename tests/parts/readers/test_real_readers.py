"""A week of real readers: newsboat, rss2email, lemon24/reader, feedparser, our river.

Each comes at its own simulated times; the verdicts must fit, and every figure must equal what an
access record, kept outside the program, says.
"""

import os
import random
import shutil
import subprocess
from collections.abc import Callable, Generator
from contextlib import closing
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import feedparser
import pytest
from flask import Flask

from publisher.base.environment import Environment
from publisher.installation import Site, open_site
from publisher.parts.readers.fold import fold
from publisher.parts.readers.reporting.report import make
from tests.conftest import FakeClock
from tests.databases import database_url
from tests.parts.readers.simulated import Reader, Week, ask, fixed, strict
from tests.parts.river.test_worker import River

MONDAY = datetime(2024, 3, 4, 6, tzinfo=UTC)
DAYS = 7

pytestmark = [pytest.mark.readers, pytest.mark.any_database]


def _run(command: list[str], home: Path, text: str = "") -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
    subprocess.run(
        command, env=environment, input=text, text=True, check=True, capture_output=True, timeout=60
    )


def newsboat(home: Path) -> Reader:
    """Debian's newsboat, started every six hours."""

    def reader(url: str) -> Generator[float]:
        (home / "urls").write_text(f"{url}\n", "utf-8")
        (home / "config").write_text("auto-reload no\n", "utf-8")
        files = ["-u", str(home / "urls"), "-C", str(home / "config"), "-c", str(home / "cache.db")]
        while True:
            _run(["newsboat", *files, "-x", "reload"], home)
            yield 360.0

    return reader


def rss2email(home: Path) -> Reader:
    """Debian's rss2email, started every eight hours; it sends no mail."""

    def reader(url: str) -> Generator[float]:
        files = ["r2e", "-c", str(home / "r2e.cfg"), "-d", str(home / "r2e.json")]
        _run([*files, "new", "nobody@example.org"], home)
        _run([*files, "add", "blog", url], home)
        while True:
            _run([*files, "run", "--no-send"], home)
            yield 480.0

    return reader


def lemon(home: Path) -> Reader:
    """lemon24/reader, a library with a store of its own, updated every two hours."""

    def reader(url: str) -> Generator[float]:
        library = import_module("reader")
        store = library.make_reader(str(home / "reader.sqlite"))
        store.add_feed(url)
        while True:
            store.update_feed(url)
            yield 120.0

    return reader


def river(home: Path, clock: FakeClock) -> Reader:
    """The river of another installation of ours, with the policy `ttl`."""

    def reader(url: str) -> Generator[float]:
        environment = Environment(home, database_url(home), "https://other.example", "key")
        site = open_site(environment, clock)
        with closing(site.database):
            following = River(site, clock)
            following.add(url, "ttl")
            while True:
                following.poll()
                due = following.feed(url).next_poll_at
                assert due is not None
                yield (due - clock()).total_seconds() / 60.0

    return reader


def parser(agent: str, minutes: float, conditional: bool) -> Reader:
    """A script with feedparser's own fetcher, as people write them."""

    def reader(url: str) -> Generator[float]:
        validators: dict[str, Any] = {}
        while True:
            feed = feedparser.parse(url, agent=agent, **validators)
            if conditional and feed.get("etag"):
                validators = {"etag": feed.etag, "modified": feed.get("modified")}
            yield minutes

    return reader


def once(url: str) -> Generator[float]:
    """A visitor with a browser."""
    ask(url, "Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0")
    yield 60.0 * 24 * 365


EXPECTED = {
    "Strict": "obedient",
    "Publisher-River": "obedient",
    "Hourly": "fixed",
    "Hurried": "abusive",
    "Careless": "unconditional",
    "Careful": "fixed",
    "Firefox": "too-few",
}
OURS: list[Reader] = [
    strict,
    fixed("Hourly/2.0", 60),
    fixed("Hurried/0.1", 10, conditional=False),
    parser("Careless/1.0 +https://example.org", 120, conditional=False),
    parser("Careful/1.0 +https://example.org", 180, conditional=True),
    once,
]


@pytest.fixture
def week(site: Site, app: Flask, clock: FakeClock) -> Week:
    """An author with a past of three weeks, on a Monday morning."""
    clock.moment = MONDAY
    simulated = Week(site, app, clock, random.Random(7))
    simulated.remember(21)
    return simulated


def _programs(tmp_path: Path) -> dict[str, tuple[str, Reader]]:
    """The real readers that this machine has, by the agent and the verdict they will get."""
    commands: list[tuple[str, str, str, Callable[[Path], Reader]]] = [
        ("newsboat", "newsboat", "fixed", newsboat),
        ("r2e", "feedparser", "fixed", rss2email),  # it does not change its library's name
    ]
    programs = {}
    for command, agent, verdict, reader in commands:
        if shutil.which(command):
            home = tmp_path / command
            home.mkdir()
            programs[agent] = (verdict, reader(home))
    if find_spec("reader") and find_spec("sgmllib"):
        home = tmp_path / "lemon"
        home.mkdir()
        programs["python-reader"] = ("fixed", lemon(home))
    return programs


def test_a_week_of_real_readers(week: Week, tmp_path: Path) -> None:
    """Each verdict fits its reader; requests, bytes and shares equal the access record's."""
    programs = _programs(tmp_path)
    if not programs:
        pytest.skip("neither newsboat nor rss2email is installed")
    expected = EXPECTED | {agent: verdict for agent, (verdict, _) in programs.items()}
    with week.served() as url:
        home = tmp_path / "river"
        home.mkdir()
        programs_run = [river(home, week.clock), *(reader for _, reader in programs.values())]
        week.run([*OURS, *programs_run], url, DAYS)
    week.app.extensions["polls"].stop()
    fold(week.site.database, 15)
    with week.site.database.read() as session:
        report = make(session, week.clock(), 14, 15).to_dict()
    readers = {row["agent"]: row for row in report["readers"]}
    verdicts = {agent: (row["verdict"], row["evidence"]) for agent, row in readers.items()}
    assert {agent: row["verdict"] for agent, row in readers.items()} == expected, verdicts
    assert len(report["readers"]) == len(expected)
    for agent, row in readers.items():
        accesses = [access for access in week.log if agent.lower() in access.agent.lower()]
        assert row["requests"] == len(accesses), agent
        assert row["bytes"] == sum(access.bytes for access in accesses), agent
        unchanged = sum(access.status == 304 for access in accesses)
        conditional = sum(access.conditional for access in accesses)
        assert row["not_modified_share"] == round(unchanged / len(accesses), 3), agent
        assert row["conditional_share"] == round(conditional / len(accesses), 3), agent
    totals = report["totals"]
    assert totals["requests"] == len(week.log)
    assert totals["bytes"] == sum(access.bytes for access in week.log)
    assert totals["not_modified"] == sum(access.status == 304 for access in week.log)
    assert totals["uncounted_requests"] == totals["nameless_requests"] == 0
    assert readers["Hourly"]["median_interval_minutes"] == 60
    assert report["delays"]["median_minutes"] > 0
