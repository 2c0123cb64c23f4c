"""`publisher simulate` as people and scripts call it."""

import json
import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from publisher.base.clock import utc_now
from publisher.base.dates import format_rfc3339
from publisher.base.errors import PublisherError
from publisher.cli import cli
from publisher.dynamic_ttl.core.specs import SpecError
from publisher.simulator import grid
from publisher.simulator.results import BOOTSTRAP
from tests.databases import work_on
from tests.running_site import wait_until

pytestmark = pytest.mark.any_database

MARCH = [f"2024-03-{day:02d}T{hour:02d}:10:00Z" for day in range(1, 31) for hour in (8, 9, 14)]


@pytest.fixture
def timeline(tmp_path: Path) -> Path:
    """A month of three updates a day."""
    path = tmp_path / "blog.csv"
    path.write_text("\n".join(["updated_at", *MARCH, ""]))
    return path


def simulate(*args: object) -> Result:
    """Run the command in this process; errors that `main` would print are raised."""
    return CliRunner().invoke(
        cli, ["simulate", *map(str, args)], standalone_mode=False, catch_exceptions=True
    )


def test_json_rows_carry_specs_as_typed(timeline: Path) -> None:
    """One row per publisher and client, named as on the command line."""
    result = simulate(
        timeline, "--publisher", "fixed:60", "--publisher", "warm-up", "--client", "ttl",
        "--client", "doubling:factor=1.5", "--format", "json",
    )  # fmt: skip
    rows = json.loads(result.stdout)
    assert [(row["timeline"], row["publisher"], row["client"]) for row in rows] == [
        ("blog", "fixed:60", "ttl"),
        ("blog", "fixed:60", "doubling:factor=1.5"),
        ("blog", "warm-up", "ttl"),
        ("blog", "warm-up", "doubling:factor=1.5"),
    ]
    assert rows[0]["polls_per_day"] == pytest.approx(24, rel=0.01)


WITHOUT_NUMPY = """
import sys
sys.modules |= dict.fromkeys(("numpy", "numba", "joblib"))
from publisher.cli import main
main()
"""


