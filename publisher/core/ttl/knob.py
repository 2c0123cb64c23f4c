"""The knob "fresher <-> quieter": what each of its positions would mean at this blog.

At each position the blog's own log is replayed: the feed as it would have been, and readers that
obey it. `publisher simulate --mine` replays the same days with the same readers; the figures are
the same.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import floor

from publisher.core.civil import (
    DAY_SECONDS,
    HOUR_SECONDS,
    Zone,
    instant,
    local_second,
    period,
    zone_table,
)
from publisher.core.polling import PollPolicy, parse
from publisher.core.randomness import mixed
from publisher.core.ttl.activity import HALF_LIFE_DAYS, Activity, fold
from publisher.core.ttl.choice import workspace
from publisher.core.ttl.followed import GOLDEN, PHASES, after_a_document, walk
from publisher.core.ttl.freshness import SLOTS
from publisher.core.ttl.rule import AS_TTL, EXACT, TtlRule, numbers
from publisher.core.ttl.served import ETAGS, Announced, publish

POSITIONS = (5.0, 10.0, 20.0, 40.0, 80.0)  # minutes of waiting that one poll is worth
REPLAYED_DAYS = 30
EARLIER_SECONDS = DAY_SECONDS  # by which readers begin before what they see is counted
COOL_DOWN = DAY_SECONDS  # updates of the last day are not counted: not everybody has them yet
MINE = 0x69A8D393  # CRC-32 of "mine", the name of the own log: where its readers begin


@dataclass(frozen=True, slots=True)
class Visits:
    """What readers of one kind do and get: visits a day, and the mean minutes until they know of an
    update; None where there was no update."""

    per_day: float
    delay_minutes: float | None


@dataclass(frozen=True, slots=True)
class KnobChoice:
    """One position: minutes of waiting that one poll is worth; the readers of the feed's ttl; those
    of the headers, None where these say no more than the ttl."""

    poll_minutes: float
    element: Visits
    headers: Visits | None

    @property
    def figures(self) -> tuple[int | None, ...]:
        """The figures as people see them: two choices with the same ones are the same choice."""
        kinds = [self.element] if self.headers is None else [self.element, self.headers]
        visits = [round(kind.per_day) for kind in kinds]
        delays = [kind.delay_minutes for kind in kinds]
        return (*visits, *(None if delay is None else round(delay) for delay in delays))


@dataclass(frozen=True, slots=True)
class OwnLog:
    """What is replayed. times: all updates before `end`, ascending (seconds); items: shown in the
    feed; etag: when its tag changes, by the setting's word."""

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
        """From when on their polls count."""
        return max(self.times[0], self.end - REPLAYED_DAYS * DAY_SECONDS)


def replayed_until(zone: Zone, now: int) -> int:
    """The author's last midnight: until then a log is replayed, so that figures hold for a day."""
    midnight = local_second(zone, now) // DAY_SECONDS * DAY_SECONDS
    before = midnight - zone.offsets[period(zone, now)]
    return min(midnight - zone.offsets[period(zone, before)], now)


def knob_choices(log: OwnLog, rule: TtlRule, positions: Iterable[float]) -> list[KnobChoice]:
    """The positions (minutes that one poll is worth) that differ, each with its figures; none
    without an update."""
    if not log.times:
        return []
    known = [instant(at) for at in log.times if at <= log.start]
    activity = fold(Activity.empty(log.zone), known)
    found: list[KnobChoice] = []
    for minutes in positions:
        chosen = replace(rule, poll_minutes=minutes)
        said = served(log, activity, chosen)
        element = followed(log, said, parse("ttl"))
        headers = None if rule.freshness == AS_TTL else followed(log, said, parse("max-age"))
        choice = KnobChoice(minutes, element, headers)
        if not any(choice.figures == other.figures for other in found):
            found.append(choice)
    return found


def served(log: OwnLog, activity: Activity, rule: TtlRule) -> Announced:
    """What the feed would have said; activity: of the updates until the replay's start."""
    chosen, zone = numbers(rule, HALF_LIFE_DAYS), zone_table(log.zone)
    hours = (log.end - log.start) // HOUR_SECONDS + 2
    most = len(log.times) + hours + len(zone.starts)
    headers = hours * SLOTS + most if rule.freshness == EXACT else 0
    said = Announced([0] * most, [0] * most, [0] * most, [0] * headers, [0] * headers)
    history = activity.history(log.start)
    number, headers = publish(
        log.times, log.start, log.end, history, chosen, workspace(chosen, hours=0), said
    )
    return Announced(*(part[:number] for part in said[:3]), *(part[:headers] for part in said[3:]))


def followed(log: OwnLog, said: Announced, policy: PollPolicy) -> Visits:
    """What readers see that poll by `policy`, spread over their first interval."""
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
    return Visits(polls / PHASES / days, delay / seen / 60.0 if seen else None)
