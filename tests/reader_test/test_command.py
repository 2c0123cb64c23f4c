"""`publisher reader-test`: commands that are run through the week, and wrong input."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from publisher.reader_test.command_runs import (
    CommandRun,
    faketime_library,
    run_each_time,
    run_once_for_all,
)
from publisher.reader_test.scorecard import score
from publisher.reader_test.tester_trace import read_trace
from tests.reader_test.invented import MONDAY, hourly, week
from tests.running_site import wait_until

ROOT = Path(__file__).parent.parent.parent
READER = [sys.executable, "-m", "tests.reader_test.program", "URL"]

needs_faketime = pytest.mark.skipif(
    faketime_library() is None, reason="libfaketime is not installed on this machine"
)


def command(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the command line; its output."""
    return subprocess.run(
        [sys.executable, "-m", "publisher", "reader-test", *words],
        capture_output=True, text=True, timeout=900, check=False, cwd=ROOT,
    )  # fmt: skip


def test_a_day_of_a_command_that_is_told_the_time(tmp_path: Path) -> None:
    """A perfect one-shot reader, over sockets, without libfaketime."""
    run = CommandRun(
        shlex.join([*READER, str(tmp_path / "m.json"), "time"]), MONDAY, None, hours=26
    )
    trace = run_each_time(run, lambda _: None)
    card = score(trace)
    assert (card.score, trace.runs) == (100, 104)  # each quarter of an hour
    assert [verdict for verdict in card.verdicts if verdict.state in ("bad", "partly")] == []
    assert 10 < len(trace.requests) < 30


def test_printed_items_are_judged(tmp_path: Path) -> None:
    """A reader that shows what it holds, one item twice."""
    script = tmp_path / "reader.py"
    script.write_text(
        "import json, sys, urllib.request\n"
        "urllib.request.urlopen(sys.argv[1]).read()\n"
        "print('words'); print('{'); print(json.dumps({'id': 5}))\n"
        "for name in ('1', '2', '2'): print(json.dumps({'id': 'http://x/post/' + name}))\n"
    )
    run = CommandRun(f"{sys.executable} {script} URL", MONDAY, None, hours=1)
    card = score(run_each_time(run, lambda _: None))
    (items,) = [verdict for verdict in card.verdicts if verdict.what.id == "items"]
    assert (items.state, "3 items" in items.seen, "1 of them" in items.seen) == (
        "partly", True, True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--url-command", "my-reader fetch"], 2, "needs the word URL"),
        (["--url-command", "my-reader 'fetch URL"], 2, "No closing quotation"),
        (["--url-command", "no-such-reader URL"], 2, "No such file"),
        (["--url-command", "true URL", "--replay", "pyproject.toml"], 2, "exclude"),
        (["--url-command", "true URL"], 1, "never asked"),
        (["--url-command", "true URL", "--speed", "0"], 2, "--speed"),
        (["--url-command", "true URL", "--save", "none/x.json"], 2, "no such folder"),
        (["--long-running"], 2, "needs --url-command"),
        (["--url-command", "false URL", "--long-running", "--clock", "variable"], 2, "libfaketime"),
        (["--url-command", "false URL", "--long-running", "--speed", "1"], 1, "ended by itself"),
        (["--address", "feeds.example/x"], 2, "not like http://HOST:PORT"),
        (["--host", "no-such-host.invalid"], 1, "no-such-host.invalid:8010: "),
        (["--replay", "none.json"], 2, "there is no file"),
        (["--replay", "pyproject.toml"], 1, "not a trace"),
        (["--replay", "docs/pictures/book.png"], 1, "not a trace"),
        (["--fail-under", "101"], 2, "--fail-under"),
    ],
)
def test_wrong_input_is_one_line(words: list[str], code: int, message: str) -> None:
    """With the exit code of INTERFACE.md, no traceback."""
    done = command(*words)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_replay_and_fail_under(tmp_path: Path) -> None:
    """A recorded trace is judged again; the exit code tells CI."""
    file = tmp_path / "trace.json"
    file.write_text(week(hourly).to_json(), "utf-8")
    done = command("--replay", str(file), "--json", "--fail-under", "40")
    card = json.loads(done.stdout)
    assert (done.returncode, card["score"]) == (0, score(week(hourly)).score)
    assert {"behaviour", "verdict", "points", "of", "seen", "rule", "cost", "advice"} == set(
        card["verdicts"][0]
    )
    done = command("--replay", str(file), "--fail-under", "99")
    assert (done.returncode, "of 100; --fail-under 99" in done.stderr) == (1, True)


def test_a_week_of_a_command_that_always_asks(tmp_path: Path) -> None:
    """Started 672 times by the command line, which saves what it did and judges it."""
    script, file = tmp_path / "reader.sh", tmp_path / "trace.json"
    script.write_text(  # bash starts in a fifth of Python's time
        "IFS=/ read -r _ _ host path <<< $1\n"
        "exec 3<> /dev/tcp/${host%:*}/${host#*:}\n"
        "printf 'GET /%s HTTP/1.0\\r\\nHost: %s\\r\\n\\r\\n' $path $host >&3\n"
        "exec cat <&3 > /dev/null\n"
    )
    reader = f"bash {script} URL"
    done = command("--url-command", reader, "--json", "--fail-under", "1", "--save", str(file))
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    card = json.loads(done.stdout)
    trace = read_trace(file.read_text("utf-8"))
    assert (card["mode"], trace.runs, len(trace.requests)) == ("one-shot", 672, 672)
    expected = score(trace).score
    assert expected is not None
    assert card["score"] == expected < 50


@needs_faketime
def test_a_day_of_a_command_under_a_shifted_clock(tmp_path: Path) -> None:
    """The perfect reader; libfaketime tells it the time."""
    run = CommandRun(
        shlex.join([*READER, str(tmp_path / "m.json")]), MONDAY, faketime_library(), hours=26
    )
    trace = run_each_time(run, lambda _: None)
    assert (score(trace).score, trace.runs) == (100, 104)


@needs_faketime
def test_two_days_of_a_program_that_keeps_running(tmp_path: Path) -> None:
    """The same reader started once, and once again, within 44 hours, by a much faster clock."""
    reader = shlex.join([*READER, str(tmp_path / "memory.json"), "stay"])
    run = CommandRun(reader, MONDAY, faketime_library(), hours=44)
    card = score(run_once_for_all(run, 1000.0, lambda _: None))
    assert card.mode == "long-running"
    assert card.score is not None
    assert card.score >= 90, [verdict for verdict in card.verdicts if verdict.state != "good"]
    (restart,) = [verdict for verdict in card.verdicts if verdict.what.id == "restart"]
    assert restart.state == "good", restart


def test_a_program_ends_with_the_test(tmp_path: Path) -> None:
    """SIGTERM to the command ends the reader that it has started, too."""
    script = tmp_path / "reader.sh"
    script.write_text(f"echo $$ > {tmp_path}/pid; exec sleep 300\n")
    run = subprocess.Popen(
        [sys.executable, "-m", "publisher", "reader-test", "--url-command", f"sh {script} URL"],
        cwd=ROOT,
    )
    wait_until((tmp_path / "pid").exists, 30, "the reader has not begun")
    wait_until(lambda: (tmp_path / "pid").read_text().strip(), 5, "no process id")
    run.terminate()
    assert run.wait(20) == 143
    reader = Path("/proc", (tmp_path / "pid").read_text().strip())
    wait_until(lambda: not reader.exists(), 10, "the reader is still running")
