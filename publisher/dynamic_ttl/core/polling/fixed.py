"""A fixed interval, the baseline; and `delay-skip`: more days, the longer nothing new comes.

`delay-skip` is StopStalk's retrieval of submissions (2018): the next one comes after ``delay //
divisor + 1`` days. A retrieval without news adds one to the delay; news, or a poll that a person
asked for, set it to 0. StopStalk's text divides by 5, the code that ran divided by 3.
"""

from ..durations import duration
from ..specs import Option
from .policy import FOREVER, NEW_ITEMS, ON_DEMAND, Ints, Numbers, Rule, State

DAY = 86400
MINUTES = 0  # option of `fixed`
DIVISOR = 0  # option of `delay-skip`
DELAY = 0  # state of `delay-skip`


def forget(
    state: State, options: Numbers, answer: Ints, dates: Ints, first: int, last: int, now: int
) -> None:
    """Store nothing."""


def every(state: State, options: Numbers, now: int) -> tuple[int, int, int]:
    """The option `minutes`, in seconds."""
    return int(options[MINUTES] * 60), FOREVER, 0


def _explain_fixed(state: State, options: Numbers, now: int, wait: int, reason: int) -> list[str]:
    return [f"fixed: every {duration(wait)}, whatever the feed says"]


FIXED = Rule(
    name="fixed",
    summary="every N minutes",
    options=(Option("minutes", 60, 1, 43200, "between two polls, minutes"),),
    size=lambda options: 1,
    remember=forget,
    decide=every,
    explain=_explain_fixed,
    memoryless=True,
)


def count_empty(
    state: State, options: Numbers, answer: Ints, dates: Ints, first: int, last: int, now: int
) -> None:
    """Reset the delay after news or a poll on demand; else add one to it."""
    if answer[NEW_ITEMS] > 0 or answer[ON_DEMAND]:
        state[DELAY] = 0
    else:
        state[DELAY] += 1


def whole_days(state: State, options: Numbers, now: int) -> tuple[int, int, int]:
    """A whole number of days."""
    return (int(state[DELAY]) // int(options[DIVISOR]) + 1) * DAY, now, 0


def _explain_days(state: State, options: Numbers, now: int, wait: int, reason: int) -> list[str]:
    delay, divisor = int(state[DELAY]), int(options[DIVISOR])
    return [f"a day, and one more for each {divisor} empty polls since the last new item ({delay})"]


DELAY_SKIP = Rule(
    name="delay-skip",
    summary="a day, and one more for every N empty retrievals in a row",
    options=(Option("divisor", 5, 1, 1000, "empty retrievals to the next day", whole=True),),
    size=lambda options: 1,
    remember=count_empty,
    decide=whole_days,
    explain=_explain_days,
)
