"""The types of poll policies: a rule, a policy (a rule with its options), and a policy's memory of
one feed."""

from collections.abc import Callable, MutableSequence, Sequence
from dataclasses import dataclass
from typing import Any

from publisher.core.durations import duration
from publisher.core.polling.answer import Answer
from publisher.core.specs import Option

FOREVER = 1 << 40
"""A `valid_until` that never comes (seconds since 1970)."""

NOT_SOONER, NOT_LATER = "never sooner than", "never later than"
"""Words of the reasons for a wait set by a floor or a ceiling."""

State = MutableSequence[float]
Numbers = Sequence[float]

Start = Callable[[State, Numbers], None]
"""``start(state, options)``: write the state of a feed that was never polled, from all zeros."""

Remember = Callable[[State, Numbers, Sequence[int], Sequence[int], int, int, int], None]
"""``remember(state, options, answer, dates, first, last, now)``: update the state from an answer.

`answer` has the columns of `answer.py`; ``dates[first:last]`` are the dates of the new items,
oldest first."""

Decide = Callable[[State, Numbers, int], tuple[int, int, int]]
"""``decide(state, options, now) -> (wait_seconds, valid_until, reason_code)``: reads only.

`valid_until`: polls before that instant that bring neither items nor other hints leave the decision
as it is, so a replay may skip them."""

Explain = Callable[[State, Numbers, int, int, int], list[str]]
"""``explain(state, options, now, wait_seconds, reason_code)``: the reasons, as sentences."""


@dataclass(frozen=True)
class Rule:
    """One way to choose the next poll. `size`: how many numbers it stores for a feed.

    memoryless: the wait depends only on the last document, its headers and the 304s since, not on
    new items or earlier documents."""

    name: str
    summary: str
    options: tuple[Option, ...]
    size: Callable[[Numbers], int]
    start: Start
    remember: Remember
    decide: Decide
    explain: Explain
    memoryless: bool = False


@dataclass(frozen=True)
class Memory:
    """A policy's state for one feed: plain numbers, which fit into a JSON column."""

    rule: str
    state: tuple[float, ...]

    def as_json(self) -> dict[str, Any]:
        """The rule's name and its numbers, trailing zeros left out."""
        end = len(self.state)
        while end and self.state[end - 1] == 0:
            end -= 1
        return {"rule": self.rule, "state": list(self.state[:end])}


@dataclass(frozen=True)
class NextPoll:
    """When to poll next and why. `valid_until` is an instant, `reason` the rule's own code."""

    wait_seconds: int
    valid_until: int
    reason: int


@dataclass(frozen=True)
class PollPolicy:
    """A rule with its options, as typed in `spec`. Pure: every method returns a new value."""

    spec: str
    rule: Rule
    options: tuple[float, ...]

    @property
    def name(self) -> str:
        """The rule's name."""
        return self.rule.name

    def start(self) -> Memory:
        """The memory of a feed before its first poll."""
        state = [0.0] * self.rule.size(self.options)
        self.rule.start(state, self.options)
        return Memory(self.name, tuple(state))

    def restore(self, stored: dict[str, Any] | None) -> Memory:
        """The memory from `Memory.as_json`; a new one if `stored` belongs to another rule."""
        fresh = self.start()
        if not stored or stored.get("rule") != self.name or len(stored["state"]) > len(fresh.state):
            return fresh
        state = tuple(float(number) for number in stored["state"])
        return Memory(self.name, state + (0.0,) * (len(fresh.state) - len(state)))

    def remember(self, memory: Memory, answer: Answer, now: int) -> Memory:
        """`memory` after `answer` came in at `now`; unchanged after a failed poll."""
        if not answer.succeeded:
            return memory
        state = list(memory.state)
        dates = sorted(answer.item_dates)
        self.rule.remember(state, self.options, answer.columns(), dates, 0, len(dates), now)
        return Memory(self.name, tuple(state))

    def decide(self, memory: Memory, now: int) -> NextPoll:
        """When to poll next; `now` is the moment of the poll that was just remembered."""
        return NextPoll(*self.rule.decide(list(memory.state), self.options, now))

    def explain(self, memory: Memory, now: int) -> list[str]:
        """The reasons behind `decide`, with the wait as the last sentence."""
        state = list(memory.state)
        wait_seconds, _, reason = self.rule.decide(state, self.options, now)
        reasons = self.rule.explain(state, self.options, now, wait_seconds, reason)
        return [*reasons, f"next poll in {duration(wait_seconds)}"]
