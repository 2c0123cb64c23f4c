"""`updates load` and `updates export` as they are typed."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import func, select

from publisher.base.clock import utc_now
from publisher.base.environment import Environment
from publisher.base.errors import InvalidData
from publisher.blog import update_log
from publisher.cli import cli
from publisher.installation import open_site
from publisher.storage.tables.blog import Update
from tests.databases import database_url, settings_of

LOG = """updated_at
2020-01-01T09:00:00Z
2020-01-01T09:30:00.250000Z
2020-01-02T23:59:59Z
"""


def run(instance: Path, *arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments, env=settings_of(instance))


def load(folder: Path, text: str | bytes) -> Result:
    file = folder / "log.csv"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return run(folder / "instance", "updates", "load", str(file))


def test_out_and_in_again(tmp_path: Path) -> None:
    """What is exported is what was loaded; the second time everything is skipped."""
    assert load(tmp_path, LOG).output == "loaded 3, skipped 0\n"
    exported = run(tmp_path / "instance", "updates", "export").output
    assert exported == LOG
    assert load(tmp_path, exported).output == "loaded 0, skipped 3\n"


def test_other_columns_offsets_and_doubles(tmp_path: Path) -> None:
    """The column is found by its name; two spellings of one instant are one update."""
    text = "\ufeffslug,updated_at\na,2020-01-01T10:00:00+01:00\n\nb,2020-01-01T09:00:00Z\n"
    assert load(tmp_path, text).output == "loaded 1, skipped 1\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (LOG + "yesterday\n", 5),
        (LOG + "2020-01-01T09:00:00\n", 5),
        (LOG + "2150-01-01T09:00:00Z\n", 5),
        (LOG + "9999-12-31T23:59:59Z\n", 5),
        ("updated_at,x\n2020-01-01T09:00:00Z,1\n\n0000-01-01T00:00:00Z,2\n", 4),
        ("when\n2020-01-01T09:00:00Z\n", 1),
        ("", 1),
        ("x,updated_at\n1\n", 2),
        (LOG.encode() + b"\xff\xfe\n", 0),
    ],
)
def test_one_bad_row_and_nothing_is_loaded(tmp_path: Path, text: str | bytes, line: int) -> None:
    """The line is named, the exit code is 1, the log stays as it was."""
    load(tmp_path, "updated_at\n2019-01-01T00:00:00Z\n")
    loaded = load(tmp_path, text)
    assert isinstance(loaded.exception, InvalidData)
    assert not line or f"line {line}:" in str(loaded.exception)
    assert run(tmp_path / "instance", "updates", "export").output.count("\n") == 2


def test_many_rows_keep_the_checkpoint_right(tmp_path: Path) -> None:
    """More rows than are written at a time: all are there, and folded as one by one."""
    days = "".join(
        f"20{y:02}-0{m}-{d:02}T{h:02}:00:00Z\n"
        for y in range(5, 8)
        for m in range(1, 9)
        for d in range(1, 29)
        for h in range(6, 12)
    )
    assert load(tmp_path, "updated_at\n" + days).output == "loaded 4032, skipped 0\n"
    instance = tmp_path / "instance"
    blog = open_site(Environment(instance, database_url(instance)))
    with blog.database.read() as db:
        assert db.scalar(select(func.count()).select_from(Update)) == 4032
        assert update_log.load(db) == update_log.at(db, utc_now())
    blog.database.close()


def test_ttl_tells_both_resolutions(tmp_path: Path) -> None:
    """The element's minutes, and the headers' seconds for the moment and for each five minutes."""
    load(tmp_path, LOG)

    def answer_at(at: str) -> dict[str, Any]:
        output = run(tmp_path / "instance", "ttl", "--at", at, "--json").output
        answer: dict[str, Any] = json.loads(output)
        return answer

    parts = answer_at("2020-01-03T12:00:00Z")["max_age_by_minute"]
    assert len(parts) == 12
    for part in (0, 5, 11):
        assert answer_at(f"2020-01-03T12:{5 * part:02}:00Z")["max_age_seconds"] == parts[part]
    later = answer_at("2020-01-03T12:26:01Z")
    assert later["max_age_seconds"] == parts[5] - 61
    assert any("the minute of the fetch" in reason for reason in later["reasons"])
    run(tmp_path / "instance", "settings", "freshness", "ttl")
    plain = answer_at("2020-01-03T12:00:00Z")
    assert plain["max_age_by_minute"] == [plain["ttl_minutes"] * 60] * 12


def test_there_is_nothing_to_replay_yet(tmp_path: Path) -> None:
    """A blog without an update: the positions of the knob have no figures, and that is said."""
    answer_at = run(tmp_path / "instance", "ttl", "--choices")
    assert answer_at.exit_code == 0
    assert answer_at.output == "no updates before today: there is nothing to replay yet\n"
    assert run(tmp_path / "instance", "ttl", "--choices", "--json").output == "[]\n"
