"""The report: the shape that is promised, and figures that a second count confirms."""

import csv
import json
from datetime import timedelta

import pytest
from click.testing import CliRunner

from publisher.cli import cli
from publisher.installation import Site
from publisher.parts.readers.reporting.reach import delays_summary
from publisher.parts.readers.reporting.report import make
from tests.conftest import FakeClock
from tests.factories import make_post
from tests.parts.readers.polls import FULL, NOT_MODIFIED, PACKED, Counting, FakeDocument

ROW = {
    "agent", "version", "requests", "requests_per_day", "median_interval_minutes",
    "told_minutes", "conditional_share", "not_modified_share", "bytes", "subscribers",
    "verdict", "evidence",
}  # fmt: skip


def fill(counting: Counting, clock: FakeClock) -> None:
    """Two readers for a day: one each quarter of an hour, one each hour and whole."""
    document = FakeDocument()
    for step in range(97):
        at = clock() + timedelta(minutes=15 * step)
        if step:
            counting.poll(at, NOT_MODIFIED, agent="Good/1.2 (7 subscribers)", if_none_match="*")
        else:
            counting.poll(at, PACKED, agent="Good/1.2 (7 subscribers)", accept_encoding="gzip")
        if step % 4 == 0:
            counting.poll(at, FULL, document, agent="Hourly", address="192.0.2.2")
    clock.forward(days=1)


def test_the_report_has_the_promised_shape(
    counting: Counting, site: Site, clock: FakeClock
) -> None:
    """Names and figures of a day that was made by hand."""
    fill(counting, clock)
    counting.fold()
    with site.database.read() as session:
        values = make(session, clock(), 7, 15).to_dict()
    good, hourly = values["readers"]
    assert good.keys() >= ROW
    assert (good["agent"], good["version"], good["subscribers"]) == ("Good", "1.2", 7)
    assert (good["requests"], good["requests_per_day"], good["bytes"]) == (97, 97.0, 300)
    assert (good["median_interval_minutes"], good["told_minutes"]) == (15.0, 15)
    assert (good["conditional_share"], good["not_modified_share"]) == (0.99, 0.99)
    assert good["verdict"] == "obedient"
    assert (hourly["requests"], hourly["verdict"]) == (25, "unconditional")
    totals = values["totals"]
    assert totals["requests"] == 97 + 25
    assert totals["bytes"] == 300 + 25_000
    assert totals["saved_by_304_bytes"] == 96 * 1000
    assert totals["saved_by_gzip_bytes"] == 700
    assert totals["avoided_against_fixed_15"] == 0
    assert totals["avoided_against_fixed_60"] == 24 - 96


def test_days_outside_the_span_are_left_out(
    counting: Counting, site: Site, clock: FakeClock
) -> None:
    """Sums run on, yet a report over two days has two days' polls, and the part of one before."""
    start = clock()
    for day in range(10):
        for hour in range(24):
            counting.poll(start + timedelta(days=day, hours=hour), agent="Hourly")
        counting.fold()
    now = start + timedelta(days=9, hours=23)
    with site.database.read() as session:
        report = make(session, now, 2, 15)
    expected = [
        start + timedelta(hours=hour)
        for hour in range(240)
        if start + timedelta(hours=hour) >= report.begin
    ]
    assert report.readers[0].sums.requests == len(expected)
    assert report.readers[0].sums.spans.total() == len(expected)


def test_delays_come_per_post_and_in_total(
    counting: Counting, site: Site, clock: FakeClock
) -> None:
    """Three readers have a post after 10, 20 and 60 minutes: median 20, p95 60."""
    before = FakeDocument(last_modified=clock() - timedelta(hours=1))
    for number in range(3):
        counting.poll(clock(), document=before, agent=f"r{number}")
    clock.forward(minutes=1)
    make_post(site, title="News")
    after = FakeDocument(etag='W/"two"', last_modified=clock())
    for number, minutes in enumerate((10, 20, 60)):
        counting.poll(clock() + timedelta(minutes=minutes), document=after, agent=f"r{number}")
    counting.fold()
    with site.database.read() as session:
        delays = delays_summary(make(session, clock(), 7, 15).delays)
    assert (delays["deliveries"], delays["median_minutes"], delays["p95_minutes"]) == (3, 20, 60)
    assert [(post["title"], post["people"]) for post in delays["posts"]] == [("News", 3)]


@pytest.fixture
def run(site: Site, monkeypatch: pytest.MonkeyPatch, clock: FakeClock) -> CliRunner:
    """A command line on the test's site and clock."""
    monkeypatch.setattr("publisher.parts.readers.command.site", lambda: site)
    return CliRunner()


def test_command_folds_and_prints_json(
    counting: Counting, clock: FakeClock, run: CliRunner
) -> None:
    """`readers --json` knows what was flushed a moment ago."""
    fill(counting, clock)
    counting.counter.flush()
    run_result = run.invoke(cli, ["readers", "--days", "3", "--json"])
    values = json.loads(run_result.stdout)
    assert values.keys() == {"from", "to", "readers", "totals", "delays"}
    assert [reader["requests"] for reader in values["readers"]] == [97, 25]
    assert values["to"] == "2024-03-05T09:30:00Z"


def test_command_prints_a_table(counting: Counting, clock: FakeClock, run: CliRunner) -> None:
    """Without `--json`: a line per reader, then what was saved."""
    fill(counting, clock)
    counting.counter.flush()
    output = run.invoke(cli, ["readers"]).stdout
    assert "Good 1.2" in output
    assert "122 requests by 2 readers for 8 people since 2024-02-27T00:00:00Z, 25 kB sent" in output


def test_readers_are_chosen_and_totals_stay(
    counting: Counting, clock: FakeClock, run: CliRunner
) -> None:
    """By program, by verdict, the busiest; a CSV carries what the JSON does."""
    fill(counting, clock)
    counting.counter.flush()

    def agents(*options: str) -> list[str]:
        values = json.loads(run.invoke(cli, ["readers", "--json", *options]).stdout)
        assert values["totals"]["requests"] == 122
        return [reader["agent"] for reader in values["readers"]]

    everybody = agents()
    assert len(everybody) == 2
    assert agents("--limit", "1") == everybody[:1]
    assert agents("--program", "GOOD") == ["Good"]
    assert agents("--verdict", "abusive") == []
    lines = run.invoke(cli, ["readers", "--csv"]).stdout.splitlines()
    assert [row["agent"] for row in csv.DictReader(lines)] == everybody
    nobody = run.invoke(cli, ["readers", "--program", "zzz"]).stdout
    assert nobody.startswith("No readers match.\n\n122 requests")


def test_an_empty_site_has_an_empty_report(run: CliRunner) -> None:
    """Nobody came: zeros, no division by them, and a sentence instead of a table of none."""
    values = json.loads(run.invoke(cli, ["readers", "--json"]).stdout)
    assert (values["readers"], values["totals"]["requests"]) == ([], 0)
    assert values["delays"]["median_minutes"] is None
    words = run.invoke(cli, ["readers"]).stdout
    assert words == f"Nobody has fetched the feed since {values['from']}.\n"


@pytest.mark.parametrize("days", ["0", "-1", "x", "9999"])
def test_bad_days_are_refused(run: CliRunner, days: str) -> None:
    """Exit code 2 and a line that names the option."""
    run_result = run.invoke(cli, ["readers", "--days", days])
    assert run_result.exit_code == 2
    assert "--days" in run_result.output
