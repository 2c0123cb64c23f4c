"""The ttl decision (`decide`): a pure function of past updates, scheduled posts and the moment
(section 6 of the theory of operation).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property, lru_cache

from ..civil import hour_end, hour_start, instant, seconds, zone_table
from .activity import Activity
from .choice import begin_of, chosen, forecast, plan, planned_table, workspace
from .counts import knows_enough
from .forecast import sums_by
from .headers import TICK_SECONDS, Expiries, header_plan
from .planner import ServedSpan, hidden
from .rule import EXACT, WARM_UP_MINUTES, WINER, TtlRule, numbers, planner_for
from .winer import expected_by_hours

WARM_UP, PREDICTION = "warm-up", "prediction"


@dataclass(frozen=True, slots=True)
class Refusal:
    """The next larger ttl of the menu, which was not chosen, and the minutes of waiting that it
    would hide."""

    ttl_minutes: int
    waiting_minutes: float


@dataclass(frozen=True, slots=True)
class Decision:
    """What the document built at `decided_at` says, and the numbers behind it.

    activity: the counts that it was decided from. valid_until: when the document is built again if
    nothing is posted. expiries: the headers' own forecast; None where they say the ttl.
    reason_code: `empty`, `warm-up`, the name of the planner, or `scheduled` where a scheduled post
    shortened the ttl. expected_updates: within ttl_minutes of decided_at. waiting_minutes: waiting
    that a copy kept that long is expected to hide; refused: the next larger value of the menu.
    likely_at: beginning of the busiest of the 24 hours after valid_until. winers: with the planner
    `winer`, the updates that the 24 counters predict for the next 60 and for the next 480 minutes.
    """

    activity: Activity
    zone: str
    decided_at: datetime
    valid_until: datetime
    ttl_minutes: int
    expiries: Expiries | None
    phase: str
    reason_code: str
    rule: TtlRule
    updates: int
    first_update: datetime | None
    last_update: datetime | None
    expected_updates: float = 0.0
    waiting_minutes: float = 0.0
    refused: Refusal | None = None
    likely_at: datetime | None = None
    winers: tuple[float, float] | None = None
    scheduled_at: datetime | None = None
    unscheduled_ttl_minutes: int | None = None

    def max_age_seconds(self, now: datetime) -> int:
        """The max-age in the headers of a response at `now`."""
        if self.expiries is None:
            return self.ttl_minutes * 60
        return self.expiries.max_age_seconds(seconds(now))


def build_moment(last_update: datetime | None, now: datetime, zone: str) -> datetime:
    """When the document served at `now` was built: the later of the last update and the top of the
    local hour. `last_update` must not be after `now`."""
    table = zone_table(zone)
    top = hour_start(table, seconds(now))
    return instant(top if last_update is None else max(top, seconds(last_update)))


def next_build(now: datetime, zone: str) -> datetime:
    """The top of the next local hour: when the document is built again if nothing is posted."""
    return instant(hour_end(zone_table(zone), seconds(now)))


def warming_up(activity: Activity, now: datetime) -> bool:
    """Whether too little is known to predict: under 5 updates, or the first under 2 days old."""
    return not knows_enough(activity.past(seconds(now)), seconds(now))


def decide(
    activity: Activity, decided_at: datetime, rule: TtlRule, scheduled: Iterable[datetime] = ()
) -> Decision:
    """The ttl of the document built at `decided_at`.

    `activity` holds the updates up to that moment, `scheduled` the times of posts still to come.
    ValueError if the activity holds later updates.
    """
    if activity.last is not None and activity.last > seconds(decided_at):
        raise ValueError("the activity holds updates later than the moment of the decision")
    decision = _decide(activity, decided_at, rule)
    post = min((at for at in scheduled if at > decided_at), default=None)
    return decision if post is None else _capped(decision, activity, post)


class Outlook:
    """The forecast at `now`, and the ttl and headers of a document built then.

    Threads may share it: the forecast never changes, the rest is computed on first use.
    """

    def __init__(self, activity: Activity, now: datetime, rule: TtlRule) -> None:
        at = seconds(now)
        self._history, self._now = activity.history(at), at
        self._rule = numbers(rule, activity.half_life_days)
        self._work = workspace(self._rule)
        self._begin = begin_of(self._history.zone, at)
        forecast(self._history, at, self._rule, self._work)

    @cached_property
    def ttl_minutes(self) -> int:
        """The ttl of the document."""
        work = self._work._replace(cells=planned_table(self._rule))
        return chosen(self._history, self._now, self._rule, work)

    @cached_property
    def expiries(self) -> Expiries:
        """The expiries that the headers announce."""
        work = self._work._replace(header=header_plan())
        plan(self._history, self._now, self._rule, work)
        return Expiries(hour_start(self._history.zone, self._now), tuple(work.header.expiries))

    def expected(self, start: datetime, end: datetime) -> float:
        """Updates expected from `start` to `end`; neither may be before `now`."""
        curve = self._work.curve
        return sums_by(curve, self._minute(end))[0] - sums_by(curve, self._minute(start))[0]

    def hidden(self, start: datetime, end: datetime, ttl_minutes: int) -> float:
        """Minutes of waiting that a copy kept for `ttl_minutes` hides, the mean over fetch times
        from `start` to `end`."""
        span = self._minute(start), self._minute(end)
        problem = ServedSpan(self._work.curve, *span, self._rule.poll_minutes)
        return hidden(problem, float(ttl_minutes))

    def likely_at(self, end: datetime) -> datetime:
        """Beginning of the busiest of the 24 hours after `end`."""
        hours = [end + timedelta(hours=ahead) for ahead in range(24)]
        return max(hours, key=lambda at: self.expected(at, at + timedelta(hours=1)))

    def _minute(self, at: datetime) -> float:
        return (seconds(at) - self._begin) / 60.0


@lru_cache(maxsize=48)
def outlook_at(activity: Activity, at: datetime, rule: TtlRule) -> Outlook:
    """The outlook of a document built at `at`. Cached, as the day strip and its details ask for the
    same 24 hours."""
    return Outlook(activity, at, rule)


@lru_cache(maxsize=256)
def _decide(activity: Activity, at: datetime, rule: TtlRule) -> Decision:
    """The decision without scheduled posts. Cached, as pages ask for the same hours repeatedly."""
    outlook = outlook_at(activity, at, rule)
    ttl, end = outlook.ttl_minutes, next_build(at, activity.zone)
    known = Decision(
        activity=activity,
        zone=activity.zone,
        decided_at=at,
        valid_until=end,
        ttl_minutes=ttl,
        expiries=outlook.expiries if rule.freshness == EXACT else None,
        phase=WARM_UP,
        reason_code="empty",
        rule=rule,
        updates=activity.updates,
        first_update=activity.first_update,
        last_update=activity.last_update,
    )
    if activity.last is None:
        return known
    if rule.planner == WINER:
        return _winers(known, activity)
    expected = outlook.expected(at, at + timedelta(minutes=ttl))
    known = replace(known, reason_code=WARM_UP, expected_updates=expected)
    if warming_up(activity, at):
        return known
    larger = rule.menu.next_above(ttl)
    return replace(
        known,
        phase=PREDICTION,
        reason_code=planner_for(rule.planner, rule.menu),
        waiting_minutes=outlook.hidden(at, end, ttl),
        refused=None if larger is None else Refusal(larger, outlook.hidden(at, end, larger)),
        likely_at=outlook.likely_at(end),
    )


def _winers(known: Decision, activity: Activity) -> Decision:
    """The decision of Winer's rule, with what its 24 counters predict."""
    at = seconds(known.decided_at)
    history = activity.history(at)
    known = replace(known, expected_updates=expected_by_hours(history, at, known.ttl_minutes))
    if warming_up(activity, known.decided_at):
        return replace(known, reason_code=WARM_UP)
    hour, night = (expected_by_hours(history, at, ahead) for ahead in WARM_UP_MINUTES[1:])
    return replace(known, phase=PREDICTION, reason_code=WINER, winers=(hour, night))


