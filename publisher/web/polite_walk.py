"""The visits of a polite reader in the coming day, beginning now, and sentences about them.

The reader waits after each visit as long as the feed then asks. Assumes that nothing is published
meanwhile.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from publisher.core.civil import instant, local_second, seconds, zone_table
from publisher.core.replay.coming_hours import DayHour, max_age_at
from publisher.core.ttl.activity import Activity
from publisher.core.ttl.counts import WARM_UP_DAYS, WARM_UP_UPDATES
from publisher.core.ttl.decision import WARM_UP, Decision
from publisher.core.ttl.rule import TtlRule

AHEAD = timedelta(days=1)
MOST_VISITS = 200  # enough for a picture, though the shortest ttl values give more in a day
RARE, OFTEN = 0.05, 1.0  # updates an hour


def walk(
    activity: Activity, now: datetime, rule: TtlRule, queue: Sequence[datetime]
) -> tuple[datetime, ...]:
    """The visits of the coming day, the one of this minute first."""
    visits, at = [now], now
    while len(visits) < MOST_VISITS:
        at += timedelta(seconds=max(max_age_at(activity, at, rule, queue), 60))
        at = (at + timedelta(seconds=59)).replace(second=0, microsecond=0)
        if at > now + AHEAD:
            break
        visits.append(at)
    return tuple(visits)


def clock(at: datetime, zone: str) -> str:
    """The time of day where the author lives."""
    return f"{instant(local_second(zone_table(zone), seconds(at))):%H:%M}"


def progress(decision: Decision) -> str:
    """How far the warm-up is."""
    first = decision.first_update
    days = 1 if first is None else (decision.decided_at - first).days + 1
    return (
        f"{min(decision.updates, WARM_UP_UPDATES)} of {WARM_UP_UPDATES} updates,"
        f" day {min(days, WARM_UP_DAYS)} of {WARM_UP_DAYS}"
    )


def why(decision: Decision, hours: Sequence[DayHour], visits: Sequence[datetime]) -> list[str]:
    """Sentences for the author: why this ttl, what a longer one would cost, the next check."""
    zone, now = decision.zone, visits[0]
    if decision.last_update is None:
        return ["Nothing has been published yet, so readers are asked to come rarely."]
    until = clock(visits[1], zone) if len(visits) > 1 else "tomorrow"
    if decision.phase == WARM_UP:
        first = f"Still learning when you publish ({progress(decision)})."
        second = f"Until then the time since your last update decides: come back at {until}."
    else:
        first = _habit(now, until, zone, hours)
        second = _cost(decision, now, hours)
    scheduled = decision.scheduled_at
    third = (
        f"Your next post is scheduled for {clock(scheduled, zone)}, and no reader is asked to"
        " sleep through it."
        if scheduled is not None and decision.unscheduled_ttl_minutes != decision.ttl_minutes
        else f"Next check: {clock(decision.valid_until, zone)}, or when you publish."
    )
    return [text for text in (first, second, third) if text]


def _habit(now: datetime, until: str, zone: str, hours: Sequence[DayHour]) -> str:
    hour = int(clock(now, zone)[:2])
    rate = next((row.expected_updates for row in hours if row.hour == hour), 0.0)
    if rate < RARE:
        return f"You rarely publish at this hour, so readers may wait until {until}."
    if rate < OFTEN:
        return f"At this hour you publish every {_hours(1 / rate)}; readers come back at {until}."
    return f"You publish often at this hour, so readers come back soon, at {until}."


def _cost(decision: Decision, now: datetime, hours: Sequence[DayHour]) -> str:
    """How long a post of the busiest hour would wait with the next larger ttl."""
    if decision.refused is None:
        return "The feed never asks for longer than that."
    end = now + timedelta(minutes=decision.refused.ttl_minutes)
    covered = [row for row in hours if now < row.starts_at < end] or list(hours)[:0]
    post = max(covered, key=lambda row: row.expected_updates).starts_at if covered else now
    post = max(post, now)
    zone, minutes = decision.zone, decision.refused.ttl_minutes
    longer = (
        f"{minutes // 60} hours" if minutes >= 120 and minutes % 60 == 0 else f"{minutes} minutes"
    )
    said = "now" if post == now else f"at {clock(post, zone)}"
    return f"Not {longer}: a post {said} would wait until {clock(end, zone)}."


def _hours(count: float) -> str:
    whole = max(round(count), 1)
    return "hour" if whole == 1 else f"{whole} hours"
