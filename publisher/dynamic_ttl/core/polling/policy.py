"""The types of poll policies: the answer to a poll, as a value and as the columns that rules read;
a rule, a policy (a rule with its options), and a policy's memory of one feed."""

from collections.abc import Callable, Iterable, MutableSequence, Sequence
from dataclasses import dataclass
from typing import Any

from ..durations import duration
from ..specs import Option

# Columns of an answer as the rules see it. All are integers; ABSENT where there is no value.
STATUS = 0
NEW_ITEMS = 1
CHANGED = 2  # 1 when the content differs from the last poll's
TTL = 3  # seconds
MAX_AGE = 4  # seconds, as sent
AGE = 5  # seconds the copy had already spent in caches
EXPIRES = 6  # instant
UPDATE_PERIOD = 7  # seconds, from sy:updatePeriod / sy:updateFrequency
SKIP_HOURS = 8  # 24 bits, bit 0 = 00 h UTC
SKIP_DAYS = 9  # 7 bits, bit 0 = Monday
DATED = 10  # 1 when the new items carry their own dates
LAST_MODIFIED = 11  # instant of the newest change, by the server
ON_DEMAND = 12  # 1 when a person asked for this poll

ABSENT = -1
NOT_MODIFIED = 304


@dataclass(frozen=True)
class Answer:
    """One response of a feed's server. Instants are whole seconds since 1970, UTC.

    `status`: HTTP status (0: no response). `changed`: whether the content's hash differs from the
    last poll's; None: whether there are new items. `item_dates`: dates of the new items, in any
    order; empty where the feed does not date its items. `skip_hours`: hours of UTC (RSS 2.0);
    `skip_days`: 0 = Monday. `on_demand`: whether a person asked for this poll.
    """

    status: int
    new_items: int = 0
    changed: bool | None = None
    item_dates: tuple[int, ...] = ()
    ttl_minutes: int | None = None
    max_age_seconds: int | None = None
    age_seconds: int | None = None
    expires_at: int | None = None
    update_period_seconds: int | None = None
    skip_hours: frozenset[int] = frozenset()
    skip_days: frozenset[int] = frozenset()
    last_modified_at: int | None = None
    on_demand: bool = False

    @property
    def succeeded(self) -> bool:
        """Whether it is a 2xx or a 304: rules learn from these only, errors go elsewhere."""
        return 200 <= self.status < 300 or self.status == NOT_MODIFIED

    def columns(self) -> tuple[int, ...]:
        """The values of the columns above, in their order."""
        changed = self.new_items > 0 if self.changed is None else self.changed
        return (
            self.status,
            self.new_items,
            int(changed),
            ABSENT if self.ttl_minutes is None else self.ttl_minutes * 60,
            _or_absent(self.max_age_seconds),
            _or_absent(self.age_seconds),
            _or_absent(self.expires_at),
            _or_absent(self.update_period_seconds),
            _bits(self.skip_hours),
            _bits(self.skip_days),
            int(bool(self.item_dates)),
            _or_absent(self.last_modified_at),
            int(self.on_demand),
        )


def _or_absent(value: int | None) -> int:
    return ABSENT if value is None else value


def _bits(positions: Iterable[int]) -> int:
    return sum(1 << position for position in set(positions)) or ABSENT


FOREVER = 1 << 40
"""A `valid_until` that never comes (seconds since 1970)."""

NOT_SOONER, NOT_LATER = "never sooner than", "never later than"
"""Words of the reasons for a wait set by a floor or a ceiling."""

State = MutableSequence[float]
Numbers = Sequence[float]
Ints = Sequence[int]

Start = Callable[[State, Numbers], None]
"""``start(state, options)``: write the state of a feed that was never polled, from all zeros."""

Remember = Callable[[State, Numbers, Ints, Ints, int, int, int], None]
"""``remember(state, options, answer, dates, first, last, now)``: update the state from an answer.

`answer` has the columns above; ``dates[first:last]`` are the dates of the new items,
oldest first."""

Decide = Callable[[State, Numbers, int], tuple[int, int, int]]
"""``decide(state, options, now) -> (wait_seconds, valid_until, reason_code)``: reads only.

`valid_until`: polls before that instant that bring neither items nor other hints leave the decision
as it is, so a replay may skip them."""

Explain = Callable[[State, Numbers, int, int, int], list[str]]
"""``explain(state, options, now, wait_seconds, reason_code)``: the reasons, as sentences."""


def all_zeros(state: State, options: Numbers) -> None:
    """The `Start` of most rules."""


@dataclass(frozen=True)
class Rule:
    """One way to choose the next poll. `size`: how many numbers it stores for a feed.

    memoryless: the wait depends only on the last document, its headers and the 304s since, not on
    new items or earlier documents."""

    name: str
    summary: str
    options: tuple[Option, ...]
    size: Callable[[Numbers], int]
    remember: Remember
    decide: Decide
    explain: Explain
    start: Start = all_zeros
    memoryless: bool = False


@dataclass(frozen=True)
class Memory:
    """A policy's state for one feed: plain numbers, which fit into a JSON column."""

    rule: str
    state: tuple[float, ...]

    def as_json(self) -> dict[str, Any]:
        """The rule's name, its numbers, trailing zeros left out, and how many it has with them."""
        end = len(self.state)
        while end and self.state[end - 1] == 0:
            end -= 1
        return {"rule": self.rule, "state": list(self.state[:end]), "size": len(self.state)}


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
        """The memory from `Memory.as_json`; a new one if `stored` belongs to another rule, or to
        options that gave it another size: its numbers would stand in the wrong places."""
        fresh = self.start()
        size = len(fresh.state)
        if not stored or (stored.get("rule"), stored.get("size", size)) != (self.name, size):
            return fresh
        if len(stored["state"]) > size:
            return fresh
        state = tuple(float(number) for number in stored["state"])
        return Memory(self.name, state + (0.0,) * (size - len(state)))

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
