"""The wheel `publisher_reader_test`: built, unpacked somewhere else, and run beside click alone."""

import json
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.reader_test.invented import hourly, week

ROOT = Path(__file__).parents[2]
# As the installed script does; and which packages were imported that the wheel does not bring.
PROGRAM = """\
import sys
from publisher_reader_test.cli.reader_test import main
try:
    main()
finally:
    foreign = {name.partition(".")[0] for name in sys.modules} - set(sys.stdlib_module_names)
    print(sorted(name for name in foreign if not name.startswith("_")), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the unpacked wheel and click."""
    folder = tmp_path_factory.mktemp("alone")
    script = str(ROOT / "scripts" / "build_wheels.py")
    subprocess.run([sys.executable, script, str(folder)], check=True, capture_output=True)
    (wheel,) = folder.glob("publisher_reader_test-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    click = find_spec("click")
    assert click is not None
    assert click.origin is not None
    (folder / "click").symlink_to(Path(click.origin).parent)
    return folder


def run(alone: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The command, without the packages of this environment."""
    return subprocess.run(
        [sys.executable, "-S", "-c", PROGRAM, *words],
        cwd=alone, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


def test_it_is_small(alone: Path) -> None:
    """The test's own room, the few modules that it needs, click, and no rest of the engine."""
    (wheel,) = alone.glob("publisher_reader_test-*.whl")
    assert wheel.stat().st_size < 100_000
    (metadata,) = alone.glob("*.dist-info/METADATA")
    needs = [line for line in metadata.read_text().splitlines() if line.startswith("Requires-Dist")]
    assert needs == ["Requires-Dist: click>=8.1"]
    (scripts,) = alone.glob("*.dist-info/entry_points.txt")
    assert "reader-test = publisher_reader_test.cli.reader_test:main" in scripts.read_text()
    rooms = {path.name for path in (alone / "publisher_reader_test").iterdir() if path.is_dir()}
    assert rooms == {"base", "cli", "dynamic_ttl", "feeds", "reader_test"}
    for path in (alone / "publisher_reader_test").rglob("*.py"):
        assert "from publisher." not in path.read_text("utf-8"), path


def test_it_judges_a_trace(alone: Path) -> None:
    """With the words, the points and the gain that it brings along."""
    (alone / "trace.json").write_text(week(hourly).to_json(), "utf-8")
    done = run(alone, "--replay", "trace.json", "--json", "--fail-under", "40")
    card = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (0, "['click', 'publisher_reader_test']\n")
    assert 40 <= card["score"] <= 60
    assert len(card["verdicts"]) == 32
    assert card["gain"]["rows"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ([], 2, "--nonsense"),
        (["--url-command", "my-reader fetch"], 2, "needs the word URL"),
        (["--replay", "none"], 2, "there is no file"),
        (["--url-command", "sh -c 'echo no >&2' URL"], 1, "8 times and never asked for http://127"),
    ],
)
def test_its_errors_are_one_line(alone: Path, words: list[str], code: int, message: str) -> None:
    """They begin with the program's own name."""
    done = run(alone, *(words or ["--nonsense"]))
    first = done.stderr.splitlines()[0]
    assert (done.returncode, first.startswith("reader-test: "), message in first) == (
        code,
        True,
        True,
    )
    assert "Traceback" not in done.stderr
