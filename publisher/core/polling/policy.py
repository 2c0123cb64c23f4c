"""A rule, the rule with its options (a policy), and what a policy remembers of one feed."""

from collections.abc import Callable, MutableSequence, Sequence
from dataclasses import dataclass
from typing import Any

from publisher.core.durations import duration
from publisher.core.polling.answer import Answer
from publisher.core.specs import Option

FOREVER = 1 << 40
"""A `valid_until` that never comes (seconds since 1970)."""

NOT_SOONER, NOT_LATER = "never sooner than", "never later than"
"""How the reasons say that a floor or a ceiling decided."""

State = MutableSequence[float]
Numbers = Sequence[float]

Start = Callable[[State, Numbers], None]
"""``start(state, options)``: write the state of a feed that was never polled (all zeros so far)."""

Remember = Callable[[State, Numbers, Sequence[int], Sequence[int], int, int, int], None]
"""``remember(state, options, answer, dates, first, last, now)``: write an answer into the state.

`answer` has the columns of `answer.py`; the new items' dates, oldest first, are
``dates[first:last]``."""

Decide = Callable[[State, Numbers, int], tuple[int, int, int]]
"""``decide(state, options, now) -> (wait_seconds, valid_until, reason_code)``: reads only.

`valid_until`: polls before that instant which bring nothing new (and no other hint) leave a state
with the same decision, so whoever replays history may skip over them."""

Explain = Callable[[State, Numbers, int, int, int], list[str]]
"""``explain(state, options, now, wait_seconds, reason_code)``: the reasons, as sentences."""


@dataclass(frozen=True)
class Rule:
    """One way to choose the next poll. `size` tells how many numbers it keeps per feed.

    memoryless: the wait follows from the last document, its headers and the 304s since; it does
    not matter whether anything in it was new, nor what came before."""

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
    """What a policy knows about one feed: plain numbers, fit for a JSON column."""

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
        """What is known of a feed before its first poll."""
        state = [0.0] * self.rule.size(self.options)
        self.rule.start(state, self.options)
        return Memory(self.name, tuple(state))

    def restore(self, stored: dict[str, Any] | None) -> Memory:
        """The memory from `Memory.as_json`; a fresh one where it belongs to another rule."""
        fresh = self.start()
        if not stored or stored.get("rule") != self.name or len(stored["state"]) > len(fresh.state):
            return fresh
        state = tuple(float(number) for number in stored["state"])
        return Memory(self.name, state + (0.0,) * (len(fresh.state) - len(state)))

    def remember(self, memory: Memory, answer: Answer, now: int) -> Memory:
        """`memory` after `answer` came in at `now`; a failed poll teaches nothing."""
        if not answer.succeeded:
            return memory
        state = list(memory.state)
        dates = sorted(answer.item_dates)
        self.rule.remember(state, self.options, answer.columns(), dates, 0, len(dates), now)
        return Memory(self.name, tuple(state))

    def decide(self, memory: Memory, now: int) -> NextPoll:
        """When to poll next, asked at `now`, the moment of the poll that was just remembered."""
        return NextPoll(*self.rule.decide(list(memory.state), self.options, now))

    def explain(self, memory: Memory, now: int) -> list[str]:
        """The chain of reasons behind `decide`, the outcome last."""
        state = list(memory.state)
        wait_seconds, _, reason = self.rule.decide(state, self.options, now)
        reasons = self.rule.explain(state, self.options, now, wait_seconds, reason)
        return [*reasons, f"next poll in {duration(wait_seconds)}"]
