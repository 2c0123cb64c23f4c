"""What `doctor` finds, and what it does not complain of."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import text

from publisher.base.clock import utc_now
from publisher.base.dates import format_rfc822
from publisher.base.environment import Environment, secret_key
from publisher.base.errors import InvalidInput
from publisher.base.net import Reply
from publisher.base.system import processes
from publisher.cli import cli
from publisher.installation import Site, claim_key
from publisher.operations import derived, doctor
from publisher.operations.doctor import (
    Finding,
    Send,
    ask_app,
    examine_database,
    examine_folder,
    examine_http,
    examine_processes,
)
from publisher.publishing.rebuild import rebuild
from publisher.storage.full_text import POSTS
from tests.conftest import SITE_URL, FakeClock
from tests.databases import work_on
from tests.factories import make_post

ORDER = {"Last-Modified before Date"}  # the test's site lives in 2024


def bad(findings: list[Finding]) -> list[str]:
    """What was complained of."""
    return [finding.what for finding in findings if not finding.good]


def test_a_dropped_table_is_named_with_what_to_do(site: Site) -> None:
    """The schema's number alone does not tell that a table is gone."""
    assert bad(list(examine_database(site))) == []
    with site.database.write() as db:
        db.execute(text("DROP TABLE login_failures"))
    finding = next(check for check in examine_database(site) if not check.good)
    assert "login_failures" in finding.detail
    assert "publisher restore" in finding.mend
    with site.database.write() as db:
        db.execute(text("ALTER TABLE authors DROP COLUMN bio"))
    finding = next(check for check in examine_database(site) if not check.good)
    assert "authors.bio" in finding.detail
    for name in ("snapshots", "preferences"):  # once, though the other checks need them
        with site.database.write() as db:
            db.execute(text(f"DROP TABLE {name}"))
        assert bad(list(doctor.examine(site.environment))) == ["tables"]


@pytest.fixture
def direct(environment: Environment) -> Iterator[Send]:
    """The application without anything before it."""
    with ask_app(environment) as send:
        yield send


@pytest.mark.parametrize(
    ("status", "complaints"), [(200, []), (500, ["304 for Apache's ETag-gzip"])]
)
def test_a_cache_that_answers_in_full_is_no_fault(
    site: Site, direct: Send, status: int, complaints: list[str]
) -> None:
    """Caches do not know a tag with `-gzip`; an error of the server is a fault all the same."""
    rebuild(site)

    def through_cache(method: str, path: str, headers: Mapping[str, str]) -> Reply:
        if not headers.get("If-None-Match", "").endswith('-gzip"'):
            return direct(method, path, headers)
        full = direct(method, path, {})
        return Reply(path, status, full.headers, full.body if status == 200 else b"")

    assert bad(list(examine_http(through_cache))) == complaints


