"""The replay without numba gives what the compiled kernel gives."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from publisher.simulator import grid, publishers
from publisher.simulator import results as report
from publisher.simulator.replaying import compiled
from publisher.simulator.timelines import Timeline, cut, read_timeline

TIMELINES = Path(__file__).parents[2] / "bench" / "timelines"
TEN = (
    "awesome-go", "changelog-transcripts", "fastapi-notes", "github-trending-daily",
    "haskell-weekly", "homebrew-releases", "lucumr", "ruff-releases", "tz-news", "uv-releases",
)  # fmt: skip
RULES = ("fixed:60", "winer", "forward")


def rows(line: Timeline, changes: bool = True, phases: int = 5, jobs: int = 1) -> list[report.Row]:
    """The rows of the three rules, for readers of the headers and of the element."""
    options = grid.ReplayOptions(("max-age", "ttl"), phases, changes=changes)
    told: list[float] = []
    work = grid.tasks([line], RULES)
    parts = [part for done in grid.run(work, options, jobs, told.append) for part in done]
    assert told == sorted(told)
    assert told[-1] == len(RULES)
    return report.rows(parts, options.window)


class AtOnce:
    """In the place of processes: each call is carried out when it is asked for."""

    def submit(self, function: Callable[..., Any], *arguments: object) -> "Future[Any]":
        """The call, done."""
        call = Future[Any]()
        call.set_result(function(*arguments))
        return call


@contextmanager
def at_once(jobs: int) -> Iterator[AtOnce]:
    """In the place of `grid._processes`."""
    yield AtOnce()


def same_rows(name: str, changes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each figure of each row is the same to the last digit, in two parts of the time."""
    pytest.importorskip("numba")
    line = cut(read_timeline(TIMELINES / f"{name}.csv"), last_days=40)
    with monkeypatch.context() as patched:
        for module in (compiled, publishers):
            patched.setattr(module, "available", lambda: False)
        patched.setattr(grid, "FEW", 0)
        patched.setattr(grid, "_processes", at_once)
        compiled._specialised.cache_clear()
        compiled.rule.cache_clear()
        plain = rows(line, changes, jobs=2)
    compiled._specialised.cache_clear()
    compiled.rule.cache_clear()
    assert plain == rows(line, changes)


@pytest.mark.parametrize("changes", [True, False])
def test_a_timeline_has_the_same_rows(changes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """With every document decided, and with those that a reader sees."""
    same_rows(TEN[0], changes, monkeypatch)


@pytest.mark.parametrize("changes", [True, False])
@pytest.mark.parametrize("name", TEN[1:])
def test_nine_more_have_the_same_rows(
    name: str, changes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same of other authors."""
    same_rows(name, changes, monkeypatch)


def test_what_the_table_leaves_out_changes_no_other_figure() -> None:
    """Without the documents that only changed the ttl: the same polls and delays."""
    line = cut(read_timeline(TIMELINES / "ruff-releases.csv"), last_days=40)
    left_out = {"changes_per_day", "bytes_per_day"}
    every, few = rows(line), rows(line, changes=False)
    differing = {name for one, other in zip(every, few, strict=True) for name in one
                 if one[name] != other[name]}  # fmt: skip
    assert differing == left_out


@pytest.mark.system
def test_processes_change_no_figure() -> None:
    """The table of a hundred days, by one process and by three that share it."""
    command = [sys.executable, "-m", "publisher", "simulate", str(TIMELINES / "ruff-releases.csv")]
    one, three = (
        subprocess.run(
            [*command, "--last-days", "100", "--jobs", jobs],
            env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
            capture_output=True, text=True, check=True,
        ).stdout
        for jobs in ("1", "3")
    )  # fmt: skip
    assert "this feed" in one
    assert three == one