def test_three_rows_and_a_sentence_without_being_asked(timeline: Path) -> None:
    """On an installation without the extra `sim`: the best fixed value, Winer's rule, this feed."""
    command = [sys.executable, "-c", WITHOUT_NUMPY, "simulate", str(timeline)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    head, _, titles, *rows, _, sentence, cost = done.stdout.splitlines()
    assert head == "blog: 63 updates in 22 days"
    assert titles.split()[:2] == ["visits", "a"]
    names = ("always 60 min (the best fixed value)", "Winer's rule of 2002", "this feed")
    assert all(row.startswith(name) for row, name in zip(rows, names, strict=True))
    assert sentence.startswith("At the same number of visits half of the posts are seen within")
    assert "where a visit is worth 10 (--poll-minutes)" in cost
    refused = subprocess.run([*command, "--bootstrap"], capture_output=True, text=True, check=False)
    assert "run `make simulator`" in refused.stderr
    rows = json.loads(simulate(timeline, "--format", "json", "--poll-minutes", 40).stdout)
    assert [row["publisher"] for row in rows] == ["fixed:480", "winer", "forward"]
    assert {row["client"] for row in rows} == {"max-age"}


def test_every_document_is_counted_where_bytes_are_shown(
    timeline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table of several files shows them; the three rows of one do not."""
    counted: list[bool] = []

    def interrupted(task: grid.Task, options: grid.ReplayOptions) -> list[grid.Result]:
        counted.append(options.changes)
        raise KeyboardInterrupt

    monkeypatch.setattr(grid, "run_task", interrupted)
    for files in ([timeline, timeline], [timeline]):
        assert "kB/day" in simulate(*files, "--jobs", 1).stdout
    assert counted == [True, False]


def test_a_young_blog_is_told_what_can_be_said(tmp_path: Path) -> None:
    """How often it posts, the best fixed value so far, and when more."""
    path = tmp_path / "young.csv"
    path.write_text("\n".join(["updated_at", *MARCH[:2]]))
    result = str(simulate(path).exception)
    assert "2 updates in 1 day, the last on 01 March 2024" in result
    assert "So far a visit every 60 min would cost least of 15, 60 and 480 minutes" in result


def test_files_of_other_data_are_passed_over_with_a_word(timeline: Path, tmp_path: Path) -> None:
    """A table beside the timelines; alone it is an error."""
    second_file = tmp_path / "rules.csv"
    second_file.write_text("slug,kind\nblog,notes\n")
    arguments = ("--publisher", "fixed:60", "--format", "json")
    result = simulate(second_file, timeline, *arguments)
    assert len(json.loads(result.stdout)) == 1
    assert "rules.csv, line 1: expected a CSV file with a column updated_at; passed over" in (
        result.stderr
    )
    assert "expected a CSV file" in str(simulate(second_file, *arguments).exception)


def test_jobs_and_repetition_change_no_byte(timeline: Path) -> None:
    """The same output for any number of jobs, byte by byte."""
    args = (timeline, timeline, "--publisher", "fixed:60", "--client", "fixed:50", "--format")
    single = simulate(*args, "csv", "--jobs", 1).stdout
    assert single == simulate(*args, "csv", "--jobs", 2).stdout
    assert single != simulate(*args, "csv", "--seed", 5).stdout


def test_trace_gives_each_poll_with_its_reason(timeline: Path) -> None:
    """Instants go up by the waits; JSON lines say the same as the text."""
    args = (timeline, "--publisher", "fixed:90", "--last-days", 3, "--trace")
    polls = [json.loads(line) for line in simulate(*args, "--format", "json").stdout.splitlines()]
    # Of the three days, 54 hours are left from the first update on.
    assert len(polls) == pytest.approx(54 / 1.5, abs=1)
    assert {poll["wait_seconds"] for poll in polls} == {5400}
    assert polls[5]["reasons"][0].startswith("ttl 1 h 30 min")
    assert sum(poll["new_items"] for poll in polls) >= 7
    text = simulate(*args).stdout.splitlines()
    assert text[0].startswith(polls[0]["at"])


def test_jitter_moves_the_waits_and_says_so(timeline: Path) -> None:
    """Waits spread around 90 minutes by up to a tenth; each reason names the seconds."""
    args = (timeline, "--publisher", "fixed:90", "--jitter", 10, "--trace", "--format", "json")
    polls = [json.loads(line) for line in simulate(*args).stdout.splitlines()]
    waits = [poll["wait_seconds"] for poll in polls]
    assert len(set(waits)) > len(waits) / 2
    assert 4860 <= min(waits) < 5300
    assert 5500 < max(waits) <= 5940
    assert f"jitter {waits[3] - 5400:+d} s" in polls[3]["reasons"]


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_plot_is_written(timeline: Path, tmp_path: Path, suffix: str) -> None:
    """A picture of some kilobytes, of the kind that the name asks for."""
    args = (timeline, "--publisher", "fixed:60", "--publisher", "warm-up", "--client", "ttl")
    path = tmp_path / f"picture{suffix}"
    assert simulate(*args, "--client", "oracle", "--plot", path).exit_code == 0
    assert path.read_bytes().startswith(b"\x89PNG" if suffix == ".png" else b"<?xml")
    assert path.stat().st_size > 10_000


def test_synthetic_feeds_are_one_row() -> None:
    """Many made-up feeds are reported as one, under the name that was typed."""
    spec = "poisson:rate=2,profile=office"
    result = simulate("--synthetic", spec, "--feeds", 12, "--days", 40, "--publisher", "fixed:60",
                     "--phases", 1, "--format", "json")  # fmt: skip
    (row,) = json.loads(result.stdout)
    assert row["timeline"] == spec
    assert row["updates"] == pytest.approx(29 * 2, rel=0.3)


def test_made_up_feeds_may_have_no_update() -> None:
    """At a low rate some have none, and are still polled."""
    result = simulate("--synthetic", "poisson:rate=0.001", "--feeds", 3, "--days", 60,
                     "--format", "json")  # fmt: skip
    assert result.exit_code == 0, result.output
    (row,) = json.loads(result.stdout)
    assert (row["updates"], row["polls_per_day"]) == (0, 3.0)


@pytest.fixture
def three(timeline: Path, tmp_path: Path) -> list[Path]:
    """The blog between an empty timeline and one with a single update."""
    for name, lines in (("empty", []), ("single", MARCH[:1])):
        (tmp_path / f"{name}.csv").write_text("\n".join(["updated_at", *lines, ""]))
    return [tmp_path / "empty.csv", timeline, tmp_path / "single.csv"]


def test_what_cannot_be_scored_is_a_warning_and_a_row_without_figures(three: list[Path]) -> None:
    """A line on standard error each; the rest of the sweep has its figures, in its place."""
    arguments = (*three, "--publisher", "fixed:60", "--score-days", "2-20", "--format")
    result = simulate(*arguments, "json")
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)
    assert [row["timeline"] for row in rows] == ["empty", "blog", "single"]
    assert [row["efficiency"] is None for row in rows] == [True, False, True]
    assert rows[0].keys() == rows[1].keys()
    warnings = [line for line in result.stderr.splitlines() if "compiling" not in line]
    assert len(warnings) == 2
    assert "empty.csv: no updates" in warnings[0]
    assert "single: nothing to score" in warnings[1]
    assert ",,," in simulate(*arguments, "csv").stdout.splitlines()[1]
    table = simulate(*arguments, "table").stdout
    assert table.splitlines()[1].split()[3:] == ["-"] * 13
    assert simulate(*arguments, "csv").stdout == simulate(*arguments, "csv", "--jobs", 1).stdout


def test_nothing_that_can_be_scored_is_an_error(three: list[Path]) -> None:
    """One line that names the first, exit code 1, nothing on standard output."""
    result = simulate(three[0], three[2], "--publisher", "fixed:60")
    assert getattr(result.exception, "exit_code", None) == 1
    assert "empty.csv: no updates after the header (and 1 more like it)" in str(result.exception)
    assert result.stdout == ""


def test_bootstrap_adds_the_same_interval_to_each_row_of_a_rule(
    timeline: Path, three: list[Path], tmp_path: Path
) -> None:
    """Seeded; around the geometric mean; null for a single timeline."""
    second_file = tmp_path / "other.csv"
    second_file.write_text("\n".join(["updated_at", *MARCH[::3], ""]))
    arguments = ("--publisher", "forward", "--bootstrap", "--format", "json")
    rows = json.loads(simulate(*three, second_file, *arguments).stdout)
    ends = {tuple(row[name] for name in BOOTSTRAP) for row in rows}
    ((mean, low, high),) = ends
    assert low <= mean <= high
    assert low < high
    assert rows == json.loads(simulate(*three, second_file, *arguments).stdout)
    (row,) = json.loads(simulate(timeline, *arguments).stdout)
    assert (row["efficiency_low"], row["efficiency_high"]) == (None, None)
    table = simulate(timeline, second_file, "--publisher", "fixed:60", "--bootstrap").stdout
    assert "Bootstrap over timelines" in table


def test_compare_command(timeline: Path, tmp_path: Path) -> None:
    """`simulate compare A B` reads what `simulate --format json` wrote."""
    for name, client in (("a", "fixed:60"), ("b", "fixed:30")):
        rows = simulate(timeline, "--publisher", "fixed:60", "--client", client, "--format", "json")
        (tmp_path / f"{name}.json").write_text(rows.stdout)
    result = simulate("compare", tmp_path / "a.json", tmp_path / "b.json", "--format", "json")
    assert json.loads(result.stdout)[0]["polls_per_day"]["ratio"] == pytest.approx(2, rel=0.01)


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        ([], 2, "nothing to replay"),
        (["FILE", "--client", "nobody"], 2, "unknown client 'nobody'; known: ttl, fixed,"),
        (["FILE", "--client", "fixed:0"], 2, "minutes=0: expected 1 to 43200"),
        (["FILE", "--client", "doubling:speed=2"], 2, "unknown option of doubling 'speed'"),
        (["FILE", "--publisher", "nobody"], 2, "unknown publisher 'nobody'"),
        (["FILE", "--publisher", "fixed:x"], 2, "fixed:x"),
        (["FILE", "--timezone", "Mars/Olympus"], 2, "no time zone is called"),
        (["FILE", "--population", "FILE", "--client", "ttl"], 2, "leave out --client"),
        (["FILE", "--population", "none.txt"], 2, "none.txt"),
        (["FILE", "--plot", "x.gif"], 2, "ends in .svg or .png"),
        (["FILE", "--plot", "none/x.svg"], 2, "no such folder"),
        (["FILE", "FILE", "--trace"], 2, "--trace follows one client"),
        (["FILE", "--trace", "--plot", "x.svg"], 2, "--trace prints polls"),
        (["FILE", "--trace", "--format", "csv"], 2, "--trace prints polls"),
        (["--synthetic", "gauss"], 2, "unknown synthetic timeline 'gauss'; known: winer"),
        (["--synthetic", "poisson:rate=0"], 2, "rate=0: expected"),
        (["--synthetic", "poisson:rate=1", "--timezone", "X"], 2, "no time zone is called"),
        (["none.csv"], 2, "none.csv"),
        (["FILE", "--from", "2030-01-01T00:00:00Z"], 1, "no updates in the time asked for"),
        (["FILE", "--last-days", "0.5"], 1, "nothing to score"),
        (["FILE", "--last-days", "nan"], 2, "'nan' is not a number of days"),
        (["FILE", "--last-days", "inf"], 2, "inf is not in the range"),
        (["FILE", "--publisher", "forward:menu=0"], 2, "0 is not between 1 and 10080 minutes"),
        (["FILE", "--publisher", "forward:menu=15/x"], 2, "'x' is not a whole number of minutes"),
        (["FILE", "--publisher", "forward:speed=2"], 2, "unknown option of forward 'speed'; known"),
        (["FILE", "--publisher", "forward:poll-minutes=nan"], 2, "nan is not between"),
        (["FILE", "--population", "."], 2, "is a folder"),
        (["FILE", "--phases", "0"], 2, "not in the range"),
        (["FILE", "--jitter", "51"], 2, "51 is not in the range 0<=x<=50"),
        (["FILE", "--publisher", "forward:skip-hours=learned"], 2, "skip-hours is gone"),
        (["FILE", "--score-days", "7"], 2, "two numbers of days"),
        (["FILE", "--score-days", "7-3"], 2, "two numbers of days"),
        (["FILE", "--client", "freshrss:hint=ttl"], 2, "known: period"),
        (["compare", "FILE", "FILE"], 1, "FILE"),
    ],
)
def test_bad_input_is_one_line_and_a_code(
    timeline: Path, args: list[str], code: int, message: str
) -> None:
    """2 for what was asked, 1 for data; one line; nothing on standard output."""
    named = [timeline if arg == "FILE" else arg for arg in args]
    if args[:1] != ["compare"] and "--publisher" not in args:
        named += ["--publisher", "fixed:60"]
    result = simulate(*named)
    error = result.exception
    assert error is not None
    text = getattr(error, "message", str(error))
    assert message.replace("FILE", str(timeline)) in text
    assert "\n" not in text
    assert getattr(error, "exit_code", 2 if isinstance(error, SpecError) else None) == code
    assert result.stdout == ""


def test_a_long_answer_tells_a_pipe_how_far_it_is(
    timeline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On standard error, and ever more rarely; what is quick says nothing."""
    arguments = (*[timeline] * 6, "--publisher", "fixed:60", "--format", "json")
    monkeypatch.setattr("publisher.cli.simulate.monotonic_seconds", lambda: 0)
    assert "replayed after" not in simulate(*arguments).stderr
    passing = iter(range(1000))
    monkeypatch.setattr("publisher.cli.simulate.monotonic_seconds", lambda: next(passing))
    result = simulate(*arguments)
    lines = [line for line in result.stderr.splitlines() if "replayed after" in line]
    assert lines == [
        "publisher: 17% replayed after 1 s",
        "publisher: 33% replayed after 2 s",
        "publisher: 67% replayed after 4 s",
    ]
    assert len(json.loads(result.stdout)) == 6


def test_ctrl_c_prints_what_there_is_and_says_so(
    timeline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Partial results are printed and said to be partial; the code is that of an interruption."""
    real = grid.run_task
    calls = []

    def interrupted(task: grid.Task, options: grid.ReplayOptions) -> list[grid.Result]:
        calls.append(task)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(task, options)

    monkeypatch.setattr(grid, "run_task", interrupted)
    result = simulate(
        timeline, timeline, "--publisher", "fixed:60", "--jobs", 1, "--format", "json"
    )
    assert len(json.loads(result.stdout)) == 1
    assert "stopped after 1 of 2 results; these are partial" in result.stderr
    assert result.exit_code == 130


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_process_goes_on_when_the_command_has_ended(sent: signal.Signals) -> None:
    """Without numba work is done in processes: an end in the midst of it is theirs too."""
    work = ("--synthetic", "poisson:rate=5", "--feeds", "40", "--jobs", "2", "--publisher", "winer")
    with subprocess.Popen(
        [sys.executable, "-m", "publisher", "simulate", *work],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as command:
        children = Path(f"/proc/{command.pid}/task/{command.pid}/children")
        wait_until(lambda: len(children.read_text().split()) == 2, 60)
        workers = [Path("/proc", number) for number in children.read_text().split()]
        command.send_signal(sent)
        assert command.wait(20) == (130 if sent == signal.SIGINT else -sent)
        wait_until(lambda: not any(worker.exists() for worker in workers), 20)


def test_a_feed_is_a_timeline_too(tmp_path: Path) -> None:
    """The dates of a feed's items, read as `import` reads them."""
    items = "".join(
        f"<item><guid>{day}</guid><title>t</title><pubDate>{day:02d} Mar 2024 08:10:00 GMT"
        "</pubDate></item>"
        for day in range(1, 31)
    )
    path = tmp_path / "export.xml"
    path.write_text(f'<rss version="2.0"><channel><title>x</title>{items}</channel></rss>')
    result = simulate(path, "--publisher", "fixed:60", "--format", "json")
    (row,) = json.loads(result.stdout)
    assert (row["timeline"], row["updates"]) == ("export", 21)


def test_mine_scores_the_last_month_of_the_whole_log(
    timeline: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The best fixed value, Winer's rule and the blog's own, over the last 30 days, all history
    known."""
    work_on(tmp_path / "instance", monkeypatch)
    now = utc_now().replace(microsecond=0)
    log = [now - timedelta(days=day, hours=hour) for day in range(90, 0, -1) for hour in (5, 2)]
    timeline.write_text("\n".join(["updated_at", *map(format_rfc3339, log), ""]))
    CliRunner().invoke(cli, ["updates", "load", str(timeline)], catch_exceptions=False)
    rows = json.loads(simulate("--mine", "--format", "json").stdout)
    assert [row["publisher"].partition(":")[0] for row in rows] == ["fixed", "winer", "forward"]
    assert {row["days"] for row in rows} == {30}
    assert {row["updates"] for row in rows} == {58}


def test_mine_needs_updates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A blog that never updated has nothing to replay."""
    work_on(tmp_path / "instance", monkeypatch)
    result = simulate("--mine", "--publisher", "fixed:60")
    assert isinstance(result.exception, PublisherError)
    assert "no updates yet" in str(result.exception)


def test_script_and_help_load_no_numba(timeline: Path) -> None:
    """`python -m publisher.simulator` is the command; `--help` imports no numeric library."""
    script = [sys.executable, "-X", "importtime", "-m", "publisher.simulator", "--help"]
    done = subprocess.run(script, capture_output=True, text=True, check=True)
    assert "TIMELINE.csv" in done.stdout
    for library in ("numba", "numpy", "matplotlib", "joblib"):
        assert f" {library}\n" not in done.stderr


def test_the_folder_one_is_in_has_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error about `.` begins with it, not with nothing."""
    monkeypatch.chdir(tmp_path)
    assert str(simulate(".").exception) == ".: there are no updates"
