"""The knob "fresher <-> quieter": what each of its positions would mean at this blog.

The plan of the coming day at each position is laid over the updates of the last weeks, and readers
that obey it are followed through them: how often they come, how soon they know of an update.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from publisher.core.civil import DAY_SECONDS, HOUR_SECONDS, local_second, seconds, zone_table
from publisher.core.ttl.activity import Activity
from publisher.core.ttl.decision import Decision, build_moment, decide, next_build
from publisher.core.ttl.forecast import STEP_SECONDS
from publisher.core.ttl.freshness import seconds_left
from publisher.core.ttl.rule import AS_TTL, TtlRule

REPLAYED_DAYS = 28
PHASES = 4


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


def knob_choices(
    activity: Activity,
    updates: Iterable[datetime],
    now: datetime,
    rule: TtlRule,
    positions: Iterable[float],
) -> list[KnobChoice]:
    """The positions (minutes that one poll is worth) that differ, each with its figures.

    activity, updates: what is known at `now`; of the updates the last four weeks are replayed.
    """
    zone = zone_table(activity.zone)
    begin = now - timedelta(days=REPLAYED_DAYS)
    known = sorted(local_second(zone, seconds(at)) for at in updates if begin <= at < now)
    start = local_second(zone, seconds(now)) - REPLAYED_DAYS * DAY_SECONDS
    found: list[KnobChoice] = []
    for minutes in positions:
        choice = _choice(activity, now, replace(rule, poll_minutes=minutes), known, start)
        if not any(choice.figures == other.figures for other in found):
            found.append(choice)
    return found


def _choice(
    activity: Activity, now: datetime, rule: TtlRule, updates: Sequence[int], start: int
) -> KnobChoice:
    zone = zone_table(activity.zone)
    plan: dict[int, Decision] = {}
    at = build_moment(None, now, activity.zone)
    for _ in range(24):
        hour = local_second(zone, seconds(at)) % DAY_SECONDS // HOUR_SECONDS
        plan.setdefault(hour, decide(activity, max(at, now), rule))
        at = next_build(at, activity.zone)
    usual = plan[min(plan)]

    def ttl(second: int) -> int:
        return plan.get(second // HOUR_SECONDS, usual).ttl_minutes * 60

    def max_age(second: int) -> int:
        decision = plan.get(second // HOUR_SECONDS, usual)
        if decision.expiries is None:
            return decision.ttl_minutes * 60
        slot = second % HOUR_SECONDS // STEP_SECONDS
        top = decision.expiries.top + second % HOUR_SECONDS
        return seconds_left(decision.expiries.instants[slot], top)

    headers = None if rule.freshness == AS_TTL else followed(max_age, updates, start)
    return KnobChoice(rule.poll_minutes, followed(ttl, updates, start), headers)


def followed(wait: Callable[[int], int], updates: Sequence[int], start: int) -> Visits:
    """What readers see of `updates` (local seconds, ascending) that wait `wait(second of the day)`
    seconds after each visit, in the weeks from `start` on."""
    visits, delay = 0, 0
    end = start + REPLAYED_DAYS * DAY_SECONDS
    for phase in range(PHASES):
        at, seen = start + wait(start % DAY_SECONDS) * phase // PHASES, 0
        while seen < len(updates) or at < end:
            visits += 1 if at < end else 0
            known = bisect_left(updates, at + 1, seen)
            delay += sum(at - update for update in updates[seen:known])
            seen = known
            at += wait(at % DAY_SECONDS)
    mean = delay / 60.0 / PHASES / len(updates) if updates else None
    return Visits(visits / PHASES / REPLAYED_DAYS, mean)
