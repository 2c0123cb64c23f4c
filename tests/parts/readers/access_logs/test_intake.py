"""Polls from logs: each line once, through rotations, races and repetitions."""

import gzip
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select

from publisher.access_logs import line_formats
from publisher.installation import Site
from publisher.parts.readers.access_logs import intake
from publisher.parts.readers.access_logs.intake import Follower, Intake, LogReader
from publisher.parts.readers.access_logs.logged_polls import grouped
from publisher.parts.readers.fold import fold
from publisher.parts.readers.reporting import report
from publisher.parts.readers.reporting.report import make
from publisher.parts.readers.tables import LogPosition, PollFlush
from publisher.serving.trusted_proxies import PROXY
from tests.access_logs.lines import nginx
from tests.conftest import FakeClock
from tests.databases import settings_of
from tests.parts.readers.polls import NOT_MODIFIED, PACKED, Counting, FakeDocument

QUIET_JSON_SECONDS = 0.35  # for 100,000 lines
MONDAY = datetime(2024, 3, 4, 6, tzinfo=UTC)


def count(site: Site, path: Path, whole: bool = True) -> Intake:
    """Take a log in."""
    return LogReader(site.database, site.clock).count_lines(path, whole)


def polls(site: Site) -> int:
    """All polls that were counted so far."""
    fold(site.database, 15)
    with site.database.read() as session:
        sources = report.sources_between(
            session, MONDAY - timedelta(days=9), MONDAY + timedelta(days=9)
        )
    return sum(source.requests for source in sources)


def minutes(*numbers: int, **fields: object) -> str:
    """A line for each minute."""
    return "".join(nginx(MONDAY + timedelta(minutes=number), **fields) for number in numbers)  # type: ignore[arg-type]


def test_a_log_says_of_readers_what_the_site_would_have_said(
    site: Site, counting: Counting, tmp_path: Path
) -> None:
    """The same polls, answered here or by a cache: the same sums, verdict and evidence."""
    document = FakeDocument()
    counting.version(document, "content")
    log, line = tmp_path / "log", ""
    for number in range(12):
        at = MONDAY + timedelta(minutes=15 * number, seconds=number)
        held = {"inm": document.etag} if number else {}
        line += nginx(
            at, "cached/1.0", 304 if number else 200, b=0 if number else 300,
            ce="" if number else "gzip", ae="gzip", e=document.etag, **held,
        )  # fmt: skip
        counting.poll(
            at, NOT_MODIFIED if number else PACKED, document, agent="direct/1.0",
            accept_encoding="gzip", **({"if_none_match": document.etag} if number else {}),
        )  # fmt: skip
    counting.fold()
    log.write_text(line)
    assert count(site, log).polls == 12
    assert fold(site.database, 15) == 12
    with site.database.read() as session:
        report = make(session, MONDAY + timedelta(hours=6), 1, 15)
    first, other = (
        {name: value for name, value in reader.to_dict(15).items() if name != "agent"}
        for reader in report.readers
    )
    assert first == other
    assert first["verdict"] == "obedient"
    assert {source.source: source.requests for source in report.sources} == {
        "site": 12, "nginx log": 12,
    }  # fmt: skip


def test_a_line_counts_once(site: Site, tmp_path: Path) -> None:
    """Read twice, grown, renamed, packed, half written; and what came as something else."""
    log = tmp_path / "log"
    log.write_text(minutes(1, 2) + minutes(3, c="MISS") + minutes(4, p="/about") + "garbage\n\n")
    first = count(site, log)
    assert (first.lines, first.polls, first.passed_on, first.other) == (5, 2, 1, 1)
    assert first.faults == ["line 5: neither JSON nor the combined format"]
    assert count(site, log) == Intake()
    with log.open("a") as file:
        file.write(minutes(5) + minutes(6)[:-30])
        file.flush()
        assert count(site, log, whole=False).polls == 1
        file.write(minutes(6)[-30:])
    moved = log.rename(tmp_path / "log.1")
    assert count(site, moved).polls == 1
    packed = tmp_path / "log.2.gz"
    packed.write_bytes(gzip.compress(moved.read_bytes() + minutes(7).encode().rstrip()))
    assert count(site, packed).polls == 1
    assert polls(site) == 5


def test_a_request_that_comes_in_two_files_counts_once(site: Site, tmp_path: Path) -> None:
    """CDNs deliver at least once: the request's own number tells."""
    for name, ids in (("a", "1223"), ("b", "3345")):
        lines = (nginx(MONDAY, id=f"{name if i == '4' else ''}{i}", pop="FRA") for i in ids)
        (tmp_path / name).write_text(f"{name} is no request\n" + "".join(lines))
    assert (count(site, tmp_path / "a").polls, count(site, tmp_path / "b").doubles) == (3, 2)
    assert polls(site) == 5


