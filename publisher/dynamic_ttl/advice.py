"""What a feed is to say now, from the times of its updates: `ttl_for`."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from publisher.core.civil import seconds
from publisher.core.ttl.activity import Activity, histogram
from publisher.core.ttl.decision import Decision, build_moment, decide
from publisher.core.ttl.reasons import explain
from publisher.core.ttl.rule import MENU, TtlRule

HOUR_MINUTES, DAY_MINUTES = 60, 1440
_MOST_HOURS = 24  # that are looked back for the moment at which the ttl became what it is


@dataclass(frozen=True, slots=True)
class Advice:
    """What a feed says from now until `valid_until`, or until its next update.

    ttl_minutes: the element. max_age_seconds, expires: the headers of an answer given now, the same
    forecast to the minute. update_period, update_frequency: what the syndication module says in the
    place of the ttl; None where it has no words for it. reasons: sentences for the author.
    since: since when the ttl has been what it is, so that Last-Modified can move with it.
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
    """What a feed with these `updates` says at `now`.

    updates: aware datetimes of all that readers should have seen, in any order; those after `now`
    are not looked at, nor those before 1970, which are dates that stand for none. timezone: the
    author's IANA zone. scheduled: posts still to come. menu: the ttl values to choose from,
    `15/60/480`, `any` or `any:15-1440`, in minutes.
    Raises ValueError for an unknown zone, a menu that makes no sense, a datetime without a zone.
    """
    times = tuple(sorted(seconds_checked(updates)))
    queue = tuple(sorted(at for at in seconds_checked(scheduled) if at > now))
    return at_moment(times, now, timezone, queue, TtlRule.parse(menu=menu))


def seconds_checked(moments: Iterable[datetime]) -> Iterable[datetime]:
    """The same moments; ValueError for one without a zone."""
    for moment in moments:
        seconds(moment)
        yield moment


def at_moment(
    updates: tuple[datetime, ...],
    now: datetime,
    timezone: str,
    scheduled: tuple[datetime, ...],
    rule: TtlRule,
) -> Advice:
    """As `ttl_for`, for updates and queue in order and settings that were read already."""
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


def update_rate(ttl_minutes: int) -> tuple[str, int] | None:
    """`sy:updatePeriod` and `sy:updateFrequency` that say the same as a ttl; None if none do."""
    if HOUR_MINUTES % ttl_minutes == 0:
        return "hourly", HOUR_MINUTES // ttl_minutes
    if DAY_MINUTES % ttl_minutes == 0:
        return "daily", DAY_MINUTES // ttl_minutes
    return None


@lru_cache(maxsize=64)
def _activity(updates: tuple[datetime, ...], timezone: str) -> Activity:
    """What the updates up to now amount to; kept, as it changes with an update only."""
    if not updates:
        return Activity.empty(timezone)
    return histogram(updates, updates[-1], timezone)


def unchanged_since(
    activity: Activity, decision: Decision, rule: TtlRule, scheduled: tuple[datetime, ...] = ()
) -> datetime:
    """Since when the ttl has been the same: a day back at most, to the last update at most."""
    at = decision.decided_at
    for _ in range(_MOST_HOURS):
        before = build_moment(activity.last_update, at - timedelta(seconds=1), decision.zone)
        if before >= at or (activity.last_update is not None and before < activity.last_update):
            break
        if decide(activity, before, rule, scheduled).ttl_minutes != decision.ttl_minutes:
            break
        at = before
    return at
