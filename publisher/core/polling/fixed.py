"""A fixed interval: the baseline."""

from collections.abc import Sequence

from publisher.core.durations import duration
from publisher.core.polling.policy import FOREVER, Numbers, Rule, State
from publisher.core.specs import Option

MINUTES = 0


def start(state: State, options: Numbers) -> None:
    """Store nothing."""


def remember(
    state: State,
    options: Numbers,
    answer: Sequence[int],
    dates: Sequence[int],
    first: int,
    last: int,
    now: int,
) -> None:
    """Store nothing."""


def decide(state: State, options: Numbers, now: int) -> tuple[int, int, int]:
    """The option `minutes`, in seconds."""
    return int(options[MINUTES] * 60), FOREVER, 0


def _explain(state: State, options: Numbers, now: int, wait: int, reason: int) -> list[str]:
    return [f"fixed: every {duration(wait)}, whatever the feed says"]


FIXED = Rule(
    name="fixed",
    summary="every N minutes",
    options=(Option("minutes", 60, 1, 43200, "between two polls"),),
    size=lambda options: 1,
    start=start,
    remember=remember,
    decide=decide,
    explain=_explain,
    memoryless=True,
)