@pytest.mark.parametrize("rival", ["log", "other"])
def test_two_that_read_at_once_count_everything_once(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rival: str
) -> None:
    """Nobody waits while lines are put together; whoever comes second sees that they, or requests
    of theirs in another file, were counted meanwhile, and goes on behind them."""
    log, other = tmp_path / "log", tmp_path / "other"
    log.write_text("".join(nginx(MONDAY, id=str(number), pop="FRA") for number in range(10)))
    other.write_text("another\n" + log.read_text())
    monkeypatch.setattr(line_formats, "LINES_AT_ONCE", 4)
    rivals = [tmp_path / rival]

    def slow(*arguments: object) -> object:
        if rivals:
            count(site, rivals.pop())
        return grouped(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(intake, "grouped", slow)
    assert count(site, log).polls == 0
    assert polls(site) == 10


def test_nothing_is_half_counted(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped between the polls and the position: neither is kept, and the next time counts all."""
    log = tmp_path / "log"
    log.write_text(minutes(1, 2))

    def stop(**_: object) -> object:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(intake, "PollFlush", stop)
        with pytest.raises(KeyboardInterrupt):
            count(site, log)
    with site.database.read() as session:
        assert session.scalar(select(func.count()).select_from(PollFlush)) == 0
        assert session.scalar(select(func.count()).select_from(LogPosition)) == 0
    assert count(site, log).polls == 2


def renamed(log: Path) -> None:
    """As logrotate does by default: a moment long the writer still writes to the old file."""
    old = log.rename(log.with_name("log.1"))
    with old.open("a") as file:
        file.write(minutes(12))


def copied(log: Path) -> None:
    """As logrotate does with copytruncate."""
    shutil.copy2(log, log.with_name("log.1"))
    log.write_text("")


def packed(log: Path) -> None:
    """As logrotate does with compress, and a date."""
    log.with_name("log-20240304.gz").write_bytes(gzip.compress(log.read_bytes()))
    log.unlink()


@pytest.mark.parametrize(("rotate", "more"), [(renamed, 1), (copied, 0), (packed, 0)])
@pytest.mark.parametrize("watching", [True, False])
def test_a_log_is_followed_through_its_rotation(
    site: Site, tmp_path: Path, rotate: Callable[[Path], None], more: int, watching: bool
) -> None:
    """Nothing is lost and nothing doubled, whether somebody looked between the steps or not."""
    log = tmp_path / "log"
    (tmp_path / "log.9").write_text(minutes(99))  # from before we came
    os.utime(tmp_path / "log.9", (1e9, 1e9))
    (tmp_path / "log.txt").write_text(minutes(98))  # another one
    follower = Follower(LogReader(site.database, site.clock), log)
    assert follower.count_new_lines() == Intake()  # not there yet
    log.write_text(minutes(1, 2))
    assert follower.count_new_lines().polls == 2
    with log.open("a") as file:
        file.write(minutes(3))
    if not watching:
        follower = Follower(LogReader(site.database, site.clock), log)
    else:
        follower.count_new_lines()
    rotate(log)
    if watching:
        follower.count_new_lines()
    with log.open("a") as file:
        file.write(minutes(4, 5))
    follower.count_new_lines()
    assert follower.count_new_lines() == Intake()
    assert polls(site) == 5 + more


def test_a_log_that_was_rotated_twice_while_nobody_looked(site: Site, tmp_path: Path) -> None:
    """The file between, which nobody has seen, is read too."""
    log = tmp_path / "log"
    log.write_text(minutes(1))
    assert Follower(LogReader(site.database, site.clock), log).count_new_lines().polls == 1
    log.rename(tmp_path / "log.2")
    (tmp_path / "log.1").write_text(minutes(2, 3))
    log.write_text(minutes(4))
    assert Follower(LogReader(site.database, site.clock), log).count_new_lines().polls == 3


def test_a_cache_that_hides_polls_is_noticed(
    site: Site, counting: Counting, clock: FakeClock
) -> None:
    """Fifty polls passed on by a proxy, none with a validator; with one of them it is no cache."""
    for number in range(report.ENOUGH_POLLS):
        counting.poll(MONDAY + timedelta(minutes=number), agent=f"r{number}", through=PROXY)
    counting.fold()
    with site.database.read() as session:
        assert "none of the 50 that a proxy passed on" in make(session, clock(), 1, 15).cache_note
    counting.poll(MONDAY, NOT_MODIFIED, through=PROXY, if_none_match='W/"one"')
    counting.fold()
    with site.database.read() as session:
        assert make(session, clock(), 1, 15).cache_note == ""


IMPORT = r"""
import json, re, resource, sys, time
from publisher.cli import main
main(["readers", "import", sys.argv[1]])
used = resource.getrusage(resource.RUSAGE_SELF)
begin = time.process_time()
for line in open(sys.argv[1]):
    json.loads(line)
# Of this program alone: ru_maxrss remembers the size of whoever started it.
kilobytes = re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1]
print(used.ru_utime + used.ru_stime, kilobytes, time.process_time() - begin)
"""


@pytest.mark.any_database
def test_a_hundred_thousand_lines_cost_little(
    site: Site, counting: Counting, tmp_path: Path
) -> None:
    """Under 5 seconds of processor time, in bounded memory; on a busy machine as much more as
    Python's own reading of JSON takes there."""
    counting.version(FakeDocument(), "content")
    log = tmp_path / "log"
    with log.open("w") as file:
        for number in range(100_000):
            agent, conditional = f"reader/{number % 1000}", number % 3
            at = MONDAY + timedelta(seconds=number / 10)
            file.write(nginx(at, agent, 304 if conditional else 200, inm='W/"one"' * conditional))
    words = [sys.executable, "-c", IMPORT, str(log)]
    environment = {
        **settings_of(site.environment.instance),
        "PYTHONPATH": ".",
    }
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    assert "100,000 polls counted" in done.stdout
    seconds, kilobytes, json_seconds = map(float, done.stdout.splitlines()[-1].split())
    assert seconds < 5 * max(1.0, json_seconds / QUIET_JSON_SECONDS)
    assert kilobytes < 150_000
    assert polls(site) == 100_000
