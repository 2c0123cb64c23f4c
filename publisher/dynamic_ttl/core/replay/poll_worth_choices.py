"""The knob "fresher <-> quieter": visits and delays that each position would bring to this blog.

For each position the blog's own log is replayed: the feed as it would have been, and readers that
obey it. `publisher simulate --mine` gives the same figures, from the same days and readers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import floor

from ..civil import (
    DAY_SECONDS,
    HOUR_SECONDS,
    Zone,
    instant,
    local_second,
    period,
    zone_table,
)
from ..menu import parse_menu
from ..polling import PollPolicy, parse
from ..randomness import mixed
from ..ttl.activity import HALF_LIFE_DAYS, Activity, fold
from ..ttl.choice import workspace
from ..ttl.counts import SLOTS
from ..ttl.rule import AS_TTL, EXACT, WINER, TtlRule, numbers
from . import measure
from .announcements import ETAGS, Announced, publish
from .reader_polls import GOLDEN, PHASES, after_a_document, walk

POSITIONS = (5.0, 10.0, 20.0, 40.0, 80.0)  # minutes of waiting that one poll is worth
REPLAYED_DAYS = 30
EARLIER_SECONDS = DAY_SECONDS  # readers begin this long before anything is counted
MUCH_LESS = 0.85  # of the cost: a finer menu is then worth a sentence
COOL_DOWN = DAY_SECONDS  # updates of the last day are not counted: some readers poll too late
MINE = 0x69A8D393  # CRC-32 of "mine", the simulator's name of the own log: scatters first polls


@dataclass(frozen=True, slots=True)
class PollFigures:
    """The figures of one kind of reader: visits a day, and the mean delay in minutes until an
    update is seen; None where there was no update."""

    per_day: float
    delay_minutes: float | None


@dataclass(frozen=True, slots=True)
class Choice:
    """One position. poll_minutes: minutes of waiting that one poll is worth; element: readers that
    obey the ttl; headers: readers that obey the headers, None where these say the ttl; finer: those
    of the element with a menu of any minute, where that costs them much less."""

    poll_minutes: float
    element: PollFigures
    headers: PollFigures | None
    finer: PollFigures | None = None

    @property
    def figures(self) -> tuple[int | None, ...]:
        """The rounded figures that people see; positions with equal ones are listed once."""
        kinds = [self.element] if self.headers is None else [self.element, self.headers]
        visits = [round(kind.per_day) for kind in kinds]
        delays = [kind.delay_minutes for kind in kinds]
        return (*visits, *(None if delay is None else round(delay) for delay in delays))


@dataclass(frozen=True, slots=True)
class OwnLog:
    """The log to replay. times: all updates before `end`, ascending (seconds); items: number shown
    in the feed; etag: when its tag changes, a value of the setting `etag`."""

    times: Sequence[int]
    zone: str
    end: int
    items: int = 20
    etag: str = "renewed"

    @property
    def start(self) -> int:
        """When the readers begin."""
        return max(self.times[0], self.end - REPLAYED_DAYS * DAY_SECONDS - EARLIER_SECONDS)

    @property
    def counted_from(self) -> int:
        """When the counting of their polls begins."""
        return max(self.times[0], self.end - REPLAYED_DAYS * DAY_SECONDS)


def replayed_until(zone: Zone, now: int) -> int:
    """The author's last midnight, at which a replay ends, so that its figures hold for a day."""
    midnight = local_second(zone, now) // DAY_SECONDS * DAY_SECONDS
    before = midnight - zone.offsets[period(zone, now)]
    return min(midnight - zone.offsets[period(zone, before)], now)


def choices_for(log: OwnLog, rule: TtlRule, positions: Iterable[float]) -> list[Choice]:
    """A choice for each of the `positions` (minutes that one poll is worth), without those whose
    figures equal an earlier one's; an empty list without updates. A finer menu is tried for the
    first position."""
    if not log.times:
        return []
    known = [instant(at) for at in log.times if at <= log.start]
    activity = fold(Activity.empty(log.zone), known)
    found: list[Choice] = []
    for minutes in positions:
        chosen = replace(rule, poll_minutes=minutes)
        said = announced(log, activity, chosen)
        element = visits(log, said, parse("ttl"))
        headers = None if rule.freshness == AS_TTL else visits(log, said, parse("max-age"))
        finer = None if found else finer_menu(log, activity, chosen, element)
        choice = Choice(minutes, element, headers, finer)
        if not any(choice.figures == other.figures for other in found):
            found.append(choice)
    return found


def finer_menu(
    log: OwnLog, activity: Activity, rule: TtlRule, element: PollFigures
) -> PollFigures | None:
    """The figures of readers of the element with a menu of any minute, where these cost them less
    than `MUCH_LESS` of what the menu of `rule` does; else None."""
    if rule.planner == WINER or not rule.menu.coarse:
        return None
    any_minute = replace(rule, menu=parse_menu("any"), freshness=AS_TTL)
    finer = visits(log, announced(log, activity, any_minute), parse("ttl"))
    if finer.delay_minutes is None or element.delay_minutes is None:
        return None
    counted = sum(log.counted_from <= at <= log.end - COOL_DOWN for at in log.times)
    per_day, worth = counted / ((log.end - log.counted_from) / DAY_SECONDS), rule.poll_minutes
    ours = measure.cost(element.per_day, element.delay_minutes, per_day, worth)
    theirs = measure.cost(finer.per_day, finer.delay_minutes, per_day, worth)
    return finer if theirs < MUCH_LESS * ours else None


def announced(log: OwnLog, activity: Activity, rule: TtlRule) -> Announced:
    """What the feed would have announced; activity: the updates up to the start of the replay."""
    chosen, zone = numbers(rule, HALF_LIFE_DAYS), zone_table(log.zone)
    hours = (log.end - log.start) // HOUR_SECONDS + 2
    most = len(log.times) + hours + len(zone.starts)
    headers = hours * SLOTS + most if rule.freshness == EXACT else 0
    said = Announced([0] * most, [0] * most, [0] * headers, [0] * headers)
    history = activity.history(log.start)
    number, headers = publish(
        log.times, log.start, log.end, history, chosen, workspace(chosen), said
    )
    return Announced(*(part[:number] for part in said[:2]), *(part[:headers] for part in said[2:]))


def visits(log: OwnLog, said: Announced, policy: PollPolicy) -> PollFigures:
    """The figures of readers that poll by `policy`, with first polls spread over one interval."""
    interval = after_a_document(policy, max(said.ttls), log.start).wait_seconds
    origin = (mixed(MINE) >> 11) / 2.0**53
    begin, polls, delay, seen = log.counted_from, 0, 0, 0
    for phase in range(PHASES):
        start = log.start + floor((origin + GOLDEN * phase) % 1.0 * interval)
        for poll in walk(log.times, log.end, said, ETAGS[log.etag], policy, start, log.items):
            polls += poll.at >= begin
            for at in log.times[poll.kept : poll.last]:
                if begin <= at <= log.end - COOL_DOWN:
                    delay += poll.at - at
                    seen += 1
    days = (log.end - begin) / DAY_SECONDS
    return PollFigures(polls / PHASES / days, delay / seen / 60.0 if seen else None)
