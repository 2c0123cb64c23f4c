"""The commands of the how-to pages, run in a folder that the pages suppose, or tested elsewhere."""

import re
import shlex
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from publisher.base.dates import format_rfc3339
from publisher.base.environment import Environment
from publisher.cli import main
from tests.test_docs import ROOT

# A page, how a command of it begins, and the test that runs it: it needs more than a folder.
ELSEWHERE = [
    ("tutorial.md", "", "test_tutorial.py"),
    ("stamp.md", "stamp ", "other_feeds/test_stamp_recipes.py"),
    ("deploy.md", "serve --host 0.0.0.0 --port 443 --tls-cert", "operations/test_tls.py"),
    ("for-readers.md", "simulate timelines/*.csv --last-days 1500", "simulator/test_engine.py"),
    ("evidence.md", "simulate bench/timelines/*.csv", "test_second_set.py"),
    ("evidence.md", "simulate compare before.json", "cli/test_simulation.py"),
    ("reader-test.md", "reader-test --url-command", "reader_test/test_command.py"),
    ("mirror.md", "mirror add ", "parts/mirror/test_mirror.py"),
    ("mirror.md", "serve", "operations/test_serve.py"),
    ("postgresql.md", "serve", "storage/test_postgresql.py"),
    ("postgresql.md", "database copy postgresql", "operations/test_database_copy.py"),
    ("simulator.md", "simulate --synthetic poisson:rate=1.5 --feeds 1000000 --jobs dask:",
     "simulator/test_cluster.py"),
]  # fmt: skip
# What would take minutes is run smaller.
SMALLER = {"--feeds 100000": "--feeds 100", "--last-days 1500": "--last-days 5"}


def command_lines() -> list[tuple[str, str]]:
    """Each `publisher ...` of a block, by page, in order."""
    commands = []
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for block in re.findall(r"^```\w*\n(.*?)^```", path.read_text("utf-8"), re.S | re.M):
            lines = re.findall(r"^(?:\$ )?publisher (.+)$", block, re.M)
            commands += [(path.name, line) for line in lines]
    return commands


def elsewhere(page: str, line: str) -> str | None:
    """The test that runs this command, where this one does not."""
    fitting = (test for name, start, test in ELSEWHERE if name == page and line.startswith(start))
    return next(fitting, None)


def test_what_is_run_elsewhere_is_there() -> None:
    """No row of the table is left over, and each names a test that exists."""
    lines = command_lines()
    for name, start, test in ELSEWHERE:
        assert any(page == name and line.startswith(start) for page, line in lines), start
        assert (ROOT / "tests" / test).is_file()


RUN_HERE = {page for page, line in command_lines() if not elsewhere(page, line)}


@pytest.mark.parametrize("page", sorted(RUN_HERE))
def test_the_commands_of_a_page_work(
    page: str,
    environment: Environment,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One after the other; each prints something."""
    for name in ("blog.csv", "other.csv"):
        write_timeline(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PUBLISHER_INSTANCE", str(environment.instance))
    monkeypatch.setenv("PUBLISHER_DATABASE_URL", environment.database_url)
    run("updates load blog.csv")
    for name, line in command_lines():
        if name == page and not elsewhere(page, line):
            capsys.readouterr()
            command, _, target = shlex.join(shlex.split(line, comments=True)).partition(" '>' ")
            run(command)
            printed = capsys.readouterr().out
            assert printed, line
            if target:
                for file in (target, "b.json"):  # the page compares it with another run's
                    Path(file).write_text(printed)
            for picture in re.findall(r"\S+\.svg", command):
                assert Path(picture).stat().st_size


def run(line: str) -> None:
    """A command line, with the files that a shell would find for its stars."""
    for large, small in SMALLER.items():
        line = line.replace(large, small)
    words: list[str] = []
    for word in shlex.split(line):
        paths = [str(path) for path in sorted(Path().glob(word))] if "*" in word else []
        words += paths or [word]
    main(words)


def write_timeline(path: Path) -> None:
    """Two months of a blog, three posts a day."""
    newest = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=1)
    moments = [newest - timedelta(hours=8 * number) for number in range(180)]
    rows = ["updated_at", *(format_rfc3339(moment) for moment in reversed(moments))]
    path.write_text("\n".join(rows) + "\n")