def shortened_for(decision: Decision, post: datetime) -> Decision:
    """The decision with a shorter ttl, if needed: a copy fetched at any minute expires at most the
    smallest menu value after the scheduled `post`; by its headers, a minute after it."""
    if decision.expiries is not None:
        expiries = decision.expiries.not_after(seconds(post) + TICK_SECONDS)
        decision = replace(decision, expiries=expiries)
    ttl = min(decision.ttl_minutes, _longest(decision.rule, decision.valid_until, post))
    return replace(decision, ttl_minutes=ttl)


def _longest(rule: TtlRule, valid_until: datetime, post: datetime) -> int:
    """The longest ttl of a document served until `valid_until`, with a scheduled `post`; Winer's
    rule knows of no scheduled posts."""
    menu = rule.menu
    if rule.planner == WINER:
        return menu.values[-1]
    return menu.at_most(int((post - valid_until).total_seconds() // 60) + menu.smallest)


def ttl_at(activity: Activity, at: datetime, rule: TtlRule, post: datetime | None) -> int:
    """The ttl of `decide` in minutes, at a fraction of the computation; `post`: the next one
    scheduled."""
    ttl = outlook_at(activity, at, rule).ttl_minutes
    if post is None:
        return ttl
    return min(ttl, _longest(rule, next_build(at, activity.zone), post))


def _capped(decision: Decision, activity: Activity, post: datetime) -> Decision:
    """The decision shortened for the next scheduled `post`, with the numbers for `explain`."""
    capped, rule, at = shortened_for(decision, post), decision.rule, decision.decided_at
    if capped.ttl_minutes == decision.ttl_minutes:
        return capped
    expected, ttl = 0.0, capped.ttl_minutes
    if activity.last is not None:
        expected = outlook_at(activity, at, rule).expected(at, at + timedelta(minutes=ttl))
    return replace(
        capped,
        reason_code="scheduled",
        expected_updates=expected,
        scheduled_at=post,
        unscheduled_ttl_minutes=decision.ttl_minutes,
    )
