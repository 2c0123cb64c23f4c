"""The replay without numba gives what the compiled kernel gives."""

from pathlib import Path

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


def rows(line: Timeline, changes: bool = True) -> list[report.Row]:
    """The rows of the three rules, for readers of the headers and of the element."""
    options = grid.ReplayOptions(("max-age", "ttl"), phases=5, changes=changes)
    parts = [part for task in grid.tasks([line], RULES) for part in grid.run_task(task, options)]
    return report.rows(parts, options.window)


@pytest.mark.parametrize("changes", [True, False])
@pytest.mark.parametrize("name", TEN)
def test_ten_timelines_have_the_same_rows(
    name: str, changes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each figure of each row, to the last digit, in two parts of the time: with every document
    decided, and with those that a reader sees."""
    pytest.importorskip("numba")
    line = cut(read_timeline(TIMELINES / f"{name}.csv"), last_days=40)
    with monkeypatch.context() as patched:
        for module in (compiled, publishers):
            patched.setattr(module, "available", lambda: False)
        compiled._specialised.cache_clear()
        compiled.rule.cache_clear()
        plain = rows(line, changes)
    compiled._specialised.cache_clear()
    compiled.rule.cache_clear()
    assert plain == rows(line, changes)


def test_what_the_table_leaves_out_changes_no_other_figure() -> None:
    """Without the documents that only changed the ttl: the same polls and delays."""
    line = cut(read_timeline(TIMELINES / "ruff-releases.csv"), last_days=40)
    left_out = {"changes_per_day", "bytes_per_day"}
    every, few = rows(line), rows(line, changes=False)
    differing = {name for one, other in zip(every, few, strict=True) for name in one
                 if one[name] != other[name]}  # fmt: skip
    assert differing == left_out
