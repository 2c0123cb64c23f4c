"""When to publish: how many people would have a post, and by when; now, or at a later hour.

    now = reach_now(readers, moment, moment + undo)     # 41 of 58 people by 09:20
    later = hours_ahead(activity, moment, rule, readers)
    better_of(later, now)                               # the hour that is clearly better, or None

Each reader is followed from its last poll. One that obeys polls when the feed asked it to, and then
when the feed will ask it to, by the ttl element or by the headers; one with an interval of its own,
after that. One that is late is not expected. Later hours are computed for a scheduled post: the
feed knows it in advance and shortens the ttl, so that copies expire soon after it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import ceil

from ..civil import seconds
from ..ttl.activity import Activity
from ..ttl.decision import Decision, build_moment, decide, shortened_for
from ..ttl.rule import TtlRule

MOST = 2 / 3  # of the people
HOURS = 24  # ahead that are compared
DAY_SECONDS = HOURS * 3600.0
CLEARLY = 0.5  # a better hour has at most so many times the minutes of now,
LEAST_GAIN_MINUTES = 30.0  # and at least so many fewer
GRACE_SECONDS = 300.0  # late by so much, a reader is still expected
SLACK_SECONDS = 60.0  # a visit may be so much later
ROUND_SECONDS = 300  # what is told is a multiple of it
EITHER, ELEMENT, HEADERS = range(3)  # what a reader obeys; of either, the longer wait


@dataclass(frozen=True, slots=True)
class ExpectedReader:
    """A reader as a program polls for it, and the `people` behind it. `last_at`: its last poll, in
    seconds since 1970; `wait_seconds`: from there to the next one, as the feed asked it to
    (`obeys`; `follows` says by what) or after its own interval."""

    people: int
    last_at: float
    wait_seconds: float
    obeys: bool
    follows: int = field(default=EITHER, kw_only=True)

    @property
    def due(self) -> float:
        """When it should poll next."""
        return self.last_at + self.wait_seconds

    def expected(self, now: float, after: float) -> float | None:
        """Its first poll from `after` on, as far as is known at `now`; None if it is too late to be
        expected at all. After more than one interval of its own its phase is not known."""
        late = now - self.due
        if late > GRACE_SECONDS and (self.obeys or late > self.wait_seconds):
            return None
        if self.due >= after:
            return self.due
        again = self.due + self.wait_seconds
        return again if again >= after else after + self.wait_seconds


def wait_told(element: float, header: float, follows: int) -> float:
    """How long one who obeys waits, told these two."""
    return max(element, header) if follows == EITHER else header if follows == HEADERS else element


@dataclass(frozen=True, slots=True)
class Reach:
    """Of a post published at `at`: `have` of all `people` have it by the moment `by`, most of them
    if most are expected within a day. minutes: from `at` until then, not rounded."""

    at: datetime
    people: int
    have: int
    by: datetime
    minutes: float


def reach_now(readers: Sequence[ExpectedReader], now: datetime, at: datetime) -> Reach | None:
    """The reach of a post that is published at `at`, a moment after `now`; None if nobody is
    expected within a day."""
    visits = (
        (reader.expected(now.timestamp(), at.timestamp()), reader.people) for reader in readers
    )
    return _reach(visits, sum(reader.people for reader in readers), at)


def hours_ahead(
    activity: Activity,
    now: datetime,
    rule: TtlRule,
    readers: Sequence[ExpectedReader],
    scheduled: Iterable[datetime] = (),
) -> list[Reach]:
    """The reach of a post that is scheduled for a full hour of the coming day, hour by hour.

    activity: the updates up to now; scheduled: posts already in the queue."""
    now = now.replace(second=0, microsecond=0)
    now = max(now, activity.last_update) if activity.last_update is not None else now
    documents = list(_documents(activity, now, rule, tuple(scheduled)))
    first = documents[0].valid_until
    hours = (first + timedelta(hours=hour) for hour in range(HOURS))
    alike = _alike(readers)
    reaches = (
        _reach_of_scheduled(alike, documents, now, at)
        for at in hours
        if at < now + timedelta(hours=HOURS)
    )
    return [reach for reach in reaches if reach is not None]


def _alike(readers: Iterable[ExpectedReader]) -> list[ExpectedReader]:
    """One reader for all that poll alike, to the minute: thousands become some hundred."""
    groups = Counter[tuple[int, int, bool, int]]()
    for reader in readers:
        last, wait = ceil(reader.last_at / 60), ceil(reader.wait_seconds / 60)
        groups[last, wait, reader.obeys, reader.follows] += reader.people
    return [
        ExpectedReader(people, last * 60.0, wait * 60.0, obeys, follows=follows)
        for (last, wait, obeys, follows), people in groups.items()
    ]


def better_of(later: Sequence[Reach], present: Reach) -> Reach | None:
    """The first of the `later` hours that is about the best and reaches no fewer people, if that is
    clearly better than the `present` reach."""
    later = [reach for reach in later if reach.have >= present.have]
    best = min((reach.minutes for reach in later), default=present.minutes)
    if best > min(CLEARLY * present.minutes, present.minutes - LEAST_GAIN_MINUTES):
        return None
    return next(reach for reach in later if reach.minutes <= 1.1 * best)


def _reach_of_scheduled(
    readers: Sequence[ExpectedReader], documents: Sequence[Decision], now: datetime, at: datetime
) -> Reach | None:
    start, ahead = now.timestamp(), int((at - now).total_seconds()) // 60
    shortened = [shortened_for(document, at) for document in documents]
    come = {
        follows: _first_visits(_waits(shortened, now, ahead, follows))
        for follows in {reader.follows for reader in readers if reader.obeys}
    }

    def visit(reader: ExpectedReader) -> float | None:
        due = reader.expected(start, start if reader.obeys else at.timestamp())
        if due is None or not reader.obeys:
            return due
        minute = int(due - start) // 60
        return due if minute >= ahead else start + come[reader.follows][minute] * 60.0

    people = sum(reader.people for reader in readers)
    return _reach(((visit(reader), reader.people) for reader in readers), people, at)


def _first_visits(waits: Sequence[int]) -> list[int]:
    """For a poll in each minute, given that minute's wait: the minute of the first poll that it
    leads to behind all these minutes."""
    first = [0] * len(waits)
    for minute in reversed(range(len(waits))):
        then = minute + waits[minute]
        first[minute] = first[then] if then < len(waits) else then
    return first


def _waits(documents: Sequence[Decision], now: datetime, minutes: int, follows: int) -> list[int]:
    """The minutes that one who obeys waits after a poll in each of `minutes` from `now` on."""
    waits: list[int] = []
    start = seconds(now)
    for document in documents:
        until = min((seconds(document.valid_until) - start + 59) // 60, minutes)
        for minute in range(len(waits), until):
            wait = float(document.ttl_minutes)
            if document.expiries is not None:
                header = document.expiries.max_age_seconds(start + minute * 60) / 60.0
                wait = wait_told(wait, header, follows)
            waits.append(max(ceil(wait), 1))
    return waits


def _documents(
    activity: Activity, now: datetime, rule: TtlRule, queue: tuple[datetime, ...]
) -> Iterator[Decision]:
    """The decisions for the documents of the coming day if nothing is posted."""
    at = build_moment(activity.last_update, now, activity.zone)
    while at < now + timedelta(hours=HOURS):
        decision = decide(activity, at, rule, queue)
        yield decision
        at = decision.valid_until


def _reach(visits: Iterable[tuple[float | None, int]], people: int, at: datetime) -> Reach | None:
    """The reach of a post at `at`, from each reader's first poll after it and the people behind."""
    end = at.timestamp() + DAY_SECONDS
    come = sorted((visit + SLACK_SECONDS, more) for visit, more in visits if visit and visit < end)
    have, last = 0, 0.0
    for visit, more in come:
        if have >= MOST * people:
            break
        have, last = have + more, visit
    if not have:
        return None
    by = ceil(last / ROUND_SECONDS) * ROUND_SECONDS
    have = sum(more for visit, more in come if visit <= by)
    minutes = (last - at.timestamp()) / 60.0
    return Reach(at, people, have, datetime.fromtimestamp(by, UTC), minutes)
