"""What a feed announces, without numba: a document is decided when a reader first polls it.

Readers of the headers come at moments that the feed names, most of them at the same ones, so they
see few of its documents, and not their ttl. A document depends only on the updates up to its
moment: what is sure to be seen can be decided before, in parts of the time, by all processors at
once (`grid.run`).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from publisher.dynamic_ttl.core.civil import DAY_SECONDS, hour_end, hour_start
from publisher.dynamic_ttl.core.replay.announcements import DOCUMENT, Announced
from publisher.dynamic_ttl.core.ttl.choice import forecast, plan, workspace
from publisher.dynamic_ttl.core.ttl.counts import STEP_SECONDS, History, Tables, record
from publisher.dynamic_ttl.core.ttl.headers import seconds_left, slot_of, with_news
from publisher.dynamic_ttl.core.ttl.mixture import after
from publisher.dynamic_ttl.core.ttl.rule import WINERS, RuleNumbers
from publisher.simulator.replaying.compiled import as_lists
from publisher.simulator.replaying.counted import Array

Chooser = Callable[..., int]
Decided = tuple[dict[int, int], dict[int, tuple[int, ...]]]
"""By the moments of documents their ttls in minutes, and the expiries of their hours, as
`plan_expiries` gives them."""
PART_SECONDS = 30 * DAY_SECONDS


class Documents(NamedTuple):
    """`Announced`, in arrays where numba is installed, else by `announced`; and `etag`: when the
    tag changes, see `announcements`."""

    built: Array
    ttls: Array
    begins: Array = ()
    expiries: Array = ()
    etag: int = DOCUMENT

    def as_lists(self) -> Announced:
        """The same for plain Python."""
        return Announced(*map(as_lists, self[:4]))


class Part(NamedTuple):
    """The time from `start` to before `end`, with the counts at its start."""

    start: int
    end: int
    history: History


class Job(NamedTuple):
    """A part of the time of one feed in which `every` document is to be decided, or what readers of
    its headers see."""

    times: Sequence[int]
    part: Part
    rule: RuleNumbers
    choose: Chooser
    every: bool


class Decisions:
    """The documents of one feed with updates at `times`, each decided when it is asked for."""

    def __init__(
        self, times: Sequence[int], whole: Part, rule: RuleNumbers, choose: Chooser
    ) -> None:
        self.times, self.whole, self.rule, self.choose = times, whole, rule, choose
        self.built = moments(times, whole)
        self.parts: list[Part] = []
        self.ttls: dict[int, int] = {}
        self.expiries: dict[int, tuple[int, ...]] = {}
        self._history, self._work = copied(whole.history), workspace(rule)
        self._add = recorded if rule.planner == WINERS else after

    def ttl(self, built: int) -> int:
        """The ttl of the document of that moment, in minutes."""
        ttl = self.ttls.get(built)
        if ttl is None:
            ttl = self.choose(self._history_at(built), built, self.rule, self._work)
            self.ttls[built], self.expiries[built] = ttl, tuple(self._work.header.expiries)
        return ttl

    def headers(self, built: int) -> tuple[int, ...]:
        """The expiries of the document of that moment."""
        expiries = self.expiries.get(built)
        if expiries is None:
            history = self._history_at(built)
            forecast(history, built, self.rule, self._work)
            plan(history, built, self.rule, self._work)
            expiries = self.expiries[built] = tuple(self._work.header.expiries)
        return expiries

    def _history_at(self, now: int) -> History:
        number, known = bisect_right(self.times, now), self._history.past.number
        if not self.parts and known > number:
            self.parts += split(self.times, self.whole, self.rule.half_life)
        if self.parts:
            place = bisect_right(self.parts, now, key=lambda part: part.start) - 1
            if not self.parts[place].history.past.number <= known <= number:
                self._history = copied(self.parts[place].history)
        while self._history.past.number < number:
            at = self.times[self._history.past.number]
            self._history = self._add(self._history, at, self.rule.half_life)
        return self._history

    def expiry(self, at: int) -> int:
        """Until when a copy fetched at `at` is good, by the headers."""
        built = self.built[bisect_right(self.built, at) - 1]
        return self.headers(built)[slot_of(self.whole.history, at)]

    def seen_by_headers(self) -> None:
        """Decide the headers that their reader sees."""
        now, seen = self.built[0], 0
        while now < self.whole.end:
            number, wait = bisect_right(self.times, now), seconds_left(self.expiry(now), now)
            now += with_news(wait) if number > seen else wait
            seen = number

    def in_parts(self, every: bool) -> bool:
        """Whether `every` document, or what readers of the headers see, is decided part by part
        before anything is read: not by Winer's rule, which costs next to nothing."""
        return self.rule.planner != WINERS and (every or bool(self.rule.exact))

    def jobs(self, every: bool) -> Iterator[Job]:
        """The parts, each kept as it is made: what is asked for afterwards begins with them."""
        for part in split(self.times, self.whole, self.rule.half_life):
            self.parts.append(part)
            yield Job(self.times, part, self.rule, self.choose, every)

    def add(self, ttls: dict[int, int], expiries: dict[int, tuple[int, ...]]) -> None:
        """Add what was `decided` of a job."""
        self.ttls |= ttls
        self.expiries |= expiries

    def decide(self, every: bool) -> None:
        """Decide, in the order of time, `every` document, or the headers that their readers see."""
        if self.in_parts(every):
            for job in self.jobs(every):
                self.add(*decided(job))
        if self.rule.planner == WINERS:
            for built in self.built:
                self.ttl(built)

    def longest_ttl(self) -> int:
        """The longest ttl of all documents: nearly every feed says the largest of its menu soon."""
        longest = 0
        for built in self.built:
            longest = max(longest, self.ttl(built))
            if longest == self.rule.menu[-1]:
                break
        return longest


