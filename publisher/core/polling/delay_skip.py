"""Wait more days the longer nothing new comes: StopStalk's retrieval of submissions (2018).

The next retrieval comes after ``delay // divisor + 1`` days. A retrieval without news adds one to
the delay; news, or a poll that a person asked for, set it to 0. StopStalk's text divides by 5, the
code that ran divided by 3.
"""

from collections.abc import Sequence

from publisher.core.polling.answer import NEW_ITEMS, ON_DEMAND
from publisher.core.polling.policy import Numbers, Rule, State
from publisher.core.specs import Option

DAY = 86400

DIVISOR = 0  # option
DELAY = 0  # state


def start(state: State, options: Numbers) -> None:
    """All zeros: no delay."""


def remember(
    state: State,
    options: Numbers,
    answer: Sequence[int],
    dates: Sequence[int],
    first: int,
    last: int,
    now: int,
) -> None:
    """Reset the delay after news or a poll on demand; else add one to it."""
    if answer[NEW_ITEMS] > 0 or answer[ON_DEMAND] == 1:
        state[DELAY] = 0
    else:
        state[DELAY] += 1


def decide(state: State, options: Numbers, now: int) -> tuple[int, int, int]:
    """A whole number of days."""
    return (int(state[DELAY]) // int(options[DIVISOR]) + 1) * DAY, now, 0


def _explain(state: State, options: Numbers, now: int, wait: int, reason: int) -> list[str]:
    delay, divisor = int(state[DELAY]), int(options[DIVISOR])
    return [f"a day, and one more for each {divisor} empty polls since the last new item ({delay})"]


DELAY_SKIP = Rule(
    name="delay-skip",
    summary="a day, and one more for every N empty retrievals in a row",
    options=(Option("divisor", 5, 1, 1000, "empty retrievals to the next day", whole=True),),
    size=lambda options: 1,
    start=start,
    remember=remember,
    decide=decide,
    explain=_explain,
)
