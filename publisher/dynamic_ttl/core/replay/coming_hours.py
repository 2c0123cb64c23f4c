"""The coming hours of a feed to which nothing more is posted, as the day strip previews them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from ..civil import (
    DAY_SECONDS,
    HOUR_SECONDS,
    hour_start,
    instant,
    local_second,
    seconds,
    zone_table,
)
from ..ttl.activity import Activity
from ..ttl.counts import SLOTS, STEP_SECONDS, exposure, hour_rate
from ..ttl.decision import (
    Decision,
    build_moment,
    next_build,
    outlook_at,
    ttl_at,
)
from ..ttl.headers import TICK_SECONDS
from ..ttl.rule import EXACT, TtlRule


@dataclass(frozen=True, slots=True)
class DayHour:
    """One local hour of the day strip: its decayed count and its expected updates (`hour_rate`, the
    same whatever came before)."""

    hour: int
    starts_at: datetime
    count: float
    expected_updates: float


def next_change_at(
    activity: Activity, decided_at: datetime, rule: TtlRule, scheduled: Iterable[datetime] = ()
) -> datetime | None:
    """When the ttl will next change if nothing more is posted; None if not within two days.

    A scheduled post is an update when it appears: the result is never later than the first one.
    """
    post = min((at for at in scheduled if at > decided_at), default=None)
    end = decided_at + timedelta(days=2)
    end = end if post is None else min(post, end)
    present = ttl_at(activity, decided_at, rule, post)
    at = next_build(decided_at, activity.zone)
    while at < end:
        if ttl_at(activity, at, rule, post) != present:
            return at
        at = next_build(at, activity.zone)
    return post if post == end else None


def max_age_at(
    activity: Activity, now: datetime, rule: TtlRule, scheduled: Iterable[datetime] = ()
) -> int:
    """The max-age in seconds at `now`: the same as from `decide` for the document served then, at a
    fraction of the computation."""
    built = build_moment(activity.last_update, now, activity.zone)
    post = min((at for at in scheduled if at > built), default=None)
    if rule.freshness != EXACT:
        return ttl_at(activity, built, rule, post) * 60
    expiries = outlook_at(activity, built, rule).expiries
    if post is not None:
        expiries = expiries.not_after(seconds(post) + TICK_SECONDS)
    return expiries.max_age_seconds(seconds(now))


def day_hours(activity: Activity, now: datetime) -> list[DayHour]:
    """The coming 24 local hours as the day strip shows them, ordered by local hour."""
    counts, at = activity.decayed(now), seconds(now)
    history = activity.history(at)
    seen = exposure(history, at, activity.half_life_days * DAY_SECONDS)
    return [
        DayHour(hour, starts_at, counts[hour], hour_rate(history.tables, hour, seen))
        for hour, starts_at in sorted(_coming_hours(activity, now).items())
    ]


def ttl_by_hour(activity: Activity, now: datetime, rule: TtlRule) -> dict[int, int]:
    """The ttl (minutes) at the next start of each local hour (0 to 23) if nothing is posted."""
    return {
        hour: ttl_at(activity, max(starts_at, now), rule, None)
        for hour, starts_at in sorted(_coming_hours(activity, now).items())
    }


def _coming_hours(activity: Activity, now: datetime) -> dict[int, datetime]:
    """When each local hour (0 to 23) begins next, the present one included. At a clock change a
    repeated hour counts once, and a skipped one is that of the next day."""
    at, zone = build_moment(None, now, activity.zone), zone_table(activity.zone)
    begins: dict[int, datetime] = {}
    while len(begins) < 24:
        begins.setdefault(local_second(zone, seconds(at)) // HOUR_SECONDS % 24, at)
        at = next_build(at, activity.zone)
    return begins


def max_age_by_minute(decision: Decision) -> list[int]:
    """The max-age in seconds at the beginning of each of the twelve five-minute slots of the
    document's local hour; for slots before the document was built, the one at `decided_at`."""
    top = hour_start(zone_table(decision.zone), seconds(decision.decided_at))
    starts = (instant(top + slot * STEP_SECONDS) for slot in range(SLOTS))
    return [decision.max_age_seconds(max(at, decision.decided_at)) for at in starts]