def decided(job: Job) -> Decided:
    """What the documents of a job say."""
    decisions = Decisions(job.times, job.part, job.rule, job.choose)
    if job.every:
        for built in decisions.built:
            decisions.ttl(built)
    else:
        decisions.seen_by_headers()
    return decisions.ttls, decisions.expiries


def recorded(history: History, at: int, half_life: int) -> History:
    """The history with an update at `at` added, of which Winer's rule needs no beliefs."""
    return history._replace(past=record(history, at, half_life))


def copied(history: History) -> History:
    """A history with its own counts and beliefs."""
    tables = Tables(*map(list, history.tables))
    return history._replace(tables=tables, beliefs=list(history.beliefs))


def moments(times: Sequence[int], whole: Part) -> list[int]:
    """When documents are built: at each update and each full hour of the author."""
    start, end, zone = whole.start, whole.end, whole.history.zone
    hours = [start]
    while hours[-1] < end:
        hours.append(hour_end(zone, hours[-1]))
    updates = times[bisect_left(times, start) : bisect_left(times, end)]
    return sorted({*hours[:-1], *updates})


def turns(built: Sequence[int], whole: Part) -> list[int]:
    """When what the headers say changes: with each document, and each five minutes of the hour."""
    zone, changes = whole.history.zone, list[int]()
    last = [hour_end(zone, at) for at in built[-1:]]
    for at, until in zip(built, [*built[1:], *last], strict=True):
        into = (at - hour_start(zone, at)) % STEP_SECONDS
        changes += at, *range(at - into + STEP_SECONDS, until, STEP_SECONDS)
    return changes


def spans(whole: Part) -> list[tuple[int, int]]:
    """Where the parts of the time begin, at full hours of the author, and end."""
    edges = [whole.start]
    while edges[-1] < whole.end:
        edges.append(min(hour_end(whole.history.zone, edges[-1] + PART_SECONDS), whole.end))
    return list(pairwise(edges))


def split(times: Sequence[int], whole: Part, half_life: int) -> Iterator[Part]:
    """The parts of the time, with the counts at their starts."""
    history = copied(whole.history)
    for start, end in spans(whole):
        while history.past.number < len(times) and times[history.past.number] < start:
            history = after(history, times[history.past.number], half_life)
        yield Part(start, end, copied(history))


class OnDemand(Sequence[int]):
    """What `decisions` say at each of `moments`, by `value`, decided when it is read."""

    def __init__(
        self, decisions: Decisions, moments: Sequence[int], value: Callable[[int], int]
    ) -> None:
        self.decisions, self.moments, self.value = decisions, moments, value
        self.known: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self.moments)

    def __getitem__(self, place: Any) -> Any:
        """The value at a place; a slice is always the whole, as there is one feed."""
        if isinstance(place, slice):
            return self
        value = self.known.get(place)
        if value is None:
            value = self.known[place] = self.value(self.moments[place])
        return value


def announced(
    times: Sequence[int], whole: Part, rule: RuleNumbers, choose: Chooser, etag: int
) -> Documents:
    """What the feed with updates at `times` announces in the `whole` time."""
    decisions = Decisions(times, whole, rule, choose)
    ttls = OnDemand(decisions, decisions.built, decisions.ttl)
    if not rule.exact:
        return Documents(decisions.built, ttls, etag=etag)
    begins = turns(decisions.built, whole)
    return Documents(
        decisions.built, ttls, begins, OnDemand(decisions, begins, decisions.expiry), etag
    )