def test_a_disk_that_is_nearly_full_is_said(
    environment: Environment, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before a write fails, and with what others may read in the folder."""
    assert bad(list(examine_folder(environment))) == []
    (environment.instance / "notes").touch()
    (environment.instance / "notes").chmod(0o644)
    monkeypatch.setattr(doctor, "LEAST_FREE_BYTES", 10**18)
    findings = [finding for finding in examine_folder(environment) if not finding.good]
    assert [finding.what for finding in findings] == ["disk", "permissions"]
    assert "notes" in findings[1].detail
    assert "chmod" in findings[1].mend


def test_a_file_that_is_gone_meanwhile_is_no_fault(
    environment: Environment, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A backup that runs makes and removes files of its own."""
    lstat = Path.lstat
    (environment.instance / ".backup-1").touch(0o644)

    def gone(path: Path) -> os.stat_result:
        if path.name == ".backup-1":
            raise FileNotFoundError(path)
        return lstat(path)

    monkeypatch.setattr(Path, "lstat", gone)
    assert bad(list(examine_folder(environment))) == []


def test_a_scheduler_that_hangs_and_a_clock_that_was_wrong_are_said(
    site: Site, environment: Environment, clock: FakeClock
) -> None:
    """No heartbeat is no fault, as nobody may be serving; an old one is."""
    make_post(site)
    rebuild(site)
    assert bad(list(examine_processes(site))) == []
    processes.beat(environment.instance, -1)
    assert bad(list(examine_processes(site))) == []
    os.utime(environment.instance / processes.HEARTBEAT, (1, 1))
    clock.moment -= timedelta(days=1)
    assert {"scheduler", "clock"} <= set(bad(list(examine_processes(site))))


def test_a_wrong_address_and_a_silent_proxy_are_said(site: Site, direct: Send) -> None:
    """What only the public address shows: other links, and a proxy that hides who asks."""
    rebuild(site)

    def through_proxy(method: str, path: str, headers: Mapping[str, str]) -> Reply:
        answer = direct(method, path, {**headers, "X-Forwarded-For": "198.51.100.7"})
        return Reply(path, answer.status, {**answer.headers, "date": now()}, answer.body)

    def silent(method: str, path: str, headers: Mapping[str, str]) -> Reply:
        answer = direct(method, path, headers)
        return Reply(path, answer.status, {**answer.headers, "date": now(-600)}, answer.body)

    assert bad(list(examine_http(through_proxy, SITE_URL))) == []
    assert bad(list(examine_http(through_proxy, "https://elsewhere.example"))) == ["its address"]
    problems = [finding for finding in examine_http(silent, SITE_URL) if not finding.good]
    assert {"strangers are strangers", "its clock"} == {
        finding.what for finding in problems
    } - ORDER
    assert all(finding.mend for finding in problems)


def test_an_address_below_a_path_is_said(site: Site, environment: Environment) -> None:
    """Pages link to `/posts`, `/style.css`: below `/blog` of another site none of them is found."""
    assert "installation" not in bad(list(doctor.examine(environment)))
    below = replace(environment, site_url="https://example.com/blog")
    (finding,) = (check for check in doctor.examine(below) if check.what == "installation")
    assert not finding.good
    assert "a host name or port of its own" in finding.mend


@pytest.mark.parametrize("key", ["", "x", "\udcff", "15 characters .", "0" * 16, "abc" * 20])
def test_a_key_that_is_short_or_cannot_be_read_is_said(
    site: Site, environment: Environment, key: str
) -> None:
    """One that can be guessed lets anybody sign a login; `serve` says it before it starts."""
    without_key = replace(environment, secret_key=None)
    assert len(secret_key(without_key)) == 64
    file = environment.instance / "secret_key"
    file.write_bytes(key.encode("utf-8", "surrogateescape"))
    (finding,) = (check for check in doctor.examine(without_key) if check.what == "web server")
    assert str(file) in finding.detail
    with pytest.raises(InvalidInput, match="secret key"):
        claim_key(replace(site, environment=without_key))
    assert secret_key(replace(without_key, secret_key="16 characters ..")) == "16 characters .."


def now(seconds: float = 0.0) -> str:
    """A Date header of the real clock, `seconds` from now."""
    return format_rfc822(utc_now() + timedelta(seconds=seconds))


def test_json_says_what_the_lines_say(
    site: Site, environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One object, for programs; the exit code is the same."""
    work_on(environment.instance, monkeypatch)
    run = CliRunner().invoke(cli, ["doctor", "--json"])
    assert '"what": "installation"' in run.stdout
    assert ('"good": false,\n  "findings"' in run.stdout) == (run.exit_code == 1)
    assert run.exit_code in (0, 1)


def test_its_requests_say_whose_they_are(site: Site, environment: Environment) -> None:
    """The site that is asked counts none of them, in this process or another."""
    rebuild(site)
    with ask_app(environment) as send:
        assert list(examine_http(send))
    with site.database.read() as db:
        assert db.scalar(text("SELECT count(*) FROM poll_flushes")) == 0


def test_what_is_not_as_its_source_says_is_named(site: Site) -> None:
    """Whole rows that are wrong: a search and a histogram that a bug or a hand left behind."""
    for title in ("One", "Two"):
        make_post(site, title=title)
    rebuild(site)
    assert bad(list(examine_database(site))) == []
    with site.database.write() as db:
        db.execute(text("UPDATE histogram_slots SET weight = weight + 1 WHERE slot = 3"))
        POSTS.remove(db, [1])
    finding = [check for check in examine_database(site) if not check.good]
    assert [(check.what, check.detail) for check in finding] == [
        ("derived tables", "the search, the histogram")
    ]
    derived.rebuild(site)
    assert bad(list(examine_database(site))) == []
