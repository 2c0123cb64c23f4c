"""`ttl_for`: the ttl and the headers of any feed now, from the times of its updates."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from .core.civil import seconds
from .core.durations import update_rate
from .core.reasons import explain
from .core.ttl.activity import Activity, histogram
from .core.ttl.decision import Decision, build_moment, decide
from .core.ttl.rule import MENU, TtlRule

_MOST_HOURS = 24  # searched backwards for the moment at which the ttl got its present value


@dataclass(frozen=True, slots=True)
class Advice:
    """What a feed announces from now until `valid_until`, or until its next update.

    ttl_minutes: the element `ttl`. max_age_seconds, expires: for the headers of a response sent
    now, from the same forecast. update_period, update_frequency: the same ttl in the syndication
    module; None where it cannot express it. reasons: sentences for the author. since: when the ttl
    got its present value, so that Last-Modified can change with it.
    """

    ttl_minutes: int
    max_age_seconds: int
    expires: datetime
    update_period: str | None
    update_frequency: int | None
    valid_until: datetime
    reasons: tuple[str, ...]
    since: datetime


def ttl_for(
    updates: Iterable[datetime],
    now: datetime,
    timezone: str = "UTC",
    scheduled: Iterable[datetime] = (),
    menu: str = MENU,
) -> Advice:
    """The advice for a feed with these `updates` at `now`.

    updates: aware datetimes of all that was published, in any order. Those after `now` are ignored,
    and those before 1970, which programs write for "no date". timezone: the author's IANA zone.
    scheduled: posts still to come. menu: the ttl values to choose from, in minutes: `15/60/480`,
    `any` or `any:15-1440`.
    Raises ValueError for an unknown zone, an invalid menu, a datetime without a zone.
    """
    times = tuple(sorted(updates, key=seconds))
    queue = tuple(at for at in sorted(scheduled, key=seconds) if at > now)
    return at_moment(times, now, timezone, queue, TtlRule.parse(menu=menu))


def at_moment(
    updates: tuple[datetime, ...],
    now: datetime,
    timezone: str,
    scheduled: tuple[datetime, ...],
    rule: TtlRule,
) -> Advice:
    """`ttl_for` with sorted `updates` and `scheduled` posts, and with settings already parsed."""
    seconds(now)
    known = tuple(at for at in updates if at <= now and seconds(at) >= 0)
    activity = _activity(known, timezone)
    decision = decide(activity, build_moment(activity.last_update, now, timezone), rule, scheduled)
    max_age = decision.max_age_seconds(now)
    period, frequency = update_rate(decision.ttl_minutes) or (None, None)
    return Advice(
        ttl_minutes=decision.ttl_minutes,
        max_age_seconds=max_age,
        expires=now + timedelta(seconds=max_age),
        update_period=period,
        update_frequency=frequency,
        valid_until=min([decision.valid_until, *scheduled]),
        reasons=tuple(explain(decision)),
        since=unchanged_since(activity, decision, rule, scheduled),
    )


@lru_cache(maxsize=64)
def _activity(updates: tuple[datetime, ...], timezone: str) -> Activity:
    """The checkpoint of all `updates` (ascending). Cached, as only an update changes it."""
    if not updates:
        return Activity.empty(timezone)
    return histogram(updates, updates[-1], timezone)


def unchanged_since(
    activity: Activity, decision: Decision, rule: TtlRule, scheduled: tuple[datetime, ...] = ()
) -> datetime:
    """When the ttl got its present value; searched back for a day at most, and not beyond the last
    update."""
    at = decision.decided_at
    for _ in range(_MOST_HOURS):
        before = build_moment(activity.last_update, at - timedelta(seconds=1), decision.zone)
        if before >= at or (activity.last_update is not None and before < activity.last_update):
            break
        if decide(activity, before, rule, scheduled).ttl_minutes != decision.ttl_minutes:
            break
        at = before
    return at
